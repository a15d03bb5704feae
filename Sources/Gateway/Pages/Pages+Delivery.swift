public import HTTP

/// Pages that hand the authorization response to the client. They link only to a verified redirect URI, never to one
/// that was only named in the request.
extension Pages {
  /// Returns a page with a form that submits itself (OAuth 2.0 Form Post Response Mode, section 2); without script, the
  /// user presses its button.
  ///
  /// - Parameters:
  ///   - redirectURI: The verified redirect URI: https, or http on loopback.
  ///   - parameters: The response parameters, in order: `code`, `state`, `iss`, or an error.
  ///   - clientName: The name of the client that gets the response, shown to the user.
  public func formPost(redirectURI: String, parameters: [(name: String, value: String)], clientName: String) -> Response
  {
    let fields: [HTML] = parameters.map {
      "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n"
    }
    return response(
      status: 200, title: "Back to \(clientName)", script: true,
      """
      <h1>Back to <bdi>\(shown: clientName)</bdi></h1>
      <p>You are on your way. If nothing happens in a moment, continue here.</p>
      <form method="post" action="\(url: redirectURI)" class="actions">
      \(fields)<button type="submit">Continue</button>
      </form>
      """)
  }

  /// Returns a page with a link to the app, for browsers that follow a redirect to a private-use scheme only after a
  /// tap (RFC 8252, section 7.1).
  ///
  /// - Parameters:
  ///   - location: The verified redirect URI with the response in it.
  ///   - clientName: The name of the app, shown to the user.
  public func openApp(location: String, clientName: String) -> Response {
    response(
      status: 200, title: "Open \(clientName)",
      """
      <h1>Almost done</h1>
      <p>Go back to <strong><bdi>\(shown: clientName)</bdi></strong> to finish. You can close this page afterwards.</p>
      <p class="actions"><a class="button" href="\(url: location)">Open the app</a></p>
      """)
  }
}
