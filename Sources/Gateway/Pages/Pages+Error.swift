public import HTTP
import Time

extension Pages {
  /// Returns a page that tells the user what happened and what to do next, and tells the developer of the app the
  /// reason. The page does not link to a URL from the request (RFC 6749, section 3.1.2.4).
  public func error(_ page: ErrorPage) -> Response {
    let texts = Pages.texts(for: page.status)
    var response = response(
      status: page.status, title: texts.title,
      """
      <h1>\(texts.title)</h1>
      <p>\(texts.happened)</p>
      <p>\(texts.advice)</p>
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
      <div><dt>Rule</dt><dd><code>\(visible: $0)</code></dd></div>
      <div><dt>Explained</dt><dd><a href="\(url: Pages.rulePath($0))">What it means and how to fix it</a></dd></div>

      """
    }
    let detail: HTML? = page.detail.map { "<p>\(Pages.markup($0))</p>\n" }
    let section: HTML? = page.section.map { "<div><dt>Standard</dt><dd>\(visible: $0)</dd></div>\n" }
    let transaction: HTML? = page.transaction.map {
      "<div><dt>Reference</dt><dd><code class=\"copied\">\(visible: $0)</code></dd></div>\n"
    }
    let request: HTML? = requestID.map {
      "<div><dt>Request</dt><dd><code class=\"copied\">\(visible: $0)</code></dd></div>\n"
    }
    return """
      <section class="developer" aria-labelledby="developer">
      <h2 id="developer">\(page.status < 500 ? "For the developer of the app" : "Technical details")</h2>
      \(detail)<dl>
      <div><dt>Status</dt><dd>\(page.status)</dd></div>
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

  /// Returns the texts that the error page shows to the user.
  static func texts(for status: Int) -> (title: String, happened: String, advice: String) {
    switch status {
    case 403:
      (
        "This step was refused",
        "What your browser sent does not belong to a sign-in that started here. Nothing was shared with the app.",
        "Go back to the app and sign in again, in one browser and without changing windows."
      )
    case 404:
      ("There is nothing here", "This address does not exist.", "Go back to the app and sign in from there.")
    case 405:
      (
        "This address works differently", "It cannot be opened in this way. Nothing was shared with an app.",
        "Go back to the app and sign in from there."
      )
    case 421:
      (
        "Wrong address", "This server does not serve the requested address.",
        "Go back to the app and sign in from there. If you typed the address, check its spelling."
      )
    case 429:
      (
        "Too many attempts", "There were too many attempts in a short time, so this one was not processed.",
        "Wait a minute, then go back to the app and try again."
      )
    case 400..<500:
      (
        "This sign-in link does not work",
        "The app that sent you here asked for something that cannot be accepted. Nothing was shared with it.",
        "Go back to the app and try again. If this page appears again, contact the developer of "
          + "the app and send them the details below."
      )
    case 502:
      (
        "Sign-in is not working right now", "The sign-in service sent a response that could not be used.",
        "It is not your fault. Go back to the app and try again in a few minutes."
      )
    case 503:
      (
        "Sign-in is not available right now", "The sign-in service cannot be reached at the moment.",
        "It is not your fault. Go back to the app and try again in a few minutes."
      )
    case 504:
      (
        "Sign-in took too long", "The sign-in service did not answer in time.",
        "It is not your fault. Go back to the app and try again in a few minutes."
      )
    default:
      (
        "Something went wrong here", "An error on our side stopped your sign-in. Nothing was shared with the app.",
        "Go back to the app and try again. If this page appears again, ask for help and mention the request below."
      )
    }
  }
}
