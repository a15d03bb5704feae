import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Testing

/// The "400 error page" and the "error redirect" of docs/conformance.tsv, and short flows.
extension GatewayFixture {
  /// Expects an error page: HTML, no redirect of any kind, and no request upstream.
  @discardableResult
  func expectErrorPage(
    _ target: String, status: Int = 400, _ headers: Headers = Headers(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Response {
    let response = try await expectRefused(get: target, headers, status: status, sourceLocation: sourceLocation)
    response.expectPage(sourceLocation: sourceLocation)
    return response
  }

  /// Expects an error redirect to `redirectURI` and no request upstream. Returns the parameters of the redirect.
  @discardableResult
  func expectErrorRedirect(
    _ target: String, to redirectURI: String = "com.example.app:/cb", error: String, state: String? = "s1",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Form {
    let response = try await expectRefused(get: target, sourceLocation: sourceLocation)
    let form = try response.expectErrorRedirect(to: redirectURI, sourceLocation: sourceLocation)
    #expect(form["error"] == error, "\(form)", sourceLocation: sourceLocation)
    #expect(form["state"] == state, "\(form)", sourceLocation: sourceLocation)
    #expect(form["code"] == nil, sourceLocation: sourceLocation)
    return form
  }

  /// Expects that the token request is refused with this error, without a request upstream.
  @discardableResult
  func expectTokenRefusal(
    _ form: Form, _ error: String, status: Int = 400, _ headers: Headers = Headers(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Response {
    let response = try await expectRefused(post: "/token", form, headers, sourceLocation: sourceLocation)
    response.expectTokenError(status, error, sourceLocation: sourceLocation)
    #expect(response.headers["Content-Type"] == "application/json", sourceLocation: sourceLocation)
    #expect(response.headers["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
    return response
  }

  /// The tokens of a complete flow.
  func tokens(
    _ client: String = "n1", _ redirectURI: String? = nil, adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> NativeApp.Tokens {
    let code = try await code(client, redirectURI, adjusting: adjust)
    let response = try await redeem(code, client, redirectURI)
    return try #require(NativeApp.tokens(in: response), "\(response.text)")
  }

  /// Sends a refresh request.
  func refresh(
    _ token: String, _ client: String = "n1", adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> Response {
    try await post("/token", refreshForm(token, client, adjusting: adjust))
  }

  func refreshForm(
    _ token: String, _ client: String = "n1", adjusting adjust: (inout Form) -> Void = { _ in }
  ) -> Form {
    var form: Form = ["grant_type": "refresh_token", "refresh_token": token, "client_id": client]
    adjust(&form)
    return form
  }

  /// The cookies of a browser during a sign-in.
  func transactionCookie() async throws -> String {
    var browser = browser(for: "com.example.p1:/cb")
    _ = try await browser.open(front.at(authorizationTarget("p1")))
    return try #require(browser.cookies.field(for: front))
  }

  /// The forms that the upstream received at its token endpoint.
  var upstreamTokenForms: [Form] {
    upstream.recorder.requests(to: "/token").map { Form(decoding: String(decoding: $0.body, as: UTF8.self)) }
  }

  /// The parameters that the upstream received at its authorization endpoint.
  var upstreamAuthorizationForms: [Form] {
    upstream.recorder.requests(to: "/authorize").map { Form(decoding: $0.query ?? "") }
  }
}

extension Response {
  /// Expects a page without a redirect: no `Location`, no `Refresh`, no refresh in the markup.
  func expectPage(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(headers["Content-Type"]?.hasPrefix("text/html") == true, sourceLocation: sourceLocation)
    #expect(location == nil, sourceLocation: sourceLocation)
    #expect(!headers.contains("Refresh"), sourceLocation: sourceLocation)
    #expect(!text.lowercased().contains("http-equiv=\"refresh\""), sourceLocation: sourceLocation)
  }

  /// The refresh token of a token response.
  func refreshToken(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let tokens = try #require(NativeApp.tokens(in: self), "\(text)", sourceLocation: sourceLocation)
    return try #require(tokens.refreshToken, sourceLocation: sourceLocation).reveal()
  }
}

extension NativeApp.Tokens {
  func refresh() throws -> String { try #require(refreshToken).reveal() }
}

/// Forms with fewer parameters.
extension Form {
  func without(_ names: String...) -> Form {
    var form = self
    for name in names { form.remove(name) }
    return form
  }
}

/// A function, because a macro would hide the `try` of its argument from the enclosing closure.
func expectStatus(_ status: Int, of response: Response, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(response.status == status, "\(response.text)", sourceLocation: sourceLocation)
}
