import ArgumentParser
import Evaluation

/// Finds lines of decision logs by an id.
struct LogSearch {
  private let id: [UInt8]
  private let text: String
  /// The lines that were found; the latest ones if there are more than ``LoggedDecisions/limit``.
  private(set) var found: [LoggedDecision] = []

  /// Searches logs in the given order. Reports a log that cannot be read, and throws the exit code.
  init(_ id: String, in paths: [String]) throws(ExitCode) {
    text = id
    self.id = Array(id.utf8)
    try LogLines.forEach(in: paths) { add($0) }
  }

  /// Adds the line if it has the id. Only lines that contain the text of the id are parsed.
  private mutating func add(_ line: [UInt8]) {
    guard line.count <= LogLines.maximumLength, line.contains(id), let decision = LoggedDecision(parsing: line),
      decision.has(id: text)
    else { return }
    if found.count == LoggedDecisions.limit { found.removeFirst() }
    found.append(decision)
  }
}
