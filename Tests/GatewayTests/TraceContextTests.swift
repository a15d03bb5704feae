import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@testable import Gateway

/// The trace of a request (W3C Trace Context).
@Suite("Trace context")
struct TraceContextTests {
  private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let parent = "00-\(id)-00f067aa0ba902b7-01"

  @Test("A valid trace is forwarded unchanged with its state, and its id is in the log")
  func continued() async throws {
    try await GatewayFixture.run { gateway in
      let headers = Headers([
        .init(name: "Traceparent", value: Self.parent), .init(name: "tracestate", value: "a=1"),
        .init(name: "tracestate", value: "b=2"),
      ])
      _ = try await gateway.get(gateway.authorizationTarget("p1"), headers)
      let sent = try #require(gateway.upstream.recorder.requests.last)
      #expect(sent.headers.all("traceparent") == [Self.parent])
      #expect(sent.headers.all("tracestate") == ["a=1,b=2"])
      #expect(gateway.logLines.last?.member("trace") == Self.id)
      let code = try await gateway.code("p1")
      _ = try await gateway.post("/token", gateway.tokenForm(code, "p1"), headers)
      #expect(gateway.upstream.recorder.requests.last?.headers.all("traceparent") == [Self.parent])
      #expect(gateway.logLines.last?.member("trace") == Self.id)
      // A refusal has the trace too.
      _ = try await gateway.get("/authorize?client_id=nobody", headers)
      #expect(gateway.logLines.last?.member("trace") == Self.id)
    }
  }

  @Test("A request without a trace gets one, unless the policy only continues traces")
  func started() async throws {
    try await GatewayFixture.run { gateway in
      var seen: Set<String> = []
      for _ in 0..<3 {
        _ = try await gateway.get(gateway.authorizationTarget("p1"), ["tracestate": "a=1"])
        let sent = try #require(gateway.upstream.recorder.requests.last)
        let parent = try #require(sent.headers.onlyValue(of: "traceparent"))
        #expect(parent.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil, "\(parent)")
        #expect(!sent.headers.contains("tracestate"))
        let id = try #require(gateway.logLines.last?.member("trace"))
        #expect(parent.contains("-\(id)-"))
        seen.insert(id)
      }
      #expect(seen.count == 3)
      await gateway.reload { $0.gateway.traceContext = .continue }
      _ = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(gateway.upstream.recorder.requests.last?.headers.contains("traceparent") == false)
      #expect(gateway.logLines.last?.member("trace") == nil)
    }
  }

  @Test("No trace is started for an observed request, and its own fields stay as they are")
  func observed() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      gateway.upstream.script { _ in Response(status: 200) }
      _ = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(gateway.upstream.recorder.requests.last?.headers.contains("traceparent") == false)
      _ = try await gateway.get(gateway.authorizationTarget("p1"), ["traceparent": "00-bad", "tracestate": "x"])
      let sent = try #require(gateway.upstream.recorder.requests.last)
      #expect(sent.headers["traceparent"] == "00-bad" && sent.headers["tracestate"] == "x")
      _ = try await gateway.get(gateway.authorizationTarget("p1"), ["traceparent": Self.parent])
      #expect(gateway.logLines.last?.member("trace") == Self.id)
    }
  }

  @Test(
    "An invalid traceparent counts as none",
    arguments: [
      "", "00", "00-\(id)-00f067aa0ba902b7", "ff-\(id)-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(id)-0000000000000000-01",
      "00-\(id.uppercased())-00f067aa0ba902b7-01", "00-\(id)-00f067aa0ba902b7-01-x", "00-\(id)-00f067aa0ba902b7-0g",
      "01-\(id)-00f067aa0ba902b7-01x", "00_\(id)-00f067aa0ba902b7-01",
      "01-\(id)-00f067aa0ba902b7-01-" + String(repeating: "x", count: 100),
    ])
  func invalid(_ value: String) {
    #expect(TraceContext(of: ["traceparent": value]) == nil)
  }

  @Test("A later version of traceparent may have further members, and a repeated field counts as none")
  func later() {
    #expect(TraceContext(of: ["traceparent": "01-\(Self.id)-00f067aa0ba902b7-01-more"])?.traceID == Self.id)
    #expect(TraceContext(of: ["traceparent": Self.parent, "Traceparent": Self.parent]) == nil)
    let long = TraceContext(of: ["traceparent": Self.parent, "tracestate": String(repeating: "a", count: 513)])
    #expect(long?.state == nil && long != nil)
  }
}
