import GatewayTestSupport
import HTTP
import LegacyServer
import Telemetry
import Testing

struct GatewayMetricsTests {
  @Test("What passes and what is forwarded is timed at the upstream, what the gateway answers is not")
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

  @Test("Connections that have ended are not open")
  func connections() async throws {
    try await GatewayFixture.run { gateway in
      for _ in 0..<3 { _ = try await gateway.get("/login") }
      var open = gateway.metrics.snapshot().connections
      // A connection's end reaches its worker a moment after the client's.
      for _ in 0..<1_000 where open > 0 {
        try await Task.sleep(for: .milliseconds(5))
        open = gateway.metrics.snapshot().connections
      }
      #expect(open == 0)
      #expect(gateway.metrics.snapshot().connectionsAccepted >= 3)
    }
  }
}
