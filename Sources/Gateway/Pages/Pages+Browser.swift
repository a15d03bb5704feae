public import HTTP

/// Pages about the browser that the flow runs in.
extension Pages {
  /// For a completion that comes without its browser's secret (`I-browser`): the flow changed browser, or the cookie is
  /// gone. It fails closed; the link runs every rule again.
  ///
  /// - Parameters:
  ///   - path: The authorization request on this origin, path and query; anything else gives a page without a link.
  ///   - page: The status and what the developer reads.
  public func startAgain(path: String?, _ page: ErrorPage) -> Response {
    let link: HTML? = path.flatMap { path in
      guard path.hasPrefix("/"), !path.hasPrefix("//"), !path.hasPrefix("/\\") else { return nil }
      return "<p class=\"actions\"><a class=\"button\" href=\"\(url: path)\">Start again</a></p>\n"
    }
    return response(
      status: page.status, title: "Let’s start again",
      """
      <h1>Let’s start again</h1>
      <p>This sign-in began in another browser or window, or too long ago, so it cannot be finished here. Nothing was \
      shared with the app.</p>
      <p>\(link == nil ? "Go back to the app and sign in again." : "If you were signing in just now, start again here.")</p>
      \(link)\(developerSection(page))
      """)
  }

  /// For a user agent that looks embedded, where the policy blocks those (RFC 8252, section 8.12). Advisory: the guess
  /// comes from what the user agent says of itself.
  ///
  /// - Parameters:
  ///   - address: The address of this authorization request at the gateway, for the user to copy. Never a link: it would
  ///     open in the same embedded view. `nil` for a page in the middle of a sign-in, which no other browser can go on with.
  ///   - page: The status, 403, and what the developer reads.
  public func embeddedUserAgent(address: String?, _ page: ErrorPage) -> Response {
    let way: HTML =
      if let address {
        """
        <p>Choose “Open in browser” in the app’s menu, or copy this address into your browser:</p>
        <code class="copy" tabindex="0" role="textbox" aria-readonly="true" aria-label="Address to copy">\
        \(shown: address)</code>
        """
      } else {
        "<p>Go back to the app and sign in again, in the browser that it opens.</p>"
      }
    return response(
      status: page.status, title: "Please use your browser",
      """
      <h1>Please use your browser to sign in</h1>
      <p>This page seems to be open inside an app. The app around it could read your password, so signing in works \
      only in a browser of its own.</p>
      \(way)
      <p class="soft">This is a guess from what the browser says about itself. If it is wrong, another browser helps.</p>
      \(developerSection(page))
      """)
  }
}
