import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import Telemetry
import Testing
import Time

/// Clients that give no credit for their responses, and the effect on other clients.
extension ProxyTests.HTTP2Tests {
  /// SETTINGS_INITIAL_WINDOW_SIZE.
  private static let noCredit = [(4, 0)]

  @Test("10,000 responses on 200 connections without credit leave other clients unharmed")
  func manyWithoutCredit() async throws {
    try await Self.setup(ScriptedUpstream.plain) {
      // A quarter of the memory that as many ordinary blocks would take.
      $0.limits.bufferMemory = 48 << 20
      $0.limits.creditWindow = 600_000
    }.run { _, bench in
      let requests = stride(from: 1, to: 100, by: 2).flatMap { Frame.get($0, "/answer").bytes }
      for number in 1...200 {
        let client = try await bench.connectHTTP2(settings: Self.noCredit)
        try await client.peer.send(requests)
        // One connection after the other, because requests in progress have buffers of their own.
        await bench.eventually("its responses wait") {
          let counters = await bench.counters()
          // The blocks of requests in progress are larger than those of responses that wait.
          return counters.buffers >= number * 50 && counters.bufferBytes < 36 << 20
        }
      }
      #expect(try await bench.get("/answer").status == 200)
      let count = await bench.count(.bufferMemory)
      #expect(count == 0)
    }
  }

  @Test("Connections that take nothing while memory is short are ended, and one that takes its responses continues")
  func watch() async throws {
    try await Self.setup(ScriptedUpstream.plain) {
      $0.limits.bufferMemory = 1_500_000
      $0.limits.creditWindow = 2_000
    }.run { _, bench in
      let good = try await bench.connectHTTP2(settings: Self.noCredit)
      good.givesCredit = false
      try await good.send(.get(1, "/answer/large"), .window(0, 1_000_000))
      var idle: [FrameClient] = []
      for _ in 0..<3 {
        let client = try await bench.connectHTTP2(settings: Self.noCredit)
        for stream in stride(from: 1, to: 60, by: 2) { try await client.send(.get(stream, "/answer/large")) }
        idle.append(client)
      }
      await bench.eventually("the others are ended") {
        try? await good.send(.window(1, 500))
        await bench.poller.pause(20)
        return await bench.counters().connections == 1
      }
      for client in idle {
        var bytes = try await client.peer.takeRest()
        let reason = Frame.take(from: &bytes).last { $0.kind == .goAway }?.word(at: 4)
        #expect(reason == 11)
        #expect(client.peer.ending == .end)
      }
      try await good.send(.get(3, "/answer"), .window(3, 1_000))
      #expect(try await good.answer(3).text == "answered")
      #expect(await bench.count(.bufferMemory) >= 3)
    }
  }

  @Test("Complete responses without credit are reset at the deadline of a body, and their memory is given back")
  func completeWithoutCredit() async throws {
    try await Self.setup(ScriptedUpstream.plain) { $0.bodyTimeout = 1_000 }.run { _, bench in
      let client = try await bench.connectHTTP2(settings: Self.noCredit)
      client.givesCredit = false
      let before = await bench.counters().bufferBytes
      let streams = Array(stride(from: 1, to: 100, by: 2))
      // One half of the responses is from the server, the other one from the gateway.
      for stream in streams { try await client.send(.get(stream, stream % 4 == 1 ? "/answer" : "/page")) }
      let answers = try await client.answers(streams)
      #expect(streams.allSatisfy { answers[$0]?.reset != nil })
      await bench.eventually("their memory is given back") { await bench.counters().bufferBytes <= before + 65_536 }
      // The connection serves further requests.
      try await client.send(.get(101, "/answer"), .window(101, 1_000))
      #expect(try await client.answer(101).text == "answered")
    }
  }

  @Test("A client that gives no credit keeps no upstream connection of a response that was received completely")
  func releasedConnection() async throws {
    // The buffer of a stream holds less than this.
    let body = String(repeating: "a", count: 17_000)
    try await Self.setup(ScriptedUpstream.answering("HTTP/1.1 200 OK\r\nContent-Length: 17000\r\n\r\n\(body)")) {
      $0.upstreamConnections = 1
    }.run { _, bench in
      let client = try await bench.connectHTTP2(settings: Self.noCredit)
      client.givesCredit = false
      try await client.send(.get(1))
      await bench.eventually("its request is answered") { bench.upstream.requests.count == 1 }
      let other = try await bench.get("/")
      #expect(other.status == 200 && other.body.count == 17_000)
      #expect(bench.upstream.connections == 1)
      try await client.send(.window(1, 17_000))
      let answer = try await client.answer(1)
      #expect(answer.isWhole && answer.body == Array(body.utf8) && answer.reset == nil)
    }
  }

  @Test("A client that connects while memory is short gets a GOAWAY, however much it has sent")
  func refusedClient() async throws {
    try await Self.setup(ScriptedUpstream.plain) {
      // Less than any request needs.
      $0.limits.bufferMemory = 10_000
    }.run { _, bench in
      let client = try await bench.connectHTTP2()
      for stream in stride(from: 1, to: 200, by: 2) {
        try await client.send(.get(stream, "/" + String(repeating: "a", count: 500)))
      }
      #expect(try await client.next()?.kind == .settings)
      let reason = try await client.next()
      #expect(reason?.kind == .goAway && reason?.word(at: 0) == 0 && reason?.word(at: 4) == 11)
      #expect(try await client.next() == nil)
      #expect(client.peer.ending == .end)
      #expect(await bench.count(.bufferMemory) == 1)
      // A client of HTTP/1.1 gets a 503.
      #expect(try await bench.get("/answer").status == 503)
    }
  }

  @Test("A client that reads the rest of a response slowly keeps its stream while it makes progress")
  func slowRest() async throws {
    try await Self.setup(ScriptedUpstream.plain) { $0.bodyTimeout = 3_000 }.run { _, bench in
      let client = try await bench.connectHTTP2(settings: Self.noCredit)
      client.givesCredit = false
      try await client.send(.get(1, "/" + String(repeating: "a", count: 3_000)))
      // For longer than the timeout, in pieces that each arrive well within it.
      for _ in 0..<7 {
        await bench.poller.pause(500)
        try await client.send(.window(1, 100))
      }
      try await client.send(.window(1, 10_000))
      let answer = try await client.answer(1)
      #expect(answer.isWhole && answer.body.count == 3_001 && answer.reset == nil)
    }
  }

  @Test("A response to an unfinished upload does not affect the other streams, whatever of the upload is in flight")
  func earlyAnswer() async throws {
    try await Self.setup(ScriptedUpstream.plain) { $0.http2?.discardedBytes = 20_000 }.run { _, bench in
      let client = try await bench.connectHTTP2()
      let part = String(repeating: "a", count: 16_000)
      try await client.send(
        .headers(1, Frame.request("POST", "/intercept") + [("content-length", "1000000")], endsStream: false),
        .data(1, part), .data(1, part))
      let answer = try await client.answer(1)
      #expect(answer.status == 413)
      // The gateway resets the stream after it has discarded enough; the client does not know this yet.
      try await client.send(.data(1, part), .data(1, part), .get(3), .headers(1, [("x", "y")]), .get(5))
      let others = try await client.answers([3, 5])
      #expect(others[3]?.isWhole == true && others[5]?.isWhole == true)
    }
  }
}
