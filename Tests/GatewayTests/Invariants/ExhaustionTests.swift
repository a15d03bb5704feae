import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing

@Suite("Exhaustion")
struct ExhaustionTests {
  @Test("6819-4.4.1.11-exhaustion: a store that is full of strangers' states still redeems a code")
  func redemptionGoesOn() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    try await GatewayFixture.run(policy, store: MemoryStore(maximumEntries: 20, shards: 1)) { gateway in
      let code = try await gateway.code()
      var statuses: [String] = []
      for _ in 0..<20 { statuses.append(try await gateway.get(gateway.az("p1")).location ?? "") }
      #expect(statuses.last?.contains("error=temporarily_unavailable") == true)
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("One client at one address begins so many transactions in the store, and others are not concerned")
  func handles() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    try await GatewayFixture.run(policy) { gateway in
      // The budget refills while a slow machine spends it, so the test goes on until it is spent, and not to a count.
      var isRefused = false
      for _ in 0..<5_000 where !isRefused {
        let response = try await gateway.get(gateway.az("p1"), ["X-Forwarded-For": "192.0.2.1"])
        isRefused = response.location?.contains("error=temporarily_unavailable") ?? false
      }
      #expect(isRefused)
      let other = try await gateway.get(gateway.az("p1"), ["X-Forwarded-For": "192.0.2.2"])
      #expect(other.location?.contains("error=") == false)
    }
  }

  @Test("A state or a scope of any length is not kept", arguments: [("state", 2048), ("scope", 4096)])
  func overlong(name: String, longest: Int) async throws {
    try await GatewayFixture.run { gateway in
      let kept = try await gateway.get(gateway.az("p1") { $0.set(name, String(repeating: "s", count: longest)) })
      #expect(kept.status == 302)
      let target = gateway.az("p1") { $0.set(name, String(repeating: "s", count: longest + 1)) }
      let response = try await gateway.expectRefused(get: target, status: 400)
      #expect(response.location == nil)
    }
  }
}
