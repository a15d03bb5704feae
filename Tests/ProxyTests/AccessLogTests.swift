import AccessLog
import Foundation
import HTTP2TestSupport
import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  /// The facts about a request that the proxy gives to the access log.
  struct AccessLogTests {
    /// Serves requests, and returns the lines of the log.
    private static func lines(
      _ upstream: @escaping ScriptedUpstream.Script = ScriptedUpstream.plain,
      _ body: @escaping @Sendable (Bench) async throws -> Void
    ) async throws -> [String] {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: path) }
      let log = AccessLog(workers: 1, metrics: MetricsRegistry(workers: 1, policyVersion: "test")) { _ in }
      try log.use(try AccessLogOutput(.file(path)))
      var setup = HTTP2Tests.setup(upstream)
      setup.accessLog = log
      try await setup.run { _, bench in try await body(bench) }
      #expect(await log.stop(WaitClock(now: SystemClock.monotonicTime, pause: { usleep(UInt32($0.count) * 1_000) })))
      return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func line(_ members: String) -> String { #"{"v":1,"event":"access",\#(members)}"# }

    @Test("A line has the fields of the request, without the secrets in them, over HTTP/1.1 and HTTP/2")
    func fields() async throws {
      let (referer, agent) = ("https://u:p@app.example/page?code=abc", "Agent/1.0")
      let lines = try await Self.lines { bench in
        _ = try await bench.get("/a?code=abc&x=1", "Referer: \(referer)", "User-Agent: \(agent)")
        let client = try await bench.connectHTTP2()
        let fields = Frame.request("GET", "/b") + [("referer", referer), ("user-agent", agent)]
        try await client.send(.headers(1, fields, endsStream: true))
        _ = try await client.answer(1)
      }
      let end = #""status":200,"referer":"app.example/page?code=***","user_agent":"Agent/1.0""#
      #expect(lines == [Self.line(#""path":"/a","query":"code=***&x=1",\#(end)"#), Self.line(#""path":"/b",\#(end)"#)])
    }

    @Test("The texts of requests in progress count towards the memory for buffers, and are dropped afterwards")
    func memory() async throws {
      _ = try await Self.lines(AbandonmentTests.holding) { bench in
        let long = String(repeating: "a", count: 3_900)
        let request = "GET /held HTTP/1.1\r\nHost: a\r\nReferer: /\(long)\r\nUser-Agent: \(long)\r\n\r\n"
        let client = try await bench.connect()
        try await client.send(request)
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        let counters = await bench.counters()
        // All buffers are blocks of the same size.
        #expect(counters.bufferBytes - counters.buffers * Buffer.capacity >= 2 * 3_900)
        bench.upstream.notes = ["released"]
        _ = try await client.readResponse()
        await bench.eventually("nothing is charged") {
          let counters = await bench.counters()
          return counters.bufferBytes == counters.buffers * Buffer.capacity
        }
      }
    }

    @Test("A limit that the handler reports is counted and in the line, over HTTP/1.1 and HTTP/2")
    func limits() async throws {
      let paths = ["/limited", "/inspect/limited", "/intercept/limited"]
      let lines = try await Self.lines { bench in
        let other = try await bench.connectHTTP2()
        for (index, path) in paths.enumerated() {
          let request = "POST \(path)?code=abc HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
          #expect(try await bench.exchange(request, to: "POST").status == 429)
          let stream = 1 + 2 * index
          try await other.send(
            .headers(stream, Frame.request("POST", "\(path)?code=abc"), endsStream: false),
            Frame(.data, flags: Frame.endStream, stream: stream, payload: Array("hi".utf8)))
          #expect(try await other.answer(stream).status == 429)
        }
        #expect(await bench.count(.processorTimePerAddress) == 2 * paths.count)
        #expect(bench.upstream.requests.isEmpty)
      }
      let reason = "a limit was reached (`processor_time_per_address`)"
      #expect(
        lines
          == paths.flatMap { path in
            let line = Self.line(#""path":"\#(path)","query":"code=***","status":429,"reason":"\#(reason)""#)
            return [line, line]
          })
    }

    @Test("The query of a request that is refused as a loop has only the values that are known not to be secrets")
    func loop() async throws {
      let lines = try await Self.lines { bench in
        let response = try await bench.get("/authorize?client_id=web&login_hint=abc", "Via: 1.1 proofgate")
        #expect(response.status == 508)
      }
      #expect(lines.count == 1 && lines[0].contains(#""query":"client_id=web&login_hint=***","status":508"#))
    }

    @Test("The line of a gRPC call that is refused over HTTP/2 has the reason")
    func grpc() async throws {
      let lines = try await Self.lines { bench in
        let client = try await bench.connectHTTP2()
        let fields = Frame.request("POST", "/service/Method") + [("content-type", "application/grpc")]
        try await client.send(.headers(1, fields, endsStream: true))
        #expect(try await client.answer(1)["grpc-status"] == "12")
      }
      let reason = "a gRPC call, which needs HTTP/2 up to the server"
      #expect(lines == [Self.line(#""path":"/service/Method","status":200,"reason":"\#(reason)""#)])
    }
  }
}
