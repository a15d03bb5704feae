import Enforcement
public import HTTP
import Markup
import OAuth
import Policy

/// The pages that explain the rules, at `/.proofgate/rules/ID`. Their text is that of `docs/rules.md`, and does not depend
/// on the policy. It is English in every language of the pages: app developers search for these words, and compare them with
/// the manual, `error_description` and `proofgate rules`.
extension Pages {
  /// Returns the page on one rule.
  public func rule(_ rejection: Rejection) -> Response {
    let explanation = rejection.explanation
    let answer = text(
      rejection.mayRedirect ? .rulesRedirected : .rulesNeverRedirected,
      ["code": "<code>\(rejection.errorCode.rawValue)</code>", "status": "\(rejection.status)"])
    return response(
      status: 200, title: rejection.ruleID,
      """
      <h1><code>\(rejection.ruleID)</code></h1>
      <p\(inEnglish)>\(Pages.markup(explanation.refused))</p>
      <dl class="facts">
      <div><dt>\(text(.rulesWhy))</dt><dd\(inEnglish)>\(Pages.markup(explanation.why))</dd></div>
      <div><dt>\(text(.rulesFix))</dt><dd\(inEnglish)>\(Pages.markup(explanation.remedy))</dd></div>
      <div><dt>\(text(.rulesSource))</dt><dd\(inEnglish)>\(visible: rejection.reference)</dd></div>
      <div><dt>\(text(.rulesAnswer))</dt><dd>\(answer)</dd></div>
      </dl>
      \(languageNote)<p class="actions"><a href="\(url: GatewaySettings.rulesPath)">\(text(.rulesAll))</a></p>
      """)
  }

  /// Returns the page that lists all rules.
  public func ruleList() -> Response {
    let subjects: [HTML] = Rejection.subjects.map { subject in
      let items: [HTML] = subject.rejections.map { rejection in
        """
        <li><a href="\(url: Pages.rulePath(rejection.ruleID))"><code>\(rejection.ruleID)</code></a> \
        \(visible: rejection.errorDescription)</li>

        """
      }
      return "<h2>\(visible: subject.title)</h2>\n<ul>\n\(items)</ul>\n"
    }
    return response(
      status: 200, title: title(.rulesTitle),
      "<h1>\(text(.rulesTitle))</h1>\n\(languageNote)<div\(inEnglish)>\n\(subjects)</div>")
  }

  /// The note that the rules are described in English; nothing on an English page.
  private var languageNote: HTML? {
    inEnglish == nil ? nil : "<p class=\"soft\">\(text(.rulesLanguage))</p>\n"
  }

  /// Returns the path of the page on a rule. Links on pages use it, because no page leads to another origin.
  static func rulePath(_ id: String) -> String { "\(GatewaySettings.rulesPath)/\(id)" }

  /// Returns the URL of the page on a rule, for programs.
  func ruleURL(_ id: String) -> String { "\(rulesURL)/\(id)" }
}
