import GatewayTestSupport
import HTTP
import LegacyServer
import Proxy
import Synchronization
import Telemetry
import Testing

@testable import Gateway

struct GatewayMetricsTests {
  @Test("Only requests that go to the upstream count in its response times")
  func upstream() async throws {
    try await GatewayFixture.run { gateway in
      let count = { gateway.metrics.snapshot().upstreamDurations.count }
      _ = try await gateway.get("/login")
      #expect(count() == 1)
      _ = try await gateway.post("/token", ["grant_type": "password", "client_id": "n1"])
      #expect(count() == 1)
      let code = try await gateway.code()
      let before = count()
      let tokens = try await gateway.redeem(code)
      #expect(tokens.status == 200)
      #expect(count() == before + 1)
      #expect(gateway.metricsText.contains("proofgate_upstream_response_seconds_count \(before + 1)\n"))
    }
  }

  @Test("Requests that a rule refuses count as refused, at endpoints, paths and hosts")
  func refusals() async throws {
    try await GatewayFixture.run { gateway in
      // The gateway counts a request shortly after it has sent the response.
      func count(_ handling: Handling, reaches expected: Int) async throws -> Int? {
        for _ in 0..<12_000 {
          if gateway.metrics.snapshot().requests[handling] == UInt64(expected) { break }
          try await Task.sleep(for: .milliseconds(5))
        }
        return gateway.metrics.snapshot().requests[handling].map { Int($0) }
      }
      #expect(try await gateway.get("/authorize?client_id=nobody").status == 400)
      #expect(try await gateway.post("/token", ["grant_type": "password", "client_id": "n1"]).status == 400)
      #expect(try await gateway.get("/oauth/../token").status == 400)
      #expect(try await gateway.get("/login", ["Host": "evil.example"]).status == 421)
      #expect(try await count(.refuse, reaches: 4) == 4)
      #expect(try await count(.forward, reaches: 0) == 0)
      #expect(try await count(.answer, reaches: 0) == 0)
      _ = try await gateway.get("/login")
      #expect(try await count(.pass, reaches: 1) == 1)
      let code = try await gateway.code()
      #expect(try await gateway.redeem(code).status == 200)
      #expect(try await count(.refuse, reaches: 4) == 4)
    }
  }

  @Test("A decision counts in its minute, and for its client with the rule and the record of the log")
  func activity() async throws {
    try await GatewayFixture.run { gateway in
      #expect(try await gateway.post("/token", ["grant_type": "password", "client_id": "n1"]).status == 400)
      #expect(try await gateway.get("/authorize?client_id=nobody-knows").status == 400)
      let activity = gateway.metrics.activity()
      #expect(activity.recent.values.reduce(0) { $0 + $1.rejected } == 2)
      let listed = try #require(activity.clients["n1"])
      #expect(listed.isListed && listed.requests == 1 && listed.refused == 1)
      let refusal = try #require(listed.refusals.first)
      #expect(refusal.value.count == 1 && refusal.value.example.rule == refusal.key)
      #expect(activity.clients["nobody-knows"]?.isListed == false)
    }
  }

  @Test("An upstream that becomes unreachable gives one notice, and its return gives another")
  func upstreamNotices() async throws {
    let told = Mutex<[String]>([])
    let watch = UpstreamWatch(OperatorNotices { text in told.withLock { $0.append(text) } })
    let worker = MetricsRegistry(workers: 1, policyVersion: "test").workers[0]
    let metrics = GatewayMetrics(worker, OperatorNotices { _ in }, watch)
    // Each notice is given on a thread of its own.
    func settled(_ count: Int) async throws -> [String] {
      for _ in 0..<12_000 where told.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(5)) }
      return told.withLock { $0 }
    }
    metrics.upstreamConnectionOpened()
    for failure in [
      UpstreamFailure.poolExhausted, .responseTimeout, .reset, .malformed("x"), .clientGone(afterSending: true),
      .outOfMemory(afterSending: false),
    ] {
      metrics.upstreamFailed(failure)
    }
    metrics.upstreamConnectionOpened()
    for _ in 0..<3 { metrics.upstreamFailed(.unreachable) }
    let away = try await settled(1)
    #expect(away == ["the upstream does not accept connections, or its name has no address; clients get 503"])
    for _ in 0..<3 { metrics.upstreamConnectionOpened() }
    let back = try await settled(2)
    #expect(back.last == "the upstream accepts connections again" && back.count == 2)
  }

  @Test("A connection that has ended does not count as open")
  func connections() async throws {
    try await GatewayFixture.run { gateway in
      for _ in 0..<3 { _ = try await gateway.get("/login") }
      var open = gateway.metrics.snapshot().connections
      // The worker learns of the end of a connection shortly after the client.
      for _ in 0..<12_000 where open > 0 {
        try await Task.sleep(for: .milliseconds(5))
        open = gateway.metrics.snapshot().connections
      }
      #expect(open == 0)
      #expect(gateway.metrics.snapshot().connectionsAccepted >= 3)
    }
  }
}
