import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

@Suite("Several servers of the upstream")
struct SeveralServersTests {
  /// Runs `body` with a gateway in front of two servers, each of which knows only its own sessions, codes and tokens.
  private static func withTwo(
    _ affinity: AddressAffinity, _ body: (GatewayFixture, FixtureUpstream) async throws -> Void
  ) async throws {
    let other = try await FixtureUpstream()
    do {
      let policy = try FixturePolicy.with {
        $0.upstream.otherServers = [.origin(Origin(scheme: .http, host: "127.0.0.1", port: other.port))]
        $0.upstream.affinity = affinity
      }
      try await GatewayFixture.run(policy) { gateway in
        other.serve(gateway.legacyServer(LegacyQuirks()))
        try await body(gateway, other)
      }
    } catch {
      await other.stop()
      throw error
    }
    await other.stop()
  }

  private static func refreshForm(_ token: String) -> Form {
    ["grant_type": "refresh_token", "refresh_token": token, "client_id": "n1"]
  }

  @Test(
    "A sign-in, its code and its refresh tokens stay at one server, which alone knows them",
    arguments: [AddressAffinity.cookie(LegacyAuthorizationServer.sessionCookie), .clientAddress])
  func flows(_ affinity: AddressAffinity) async throws {
    try await Self.withTwo(affinity) { gateway, other in
      for _ in 0..<4 {
        let code = try await gateway.code()
        let response = try await gateway.redeem(code)
        #expect(response.status == 200)
        var token = try #require(NativeApp.tokens(in: response)?.refreshToken).reveal()
        for _ in 0..<2 {
          let refreshed = try await gateway.post("/token", Self.refreshForm(token))
          #expect(refreshed.status == 200)
          token = try #require(NativeApp.tokens(in: refreshed)?.refreshToken).reveal()
        }
      }
      let counts = [gateway.upstream, other].map { $0.recorder.requests(to: "/token").count }
      #expect(counts.reduce(0, +) == 12)
      // All clients of this test have one address.
      if affinity == .clientAddress { #expect(counts.contains(0)) }
    }
  }

  @Test("The state of a sign-in that is the first request of the process names the server")
  func firstSignIn() async throws {
    try await Self.withTwo(.cookie(LegacyAuthorizationServer.sessionCookie)) { gateway, _ in
      let begun = try await gateway.begin()
      #expect(try gateway.transaction(of: begun).binding.client.upstreamAddress != nil)
    }
  }

  @Test("The state, the code and the refresh token name the server, and with one server they do not")
  func sealedIDs() async throws {
    try await Self.withTwo(.cookie(LegacyAuthorizationServer.sessionCookie)) { gateway, _ in
      let code = try await gateway.code()
      let opened = try gateway.sealer.open(IssuedCode.self, from: code)
      let id = try #require(opened.binding.client.upstreamAddress)
      let token = try #require(NativeApp.tokens(in: try await gateway.redeem(code))?.refreshToken).reveal()
      #expect(try gateway.sealer.open(RefreshGrant.self, from: token).binding.upstreamAddress == id)
    }
    try await GatewayFixture.run { gateway in
      let opened = try gateway.sealer.open(IssuedCode.self, from: try await gateway.code())
      #expect(opened.binding.client.upstreamAddress == nil)
    }
  }
}
