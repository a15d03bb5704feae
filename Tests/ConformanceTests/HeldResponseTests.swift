import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Stores
import Testing
import Time

/// Token responses that the gateway holds for repeated refresh requests.
@Suite("I-renewal: held responses")
struct HeldResponseTests {
  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.editAll { $0.refreshReuseWindow = 60 }
      adjust(&policy)
    }
  }

  private static func client(_ address: String) -> Headers { ["X-Forwarded-For": address] }

  private func refresh(_ gateway: GatewayFixture, _ token: String, from address: String) async throws -> Response {
    try await gateway.post("/token", gateway.refreshForm(token), Self.client(address))
  }

  @Test("Without room for the response the upstream is still asked, the log reports it, and no repeat ends the family")
  func noRoom() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.answer: 0])
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      for _ in 0..<12 {
        let missing = try await gateway.expectRefused(post: "/token", gateway.refreshForm(first), status: 503)
        #expect(missing.headers["X-Proofgate-Rule"] == "refresh-answer-missing")
      }
      let usage = try #require(store.usage.first { $0.kind == .answer })
      #expect(usage.refusals == 1)
      try await expectStatus(200, of: gateway.refresh(second))
      #expect(gateway.logLines.contains { $0.contains("answer-not-held") })
    }
  }

  @Test("The room for a response is reserved before the upstream is asked, and released if the upstream fails")
  func reservedBefore() async throws {
    let store = MemoryStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      func answers() -> StoreUsage? { store.usage.first { $0.kind == .answer } }
      let first = try await gateway.tokens().refresh()
      let gate = Gate()
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        await gate.pass()
        return Response(status: 500)
      }
      async let failed = gateway.refresh(first)
      await gate.someoneWaits()
      #expect((answers()?.bytes ?? 0) > 16_384)
      await gate.open()
      #expect(try await failed.status == 502)
      #expect(answers()?.entries == 0)
      gateway.upstream.script(nil)
      try await expectStatus(200, of: gateway.refresh(first))
      #expect(answers()?.entries == 1)
      #expect((answers()?.bytes ?? .max) < 4_096)
    }
  }

  @Test("A response longer than 16 KiB reaches the app and is not held")
  func tooLong() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let first = try await gateway.tokens().refresh()
      let access = String(repeating: "a", count: 17_000)
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"\#(access)","token_type":"bearer"}"#.utf8))
      }
      let answer = try await gateway.refresh(first)
      #expect(answer.text.contains(access))
      let missing = try await gateway.expectRefused(post: "/token", gateway.refreshForm(first), status: 503)
      #expect(missing.headers["X-Proofgate-Rule"] == "refresh-answer-missing")
      try await expectStatus(200, of: gateway.refresh(try answer.refreshToken()))
    }
  }

  @Test("A held response opens only with the presented token and in its own entry")
  func sealedToToken() async throws {
    let store = MemoryStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let first = try await gateway.tokens().refresh()
      let other = try await gateway.tokens().refresh()
      try await expectStatus(200, of: gateway.refresh(first))
      try await expectStatus(200, of: gateway.refresh(other))
      let now = gateway.clock.now
      func key(_ token: String) throws -> StoreKey {
        StoreKey(.answer, id: try gateway.sealer.open(RefreshGrant.self, from: token).family)
      }
      let victims = try #require(try await store.get(try key(first), now: now))
      // A process with write access to the store copies the victim's response into the entry of its own token.
      let own = try #require(try await store.get(try key(other), now: now))
      #expect(try await store.replace(try key(other), own, with: victims, expiry: now + 50, now: now))
      let response = try await gateway.refresh(other)
      #expect(response.status == 503)
      #expect(response.headers["X-Proofgate-Rule"] == "refresh-answer-missing")
      try await expectStatus(200, of: gateway.refresh(first))
    }
  }

  @Test("A repeat with another resource is a reuse, although the resource does not go upstream")
  func resource() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let first = try await gateway.tokens().refresh()
      func ask(_ resource: String) async throws -> Response {
        try await gateway.refresh(first) { $0.append("resource", resource) }
      }
      try await expectStatus(200, of: ask("https://a.example"))
      try await expectStatus(200, of: ask("https://a.example"))
      try await ask("https://b.example").expectTokenError(400, "invalid_grant")
    }
  }

  @Test("The log line of a repeat has the network of the first use and that of the repeat")
  func logged() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let first = try await gateway.tokens().refresh()
      try await expectStatus(200, of: refresh(gateway, first, from: "192.0.2.7"))
      try await expectStatus(200, of: refresh(gateway, first, from: "198.51.100.9"))
      let line = try #require(gateway.logLines.last { $0.contains("\"refresh-repeated\"") })
      #expect(line.contains(#""first_network":"192.0.2.0/24","network":"198.51.100.0/24""#))
    }
  }

  @Test("After ten seconds a repeat from another network is a reuse, unless the client may repeat from any network")
  func networks() async throws {
    let policy = try Self.policy { $0.edit("n2") { $0.refreshReuseNetworks = .any } }
    try await GatewayFixture.run(policy) { gateway in
      for (client, status) in [("n1", 400), ("n2", 200)] {
        let first = try await gateway.tokens(client).refresh()
        func ask(_ address: String) async throws -> Response {
          try await gateway.post("/token", gateway.refreshForm(first, client), Self.client(address))
        }
        try await expectStatus(200, of: ask("192.0.2.7"))
        gateway.clock.advance(by: 30)
        try await expectStatus(status, of: ask("198.51.100.9"))
      }
    }
  }

  @Test("A revocation deletes the held response")
  func revoked() async throws {
    let store = MemoryStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      let key = StoreKey(.answer, id: try gateway.sealer.open(RefreshGrant.self, from: first).family)
      #expect(try await store.get(key, now: gateway.clock.now) != nil)
      try await expectStatus(200, of: gateway.post("/revoke", ["token": second, "client_id": "n1"]))
      #expect(try await store.get(key, now: gateway.clock.now) == nil)
      try await gateway.refresh(first).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("The name of a short handle in the store cannot be computed without the sealing keys")
  func handleNames() async throws {
    let store = SpyStore()
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 14 }
    try await GatewayFixture.run(policy, store: store) { gateway in
      let begun = try await gateway.begin()
      let handle = Array(begun.state.utf8)
      #expect(handle.count <= 15)
      #expect(!store.dump.isEmpty)
      #expect(!store.dump.contains(StoreKey(.state, hashing: handle).bytes))
      #expect(try await gateway.get(begun.target, Headers.cookies([begun.cookie])).status == 302)
    }
  }
}
