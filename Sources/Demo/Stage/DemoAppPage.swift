import Gateway
import HTTP
import LegacyServer
import Markup

/// The pages of the demo's native app. `HTML` escapes the strings that are interpolated in its literals.
enum DemoAppPage {
  static func start(_ app: NativeApp, hasDevice: Bool, hasAgent: Bool) -> Response {
    let device: HTML =
      hasDevice
      ? """
      <h2>A device without a browser</h2>
      <p>It uses the device grant, which the legacy server does not have.</p>
      <p><a class="button" href="/device/start">Start the device</a></p>
      """ : ""
    let agent: HTML =
      hasAgent
      ? """
      <h2>An agent</h2>
      <p>No policy lists it. It reads the gateway's metadata and registers itself, at a server that has neither.</p>
      <p><a class="button" href="/agent">Start the agent</a></p>
      """ : ""
    return page(
      200, "A native app",
      """
      <p>This page represents an app on your computer or phone: client <b>\(app.clientID)</b>, a public client without a
      secret, with the redirect URI <code>\(app.redirectURI)</code>.</p>
      <p>It makes a code verifier, keeps it, and sends only its hash.</p>
      <p><a class="button" href="/start">Sign in</a></p>
      <p class="small">User name <b>alice</b>, password <b>wonderland</b>. The gateway asks you about the app, the legacy
      server asks you about the gateway.</p>
      \(device)\(agent)
      """)
  }

  /// Returns the page with the result of a sign-in.
  ///
  /// - Parameters:
  ///   - parameters: The parameters of the authorization response.
  ///   - tokenResponse: The response of the token endpoint.
  ///   - resourceResponse: The response of the protected resource; `nil` if the app got no token.
  static func result(_ parameters: Form, tokenResponse: Response, resourceResponse: Response?) -> Response {
    let code = String((parameters["code"] ?? "").prefix(24))
    let resourceSection: HTML =
      resourceResponse.map {
        "<h2>3. The legacy server's response to that token</h2><pre>\($0.status) \(String(decoding: $0.body, as: UTF8.self))</pre>"
      } ?? ""
    let isSignedIn = resourceResponse?.status == 200
    return page(
      200, isSignedIn ? "Signed in" : "Not signed in",
      """
      <h2>1. The response to the app</h2>
      <pre>code=\(code)…
      iss=\(parameters["iss"] ?? "")</pre>
      <p class="small">The code is sealed by the gateway: it is useless without the app's verifier.</p>
      <h2>2. The token endpoint's response to the code and the verifier</h2>
      <pre>\(tokenResponse.status) \(String(decoding: tokenResponse.body, as: UTF8.self))</pre>
      \(resourceSection)
      <p><a class="button" href="/">Again</a></p>
      """)
  }

  /// Returns the page for an authorization response that the app refuses.
  static func refused(_ refusal: NativeApp.Refusal, _ parameters: Form) -> Response {
    let reason =
      switch refusal {
      case .error(let code): "\(code): \(parameters["error_description"] ?? "")"
      case .wrongState: "The answer belongs to another attempt."
      case .wrongIssuer: "The answer comes from another server."
      case .noCode: "The answer has no code."
      }
    return message(200, "Not signed in", reason)
  }

  /// Returns the page for a request to the gateway that failed.
  static func noAnswer(_ error: LoopbackClient.Failure) -> Response {
    message(502, "No answer", "The gateway does not answer: \(error)")
  }

  /// Returns the page for a response of the gateway that an app or device cannot use.
  static func unexpected(_ response: Response) -> Response {
    message(
      502, "Unexpected answer", "\(response.status) \(String(decoding: response.body.prefix(500), as: UTF8.self))")
  }

  static func message(_ status: Int, _ title: String, _ text: String) -> Response {
    page(status, title, "<p>\(text)</p><p><a class=\"button\" href=\"/\">Start again</a></p>")
  }

  static func page(_ status: Int, _ title: String, _ content: HTML) -> Response {
    let html: HTML = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(title)</title>
      <style>
      :root { color-scheme: light dark; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 8vh auto; padding: 0 1rem; }
      h2 { font-size: 1rem; margin-top: 2rem; }
      pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .75rem; border: 1px solid #8886; border-radius: .5rem; }
      .button { display: inline-block; padding: .6rem 1.4rem; border-radius: .5rem; background: #1a7a45; color: #fff;
        text-decoration: none; font-weight: 600; }
      .qr { max-width: 12rem; }
      .code { font: 700 2.5rem ui-monospace, monospace; letter-spacing: .1em; }
      .small { font-size: .85rem; opacity: .8; }
      </style>
      </head>
      <body>
      <main>
      <h1>\(title)</h1>
      \(content)
      </main>
      </body>
      </html>

      """
    return Response(
      status: status,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      ], body: html.utf8)
  }
}
