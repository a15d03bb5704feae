import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing
import Time

@Suite("I-request: values that the gateway did not seal")
struct ForeignValueTests {
  @Test("I-request: a state that another deployment sealed is an ordinary state of the client")
  func foreignState() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let other = Sealer(keyRing: KeyRing.ephemeral(now: 0), issuer: gateway.policy.gateway.issuer)
      let foreign = other.seal(try gateway.transaction(of: begun))
      let again = try await gateway.begin { $0.set("state", foreign) }
      #expect(try gateway.transaction(of: again).state == foreign)
      // At re-entry such a state may have been sealed with a key that this replica does not have yet.
      let target = begun.target { $0.set("state", foreign) }
      try await gateway.expectRefused(get: target, Headers.cookies([begun.cookie]), status: 503)
    }
  }

  @Test("I-request: a state that only begins like a sealed one is an ordinary state of the client")
  func likeSealed() async throws {
    try await GatewayFixture.run { gateway in
      let state = "AQ" + String(repeating: "x", count: 70)
      let begun = try await gateway.begin { $0.set("state", state) }
      #expect(try gateway.transaction(of: begun).state == state)
    }
  }

  @Test("An unknown client id is truncated in the log")
  func longClientID() async throws {
    try await GatewayFixture.run { gateway in
      let id = String(repeating: "z", count: 5000)
      try await gateway.expectRefused(post: "/token", gateway.tokenForm("x", id, "com.example:/cb"))
      let lines = gateway.logLines
      #expect(lines.contains { $0.contains(String(repeating: "z", count: 256)) })
      #expect(!lines.contains { $0.contains(String(repeating: "z", count: 257)) })
    }
  }
}
