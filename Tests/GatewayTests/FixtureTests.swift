import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Testing

@Suite("The fixture of the gateway's tests")
struct FixtureTests {
  @Test("A native app signs in over an https origin", arguments: ["n1", "n2", "n3", "p1"])
  func https(client: String) async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.redeem(try await gateway.code(client), client)
      let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
      let user = try await gateway.get("/api/me", ["Authorization": "Bearer \(tokens.accessToken.reveal())"])
      #expect(user.status == 200)
    }
  }

  @Test("A native app signs in over a loopback origin, with a redirect URI on a port of its choice")
  func loopback() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      let redirectURI = "http://127.0.0.1:51004/cb"
      let code = try await gateway.code("n4", redirectURI)
      #expect(try await gateway.redeem(code, "n4", redirectURI).status == 200)
    }
  }

  @Test("Confidential clients sign in with their own secrets", arguments: [("w1", "w1secret"), ("web:2", "a b%c")])
  func confidential(client: String, secret: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code(client)
      let response = try await gateway.redeem(code, client) { $0.append("client_secret", secret) }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test("A client with an upstream client of its own keeps its secret and its redirect URI")
  func itself() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w3")
      let response = try await gateway.redeem(code, "w3") { $0.append("client_secret", "w3secret") }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test("A policy can be given as YAML text")
  func yaml() async throws {
    let policy = try FixturePolicy.yaml(
      """
      version: 1
      gateway:
        origin: https://gw.example
        listeners: [{ address: "127.0.0.1:8080" }]
        sealing_keys: { file: KEYS }
      upstream:
        url: http://127.0.0.1:9000
        endpoints: { authorization: /authorize, token: /token }
      enforcement: { raw_refresh_until: never }
      clients:
        - id: n1
          type: public
          application: native
          redirect_uris: ["com.example.app:/cb"]
          upstream: { client_id: legacy, client_secret: { env: LEGACY } }
      """, environment: ["LEGACY": "held"])
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code()
      #expect(try await gateway.redeem(code).status == 200)
      #expect(gateway.logLines.count > 2)
    }
  }

  @Test("A refused request does not reach the upstream")
  func refused() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectRefused(get: gateway.authorizationTarget("nobody"), status: 400)
    }
  }
}
