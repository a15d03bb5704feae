import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Telemetry
import Testing

@Suite("Exhaustion")
struct ExhaustionTests {
  @Test("6819-4.4.1.11-exhaustion: a code can be redeemed while the store is full of states of other sign-ins")
  func redemptionGoesOn() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.state: 10])
    try await GatewayFixture.run(policy, store: store) { gateway in
      let code = try await gateway.code()
      var statuses: [String] = []
      for _ in 0..<20 { statuses.append(try await gateway.get(gateway.authorizationTarget("p1")).location ?? "") }
      #expect(!statuses.contains { $0.isEmpty || $0.contains("error=") })
      #expect(store.usage.contains { $0.kind == .state && $0.evictions > 0 })
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("6819-4.4.1.11-exhaustion: a flood of states from one address evicts only the oldest states of that address")
  func handles() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.state: 60])
    try await GatewayFixture.run(policy, store: store) { gateway in
      func begin(_ address: String) async throws -> String? {
        let response = try await gateway.get(gateway.authorizationTarget("p1"), ["X-Forwarded-For": address])
        return response.location?.contains("error=") == false ? "begun" : nil
      }
      var login = gateway.browser(for: "com.example.p1:/cb")
      guard case .page(let page) = try await login.open(gateway.front.at(gateway.authorizationTarget("p1"))) else {
        return
      }
      for _ in 0..<200 { #expect(try await begin("192.0.2.1") != nil) }
      #expect(try await begin("198.51.100.1") != nil)
      guard case .app(let answer) = try await DemoUser().signIn(in: &login, from: page.address) else {
        Issue.record("the earlier flow did not complete")
        return
      }
      #expect(answer.parameters["code"] != nil)
      #expect(store.usage.contains { $0.kind == .state && $0.evictions > 100 })
    }
  }

  @Test(
    "6819-4.4.1.11-exhaustion: the operator gets a warning when four fifths of a share are in use, and metrics show it")
  func warning() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.state: 10])
    try await GatewayFixture.run(policy, store: store) { gateway in
      for _ in 0..<8 { _ = try await gateway.get(gateway.authorizationTarget("p1")) }
      let notices = try await gateway.notices(1)
      #expect(notices.count == 1)
      #expect(notices.first?.contains("state entries is 80 % full") == true)
      let series = try #require(gateway.metrics.snapshot().store.first { $0.kind == "state" })
      #expect(series.entries == 8)
      #expect(series.bytes > 8 * 256)
    }
  }

  @Test(
    "With a short state limit, a request that would take more than 4 KiB of the store is refused, before any consent",
    arguments: ["p1", "n1"])
  func longState(_ client: String) async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    try await GatewayFixture.run(policy) { gateway in
      func target(scope: Int) -> String {
        gateway.authorizationTarget(client) {
          $0.set("state", String(repeating: "s", count: 2_000))
          $0.set("scope", String(repeating: "r", count: scope))
        }
      }
      let short = try await gateway.get(target(scope: 1_000))
      #expect(short.status < 400 && short.location?.contains("error=") != true)
      let response = try await gateway.expectRefused(get: target(scope: 2_500), status: 400)
      #expect(response.location == nil)
      #expect(response.text.contains("state_limit") && response.text.contains("parameter-too-long"))
    }
    // Without that limit the state is sealed and takes no memory of the gateway.
    try await GatewayFixture.run { gateway in
      let response = try await gateway.get(
        gateway.authorizationTarget("p1") { $0.set("state", String(repeating: "s", count: 500)) })
      #expect(response.location?.contains("error=") == false)
    }
  }

  @Test("With a short state limit, a sign-in with an app's state of 2 KiB ends with its code and its state")
  func storedLongState() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    try await GatewayFixture.run(policy) { gateway in
      let state = String(repeating: "s", count: 2_048)
      let delivery = try await gateway.walk("n1") { $0.set("state", state) }
      #expect(delivery.parameters["code"] != nil && delivery.parameters["state"] == state)
    }
  }

  @Test("By default an app's state has up to 2 KiB", arguments: [1_500, 2_048])
  func longState(count: Int) async throws {
    try await GatewayFixture.run { gateway in
      let state = String(repeating: "s", count: count)
      let code = try await gateway.code { $0.set("state", state) }
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test(
    "A state or a scope beyond its maximum length is refused",
    arguments: [("state", 2048, 2048), ("scope", 2048, 4096)])
  func overlong(name: String, usual: Int, longest: Int) async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.upstream.stateLimit = 16_384 }) { gateway in
      let kept = try await gateway.get(
        gateway.authorizationTarget("p1") { $0.set(name, String(repeating: "s", count: usual)) })
      #expect(kept.status == 302)
      let target = gateway.authorizationTarget("p1") { $0.set(name, String(repeating: "s", count: longest + 1)) }
      let response = try await gateway.expectRefused(get: target, status: 400)
      #expect(response.location == nil)
    }
  }
}
