import OAuth

/// The explanations of the rejections as Markdown, for `docs/rules.md` and for `proofgate rules`.
public enum RulesManual {
  /// The width of the lines, in characters.
  public static let width = 120

  /// The complete text of `docs/rules.md`.
  public static var page: String {
    var page = """
      # Rules

      Every refusal has a stable id, which is on the error page, in the decision log and in the label `rule` of the metrics.
      This page says for each id what was refused, why, where the rule comes from, and what to change. In `mode: observe` no
      rule refuses anything: the log and the metrics say what would be refused, see [observe.md](observe.md). `make reference`
      writes this page from the declarations in `Sources/Enforcement/Rejections`; `proofgate rules ID` shows one section.
      The gateway serves each section as a page at `/.proofgate/rules/ID`, to which error pages link, and which error
      responses name in `error_uri`.

      """
    for subject in Rejection.subjects {
      page += "\n## \(subject.title)\n"
      for rejection in subject.rejections { page += "\n### \(rejection.ruleID)\n\n" + section(on: rejection) }
    }
    return page
  }

  /// The section of a rejection without its heading.
  public static func section(on rejection: Rejection) -> String {
    let explanation = rejection.explanation
    let items = [
      "- Why: \(explanation.why)", "- How to fix it: \(explanation.remedy)", "- Source: \(rejection.reference)",
      "- Answer: \(answer(of: rejection))",
    ]
    return wrapped(explanation.refused) + "\n" + items.map { wrapped($0, indent: "  ") }.joined()
  }

  /// The error code and the way in which it reaches the client.
  private static func answer(of rejection: Rejection) -> String {
    rejection.mayRedirect
      ? "`\(rejection.errorCode.rawValue)`, by redirect where the redirect URI is verified, else status \(rejection.status)"
      : "`\(rejection.errorCode.rawValue)`, status \(rejection.status), never a redirect"
  }

  /// Breaks a paragraph into lines at its spaces. The lines after the first are indented.
  private static func wrapped(_ text: String, indent: String = "") -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if line.isEmpty {
        line = String(word)
      } else if line.count + 1 + word.count <= width {
        line += " \(word)"
      } else {
        lines.append(line)
        line = indent + word
      }
    }
    return (lines + [line]).joined(separator: "\n") + "\n"
  }
}
