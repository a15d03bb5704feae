/// One finding about a policy file: what, where, and what to do.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  public enum Severity: String, Sendable, CaseIterable {
    /// The policy is not used.
    case error
    /// The policy is used, and departs from what an RFC or good operation asks for.
    case warning
    /// Worth knowing, nothing to do.
    case note
  }

  public let id: DiagnosticID
  public let severity: Severity
  public let file: String
  /// From 1.
  public let line: Int
  /// From 1, in characters.
  public let column: Int
  /// Lower case, one line, the input in backticks.
  public let message: String

  public init(id: DiagnosticID, severity: Severity, file: String, line: Int, column: Int, message: String) {
    self.id = id
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  /// `file:line:column: severity: what (RFC, section) [id]`; the last two only for findings of the lint.
  public var description: String {
    var text = "\(file):\(line):\(column): \(severity.rawValue): \(message)"
    if let reference = id.reference { text += " (\(reference))" }
    if id.isLint { text += " [\(id.rawValue)]" }
    return text
  }
}

extension Sequence where Element == Diagnostic {
  /// `2 errors, 1 warning`, or `no problems`.
  public var summary: String {
    var counts: [Diagnostic.Severity: Int] = [:]
    for diagnostic in self { counts[diagnostic.severity, default: 0] += 1 }
    let parts = Diagnostic.Severity.allCases.compactMap { severity -> String? in
      guard let count = counts[severity] else { return nil }
      return "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
    }
    return parts.isEmpty ? "no problems" : parts.joined(separator: ", ")
  }

  /// True if there are errors, all of them about files and variables that are missing or cannot be read, and none about
  /// the text of the policy.
  public var onlyMissFiles: Bool {
    hasErrors && allSatisfy { $0.severity != .error || $0.id == .unreadableFile || $0.id == .unreadableSecret }
  }

  /// True if any of them keeps the policy from being used.
  public var hasErrors: Bool { contains { $0.severity == .error } }
}
