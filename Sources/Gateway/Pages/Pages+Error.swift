public import HTTP
import Markup
import Policy
import Time

extension Pages {
  /// Returns a page that tells the user what happened and what to do next, and tells the developer of the app the
  /// reason. The page does not link to a URL from the request (RFC 6749, section 3.1.2.4).
  public func error(_ page: ErrorPage) -> Response {
    let texts = ErrorTexts(page)
    var response = response(
      status: page.status, title: title(texts.title),
      """
      <h1>\(text(texts.title))</h1>
      <p>\(text(texts.happened))</p>
      <p>\(text(texts.advice))</p>
      \(developerSection(page))
      """)
    if let wait = page.retryAfter {
      response.headers.set("Retry-After", String(wait.count))
    }
    return response
  }

  /// Returns the section of the page for the developer of the app.
  func developerSection(_ page: ErrorPage) -> HTML {
    let rule: HTML? = page.rule.map {
      """
      <div><dt>\(text(.developerRule))</dt><dd><code>\(visible: $0)</code></dd></div>
      <div><dt>\(text(.developerExplained))</dt><dd><a href="\(url: Pages.rulePath($0))">\(text(.developerExplanation))</a></dd></div>

      """
    }
    let detail: HTML? = page.detail.map { "<p\(inEnglish)>\(Pages.markup($0))</p>\n" }
    let section: HTML? = page.section.map {
      "<div><dt>\(text(.developerStandard))</dt><dd\(inEnglish)>\(visible: $0)</dd></div>\n"
    }
    let transaction: HTML? = page.transaction.map {
      "<div><dt>\(text(.developerReference))</dt><dd><code class=\"copied\">\(visible: $0)</code></dd></div>\n"
    }
    let request: HTML? = requestID.map {
      "<div><dt>\(text(.developerRequest))</dt><dd><code class=\"copied\">\(visible: $0)</code></dd></div>\n"
    }
    return """
      <section class="developer" aria-labelledby="developer">
      <h2 id="developer">\(text(page.status < 500 ? .developerOfApp : .developerDetails))</h2>
      \(detail)<dl>
      <div><dt>\(text(.developerStatus))</dt><dd>\(page.status)</dd></div>
      \(rule)\(section)\(request)\(transaction)</dl>
      </section>
      """
  }

  /// Returns the text as markup. The parts between backticks become `code` elements.
  static func markup(_ text: String) -> [HTML] {
    let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
    return pieces.enumerated().map { index, piece in
      index.isMultiple(of: 2) ? "\(visible: String(piece))" : "<code>\(visible: String(piece))</code>"
    }
  }
}
