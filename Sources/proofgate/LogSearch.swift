import Evaluation
import FoundationEssentials

/// Finds lines of a decision log by an id.
struct LogSearch {
  private let id: [UInt8]
  private let text: String
  /// The lines that were found; the latest ones if there are more than ``LoggedDecisions/limit``.
  private(set) var found: [LoggedDecision] = []
  /// The maximum length of a line, in bytes. The gateway writes shorter ones.
  private static let maximumLength = 64 * 1024

  /// Searches a file, which may be large, or standard input (`-`).
  init(_ id: String, in path: String) throws(InputFile.Problem) {
    text = id
    self.id = Array(id.utf8)
    if path == "-" {
      while let line = readLine() { add(Array(line.utf8)) }
      return
    }
    let data = try InputFile.map(path)
    var start = data.startIndex
    while start < data.endIndex {
      let end = data[start...].firstIndex(of: UInt8(ascii: "\n")) ?? data.endIndex
      if end - start <= LogSearch.maximumLength { add([UInt8](data[start..<end])) }
      start = end + 1
    }
  }

  /// Adds the line if it has the id. Only lines that contain the text of the id are parsed.
  private mutating func add(_ line: [UInt8]) {
    guard line.contains(id), let decision = LoggedDecision(parsing: line), decision.has(id: text) else { return }
    if found.count == LoggedDecisions.limit { found.removeFirst() }
    found.append(decision)
  }
}
