public import Demo
public import HTTP
public import LegacyServer
import OAuth
import Policy
public import TLS

extension GatewayFixture {
  // MARK: Requests

  /// Sends a request to the gateway; the caller sets target, method, fields and body.
  ///
  /// Adds the gateway's `Host` if it is missing. For an https origin it adds `X-Forwarded-Proto: https`, unless the
  /// request has that field or goes over TLS (`tls`).
  public func send(_ request: Request, tls: TLSClient? = nil) async throws -> Response {
    var request = request
    if !request.headers.contains("Host") { request.headers.append("Host", front.authority) }
    if tls == nil, front.isSecure, !request.headers.contains("X-Forwarded-Proto") {
      request.headers.append("X-Forwarded-Proto", "https")
    }
    return try await ClientLoop.send(WebAddress(host: "127.0.0.1", port: port), request, tls: tls)
  }

  /// Sends a GET request to the gateway.
  public func get(_ target: String, _ headers: Headers = Headers()) async throws -> Response {
    try await send(Request(method: "GET", target: target, headers: headers))
  }

  /// Sends a POST request with a form to the gateway. `headers` may replace the content type.
  public func post(_ target: String, _ form: Form, _ headers: Headers = Headers()) async throws -> Response {
    var headers = headers
    if !headers.contains("Content-Type") { headers.append("Content-Type", "application/x-www-form-urlencoded") }
    return try await send(Request(method: "POST", target: target, headers: headers, body: Array(form.encoded.utf8)))
  }

  /// A browser that sends requests for the gateway to this fixture, and all others to loopback addresses.
  public func browser(for redirectURI: String? = nil) -> DemoBrowser {
    DemoBrowser(appRedirectURI: redirectURI) { address, request in
      try await address.origin == self.front.origin ? self.send(request) : ClientLoop.send(address, request)
    }
  }

  // MARK: Requests of the vectors

  /// RFC 7636, appendix B.
  public static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  /// The S256 challenge of ``verifier`` (RFC 7636, appendix B).
  public static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  /// The target of the authorization request (AZ), with changes.
  public func authorizationTarget(
    _ client: String = "n1", _ redirectURI: String? = nil, adjusting adjust: (inout Form) -> Void = { _ in }
  ) -> String {
    var form: Form = [
      "response_type": "code", "client_id": client, "redirect_uri": redirectURI ?? registered(client), "state": "s1",
      "code_challenge": GatewayFixture.challenge, "code_challenge_method": "S256",
    ]
    adjust(&form)
    return form.added(to: "/authorize")
  }

  /// The body of the token request (TK), with changes.
  public func tokenForm(
    _ code: String, _ client: String = "n1", _ redirectURI: String? = nil,
    adjusting adjust: (inout Form) -> Void = { _ in }
  ) -> Form {
    var form: Form = [
      "grant_type": "authorization_code", "client_id": client, "code": code,
      "redirect_uri": redirectURI ?? registered(client), "code_verifier": GatewayFixture.verifier,
    ]
    adjust(&form)
    return form
  }

  private func registered(_ client: String) -> String {
    policy.clients[ClientID(client)]?.redirectURIs.first?.text ?? "com.example.nobody:/cb"
  }

  // MARK: Complete flows

  /// The flow ended on a page instead of at the app.
  public struct Stranded: Error, CustomStringConvertible {
    /// The last page.
    public let page: DemoBrowser.Page
    /// The target, the status and the words of the page.
    public var description: String { "stranded at \(page.address.target) with \(page.status): \(page.text)" }
  }

  /// Opens AZ in a new browser, signs in, consents, and returns the parameters that the app receives.
  ///
  /// Throws ``Stranded`` if the flow ends on a page.
  public func walk(
    _ client: String = "n1", _ redirectURI: String? = nil, user: DemoUser = DemoUser(),
    adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> DemoBrowser.Delivery {
    var browser = browser(for: redirectURI ?? registered(client))
    return try await walk(&browser, client, redirectURI, user: user, adjusting: adjust)
  }

  /// Does the same in the given browser.
  public func walk(
    _ browser: inout DemoBrowser, _ client: String = "n1", _ redirectURI: String? = nil, user: DemoUser = DemoUser(),
    adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> DemoBrowser.Delivery {
    browser.appRedirectURI = redirectURI ?? registered(client)
    let start = front.at(authorizationTarget(client, redirectURI, adjusting: adjust))
    switch try await user.signIn(in: &browser, from: start) {
    case .app(let delivery): return delivery
    case .page(let page): throw Stranded(page: page)
    }
  }

  /// Returns the code of a complete flow.
  public func code(
    _ client: String = "n1", _ redirectURI: String? = nil, adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> String {
    let delivery = try await walk(client, redirectURI, adjusting: adjust)
    guard let code = delivery.parameters["code"] else { throw NoCode(delivery: delivery) }
    return code
  }

  /// The response to the app contains no code.
  public struct NoCode: Error, CustomStringConvertible {
    /// The authorization response without a code.
    public let delivery: DemoBrowser.Delivery
    /// The URL that was opened in the app.
    public var description: String { "no code in \(delivery.address)" }
  }

  /// Sends the token request (TK).
  public func redeem(
    _ code: String, _ client: String = "n1", _ redirectURI: String? = nil, headers: Headers = Headers(),
    adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> Response {
    try await post("/token", tokenForm(code, client, redirectURI, adjusting: adjust), headers)
  }
}

extension Response {
  /// The body as UTF-8.
  public var text: String { String(decoding: body, as: UTF8.self) }
  /// The value of `Location`; nil without one.
  public var location: String? { headers["Location"] }
  /// The parameters in the query of `Location`; empty without one.
  public var answer: Form { Form(decoding: (location ?? "").drop { $0 != "?" }.dropFirst()) }
}
