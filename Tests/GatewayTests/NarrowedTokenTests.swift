import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Access tokens of clients that the policy does not list, as a resource server sees them after the limits of these
/// clients have become narrower.
@Suite("Access tokens under narrower limits")
struct NarrowedTokenTests {
  private static let api = "https://api.example.com/"

  /// A policy with one resource, and registered clients that may request it with the scope tokens `mail` and `openid`.
  private static func policy() throws -> Policy {
    let registration = try RegisteredClientTests.policy { $0.rules.resources = [api] }.registration
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: api)))
    resource.introspection = ResourceServer(id: "api", secret: Secret("api-secret"))
    resource.check = SocketAddress(host: "127.0.0.1", port: 0)
    let listed = resource
    return try FixturePolicy.with { fixture in
      fixture.registration = registration
      fixture.resources = [listed]
      fixture.upstream.endpoints.introspection = []
    }
  }

  /// Returns the scope of a token as both endpoints give it; `nil` if the token is inactive.
  private func scope(_ gateway: GatewayFixture, of token: String) async throws -> String? {
    let answer = try await gateway.post(
      "/.proofgate/introspect", ["token": token, "client_id": "api", "client_secret": "api-secret"])
    let checked = try await check(gateway, token)
    guard answer.text != #"{"active":false}"# else {
      #expect(checked.status == 401)
      return nil
    }
    let scope = answer.text.firstRange(of: #""scope":""#).map { answer.text[$0.upperBound...].prefix { $0 != "\"" } }
    #expect(checked.headers["X-Proofgate-Scope"] == scope.map(String.init), "\(answer.text)")
    return scope.map(String.init)
  }

  private func check(_ gateway: GatewayFixture, _ token: String) async throws -> Response {
    let port = try #require(gateway.checkPorts.first)
    let headers: Headers = ["Host": "127.0.0.1:\(port)", "Authorization": "Bearer \(token)"]
    return try await ClientLoop.send(
      WebAddress(host: "127.0.0.1", port: port), Request(method: "GET", target: "/", headers: headers))
  }

  @Test("Scope tokens that registered clients may no longer have leave their access tokens at introspection and check")
  func registered() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      await gateway.reload { $0.resources[0].upstream.scope = Scope(parsing: "api") }
      let id = try await RegisteredClientTests().id(gateway)
      let uri = RegisteredClientTests.usedURI
      let code = try await gateway.code(id, uri) { $0.append("resource", Self.api) }
      let answer = try await gateway.redeem(code, id, uri)
      let token = try #require(NativeApp.tokens(in: answer)?.accessToken.reveal(), "\(answer.text)")
      #expect(try await scope(gateway, of: token) == "mail openid api")

      await gateway.reload { $0.registration?.rules.scopes = ["mail"] }
      #expect(try await scope(gateway, of: token) == "mail api")
      await gateway.reload { $0.resources[0].checkScopes = ["openid"] }
      #expect(try await check(gateway, token).status == 403)
      await gateway.reload { policy in
        policy.resources[0].checkScopes = []
        policy.registration?.rules.scopes = ["other"]
      }
      // The policy itself adds this token to each request for the resource.
      #expect(try await scope(gateway, of: token) == "api")
      await gateway.reload { $0.resources[0].upstream.scope = nil }
      #expect(try await scope(gateway, of: token) == nil)
      #expect(gateway.logLines.last?.contains("token-inactive:client-denied") == true)
      // The record itself is unchanged.
      await gateway.reload { $0.registration?.rules.scopes = ["mail", "openid"] }
      #expect(try await scope(gateway, of: token) == "mail openid")
    }
  }

  @Test("A token that a registered client shares with a listed one has no more scope than the registered one may have")
  func shared() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await RegisteredClientTests().id(gateway)
      let uri = RegisteredClientTests.usedURI
      let codes = [
        ("n1", nil, try await gateway.code("n1") { $0.append("resource", Self.api) }),
        (id, uri, try await gateway.code(id, uri) { $0.append("resource", Self.api) }),
      ]
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","expires_in":600,"scope":"openid mail"}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      for (client, redirectURI, code) in codes {
        let answer = try await gateway.redeem(code, client, redirectURI)
        #expect(answer.status == 200, "\(answer.text)")
      }
      #expect(try await scope(gateway, of: "same") == "openid mail")
      await gateway.reload { $0.registration?.rules.scopes = ["mail"] }
      #expect(try await scope(gateway, of: "same") == "mail")
    }
  }
}
