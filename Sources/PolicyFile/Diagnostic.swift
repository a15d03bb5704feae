import YAML

/// One finding about a policy file: the problem, its position, and the solution.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  /// The consequence of a finding for the policy.
  public enum Severity: String, Sendable, CaseIterable {
    /// The policy cannot be used.
    case error
    /// The policy is used, but departs from an RFC or from good practice.
    case warning
    /// Information that requires no change.
    case note
  }

  /// A place in a file.
  struct Place: Sendable {
    let file: String
    let line: Int
    let column: Int

    init(_ location: SourceLocation) {
      file = location.file
      line = location.mark.line
      column = location.mark.column
    }
  }

  /// The kind of finding.
  public let id: DiagnosticID
  /// The consequence of the finding.
  public let severity: Severity
  /// The path of the file, as the command line or `include` has it.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int
  /// One line in lower case. Texts from the file are in backticks.
  public let message: String

  /// Creates a finding; `line` and `column` count from 1.
  public init(id: DiagnosticID, severity: Severity, file: String, line: Int, column: Int, message: String) {
    self.id = id
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  /// One line: `file:line:column: severity: message (RFC, section) [id]`. The section is present only if the rule comes
  /// from an RFC, and the id only if `id.isLint` is true.
  public var description: String {
    var text = "\(file):\(line):\(column): \(severity.rawValue): \(message)"
    if let reference = id.reference { text += " (\(reference))" }
    if id.isLint { text += " [\(id.rawValue)]" }
    return text
  }
}

extension Sequence where Element == Diagnostic {
  /// The counts by severity, such as `2 errors, 1 warning`, or `no problems`.
  public var summary: String {
    var counts: [Diagnostic.Severity: Int] = [:]
    for diagnostic in self { counts[diagnostic.severity, default: 0] += 1 }
    let parts = Diagnostic.Severity.allCases.compactMap { severity -> String? in
      guard let count = counts[severity] else { return nil }
      return "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
    }
    return parts.isEmpty ? "no problems" : parts.joined(separator: ", ")
  }

  /// True if there are errors, and each is about a file or an environment variable that is missing, empty or
  /// unreadable, not about the text of the policy.
  public var errorsAreOnlyUnreadableFiles: Bool {
    hasErrors && allSatisfy { $0.severity != .error || $0.id == .unreadableFile || $0.id == .unreadableSecret }
  }

  /// True if any finding is an error, so that the policy cannot be used.
  public var hasErrors: Bool { contains { $0.severity == .error } }
}
