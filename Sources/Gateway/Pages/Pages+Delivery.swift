public import HTTP
import Markup
import Policy

/// Pages through which the browser delivers the authorization response to the client. They lead only to verified
/// redirect URIs.
extension Pages {
  /// Returns a page whose form posts the authorization response (OAuth 2.0 Form Post Response Mode, section 2). A
  /// script submits the form. If the browser runs no scripts, the user presses the button.
  ///
  /// - Parameters:
  ///   - redirectURI: The verified redirect URI: an https URI, or an http URI with a loopback address.
  ///   - parameters: The response parameters, in order: `code`, `state`, `iss`, or an error.
  ///   - clientName: The name of the client that gets the response, shown to the user.
  public func formPost(redirectURI: String, parameters: [(name: String, value: String)], clientName: String) -> Response
  {
    let fields: [HTML] = parameters.map {
      "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n"
    }
    return response(
      status: 200, title: title(.formPostTitle, ["app": clientName]), script: true,
      """
      <h1>\(text(.formPostTitle, ["app": "<bdi>\(visible: clientName)</bdi>"]))</h1>
      <p>\(text(.formPostText))</p>
      <form method="post" action="\(url: redirectURI)" class="actions">
      \(fields)<button type="submit">\(text(.formPostContinue))</button>
      </form>
      """)
  }

  /// Returns a page with a link that delivers the authorization response to the app. The gateway sends this page in
  /// place of a redirect if the response is an error and the operator does not trust the client (`trusted: false`; RFC
  /// 9700, section 4.11.2).
  ///
  /// - Parameters:
  ///   - location: The verified redirect URI with the parameters of the response.
  ///   - clientName: The name of the app, shown to the user.
  public func openApp(location: String, clientName: String) -> Response {
    response(
      status: 200, title: title(.openAppTitle, ["app": clientName]),
      """
      <h1>\(text(.openAppHeading))</h1>
      <p>\(text(.openAppText, ["app": "<strong><bdi>\(visible: clientName)</bdi></strong>"]))</p>
      <p class="actions"><a class="button" href="\(url: location)">\(text(.openAppOpen))</a></p>
      """)
  }
}
