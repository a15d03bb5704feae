import Demo
import HTTP
import LegacyServer
import OAuth
import Testing
import Time

/// A legacy server at `http://legacy.test:9000` with one client, in memory.
struct LegacyFixture {
  static let address = WebAddress(host: "legacy.test", port: 9000)
  static let redirectURI = "https://gateway.test/callback"
  static let client = LegacyClient(
    id: "legacy-mail", secret: "s3cr3t:+ %", name: "Legacy <Mail>", redirectURI: redirectURI)
  static let now: UnixTime = 1_700_000_000

  let server: LegacyAuthorizationServer

  init(
    _ quirks: LegacyQuirks = LegacyQuirks(), authentication: LegacyConfiguration.Authentication = .any,
    tableLimit: Int = 2048
  ) {
    server = LegacyAuthorizationServer(
      LegacyConfiguration(
        clients: [Self.client], authentication: authentication, quirks: quirks, tableLimit: tableLimit))
  }

  var browser: DemoBrowser {
    let server = server
    return DemoBrowser(appRedirectURI: Self.redirectURI) { _, request in server.respond(to: request, now: Self.now) }
  }

  static func authorization(_ adjust: (inout Form) -> Void = { _ in }) -> WebAddress {
    var parameters: Form = [
      "response_type": "code", "client_id": client.id, "redirect_uri": redirectURI, "scope": "read write",
      "state": "s 1&\"<",
    ]
    adjust(&parameters)
    return address.at(parameters.added(to: "/authorize"))
  }

  /// The parameters that the app gets if the user consents.
  func answer(_ adjust: (inout Form) -> Void = { _ in }, user: DemoUser = DemoUser()) async throws -> Form {
    var browser = browser
    let stop = try await user.signIn(in: &browser, from: Self.authorization(adjust))
    return try #require(stop.delivery).parameters
  }

  /// Sends a token request with the secret in the body.
  func token(now: UnixTime = now, _ parameters: Form) -> Response {
    var parameters = parameters
    parameters.append("client_id", Self.client.id)
    parameters.append("client_secret", Self.client.secret.reveal())
    return post("/token", parameters, now: now)
  }

  func redeem(_ code: String, now: UnixTime = now) -> Response {
    token(now: now, ["grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI])
  }

  func post(_ path: String, _ form: Form, headers: Headers = Headers(), now: UnixTime = now) -> Response {
    var headers = headers
    headers.append("Content-Type", "application/x-www-form-urlencoded")
    return server.respond(
      to: Request(method: "POST", target: path, headers: headers, body: Array(form.encoded.utf8)), now: now)
  }

  func me(_ token: String) -> Response {
    server.respond(
      to: Request(method: "GET", target: "/api/me", headers: ["Authorization": "Bearer \(token)"]), now: Self.now)
  }
}

extension Response {
  var text: String { String(decoding: body, as: UTF8.self) }
}

extension DemoBrowser.Outcome {
  var page: DemoBrowser.Page? {
    guard case .page(let page) = self else { return nil }
    return page
  }

  var delivery: DemoBrowser.Delivery? {
    guard case .app(let delivery) = self else { return nil }
    return delivery
  }
}
