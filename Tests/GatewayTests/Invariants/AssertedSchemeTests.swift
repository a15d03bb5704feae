import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import Testing

@Suite("I-transport")
struct AssertedSchemeTests {
  @Test("I-transport: a request that a trusted proxy on loopback reports as plain http is refused")
  func assertedPlain() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      for scheme in ["http", "HTTP", "https, http", ""] {
        let plain: Headers = ["X-Forwarded-Proto": scheme]
        try await gateway.expectRefused(get: gateway.authorizationTarget("p1"), plain, status: 403)
        try await gateway.expectRefused(post: "/token", gateway.tokenForm(code), plain, status: 403)
        try await gateway.expectRefused(post: "/revoke", ["token": "x"], plain, status: 403)
        try await gateway.expectRefused(get: "/.proofgate/callback?code=x", plain, status: 403)
      }
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("I-transport: a client on loopback needs no TLS, and its own X-Forwarded-Proto is ignored")
  func direct() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      let response = try await gateway.get(gateway.authorizationTarget("p1"), ["X-Forwarded-Proto": "http"])
      #expect(response.status == 302)
    }
  }
}
