public import HTTP
import Markup
import Policy

/// Pages for a sign-in that cannot continue in this browser.
extension Pages {
  /// Returns the page for a transaction that cannot continue in this browser (`I-browser`): it began in another
  /// browser, the cookie was deleted, the transaction has expired, or the policy changed. With the link on the page,
  /// the user begins the sign-in again.
  ///
  /// - Parameters:
  ///   - path: The path and query of the link, on this origin. The page has no link if this is `nil` or leads to
  ///     another origin.
  ///   - page: The status and the text for the developer.
  public func startAgain(path: String?, _ page: ErrorPage) -> Response {
    let link: HTML? = path.flatMap { path in
      guard path.hasPrefix("/"), !path.hasPrefix("//"), !path.hasPrefix("/\\") else { return nil }
      return "<p class=\"actions\"><a class=\"button\" href=\"\(url: path)\">\(text(.startAgainLink))</a></p>\n"
    }
    return response(
      status: page.status, title: title(.startAgainTitle),
      """
      <h1>\(text(.startAgainTitle))</h1>
      <p>\(text(.startAgainText))</p>
      <p>\(text(link == nil ? .startAgainInApp : .startAgainHere))</p>
      \(link)\(developerSection(page))
      """)
  }

  /// Returns the page for an embedded user agent, which the policy blocks (RFC 8252, section 8.12). The gateway
  /// recognises embedded user agents only by the `User-Agent` field, so the page says that this is a guess.
  ///
  /// - Parameters:
  ///   - address: The URL of the refused request at the gateway, which the user copies into a browser. The page shows
  ///     it as text, because a link would open in the same embedded view. `nil` if the refused request was for a page
  ///     of the upstream, because a sign-in that has reached a page of the upstream cannot continue in another browser.
  ///   - page: The status, 403, and the text for the developer.
  public func embeddedUserAgent(address: String?, _ page: ErrorPage) -> Response {
    let instruction: HTML =
      if let address {
        """
        <p>\(text(.embeddedCopy))</p>
        <code class="copy" tabindex="0" role="textbox" aria-readonly="true" aria-label="\(title(.embeddedAddress))" dir="ltr">\
        \(visible: address)</code>
        """
      } else {
        "<p>\(text(.embeddedInApp))</p>"
      }
    return response(
      status: page.status, title: title(.embeddedTitle),
      """
      <h1>\(text(.embeddedHeading))</h1>
      <p>\(text(.embeddedText))</p>
      \(instruction)
      <p class="soft">\(text(.embeddedGuess))</p>
      \(developerSection(page))
      """)
  }
}
