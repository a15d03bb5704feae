import ByteText
import PolicyFile

/// Writes findings for people: each with the line of the file that it is about, and a mark under its place.
struct FindingPrinter {
  /// True for colors.
  let usesColor: Bool
  /// The lines of the files; `nil` to show none.
  let excerpts: SourceExcerpts?

  /// Returns the lines for a finding.
  func text(_ finding: Diagnostic) -> String {
    var text = finding.description.visible
    if usesColor, let range = text.firstRange(of: ": \(finding.severity.rawValue): ") {
      let severity = FindingPrinter.color(of: finding.severity) + finding.severity.rawValue + ":" + TerminalColor.reset
      text.replaceSubrange(range, with: ": \(severity) ")
    }
    guard let excerpt = excerpts?.excerpt(for: finding) else { return text + "\n" }
    let number = String(finding.line)
    let margin = String(repeating: " ", count: number.count)
    let mark = usesColor ? TerminalColor.green + "^" + TerminalColor.reset : "^"
    let indentation = String(repeating: " ", count: excerpt.indentation)
    return text + "\n  \(number) | \(excerpt.text)\n  \(margin) | \(indentation)\(mark)\n"
  }

  private static func color(of severity: Diagnostic.Severity) -> String {
    switch severity {
    case .error: TerminalColor.red
    case .warning: TerminalColor.yellow
    case .note: TerminalColor.blue
    }
  }
}
