import HTTP2TestSupport
import Proxy
import Telemetry
import Testing
import Time

/// Clients that read or send too little.
extension ProxyTests.HTTP2Tests {
  @Test("A client that does not read its response loses the stream at the deadline, a silent client the connection")
  func slow() async throws {
    try await Self.setup({ upstream, peer in
      _ = try await upstream.read(peer)
      try? await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
      try? await peer.send([UInt8](repeating: 0x61, count: 1_000_000))
    }) {
      $0.bodyTimeout = 1_000
      $0.idleTimeout = 1_000
    }.run { _, bench in
      let client = try await bench.connectHTTP2()
      client.givesCredit = false
      try await client.send(.get(1), .get(3, "/answer/large"))
      let answers = try await client.answers([1, 3])
      #expect(answers[1]?.reset != nil && answers[3]?.reset != nil)
      let goAway = try await client.next(.goAway)
      #expect(goAway?.word(at: 4) == 0)
      #expect(try await client.next() == nil)
    }
  }

  @Test("A client that gives unlimited credit and reads nothing loses the connection at the deadline")
  func stoppedReader() async throws {
    // In bytes: more than all buffers between an upstream and a client.
    try await Self.setup(ScriptedUpstream.sending(20_000_000)) { $0.bodyTimeout = 100 }.run { _, bench in
      let client = try await bench.connectHTTP2()
      try await client.send(.get(1), .window(0, 1_000_000_000), .window(1, 1_000_000_000))
      await bench.eventually("it is cut") { await bench.count(.bodyTimeout) > 0 }
      await bench.eventually("its connection is let go") { await bench.counters().connections == 0 }
      let count = await bench.count(.responseTimeout)
      #expect(count == 0)
    }
  }

  @Test("A client that gives unlimited credit and reads too slowly loses the connection before any deadline")
  func slowReader() async throws {
    try await Self.setup(ScriptedUpstream.sending(20_000_000)) {
      $0.bodyTimeout = 600_000
      $0.limits.rateWindow = 200
      $0.limits.minimumRate = 10_000
    }.run { _, bench in
      let client = try await bench.connectHTTP2()
      try await client.send(.get(1), .window(0, 1_000_000_000), .window(1, 1_000_000_000))
      await bench.eventually("its connection is let go") { await bench.counters().connections == 0 }
      let count = await bench.count(.minimumRate)
      #expect(count > 0)
    }
  }

  @Test("A field section without an end is cut at the deadline for a head")
  func slowFields() async throws {
    try await Self.setup(ScriptedUpstream.plain) { $0.headerTimeout = 1_000 }.run { _, bench in
      let client = try await bench.connectHTTP2()
      try await client.send(.get(1))
      _ = try await client.answer(1)
      try await client.peer.send(Array(Frame.get(3).bytes.dropLast()))
      let goAway = try await client.next(.goAway)
      #expect(goAway?.word(at: 4) == 11)
    }
  }
}
