import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  /// The end of connections and tunnels.
  struct EndingTests {
    private static let upgrade =
      "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    private static let switching =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    /// Reads piece by piece and sends a byte after each piece, as a client does that does not know that nothing is
    /// read.
    private static func readAll(_ client: Peer) async throws -> Int {
      var count = client.received.count
      _ = try await client.take(count: count)
      while try await client.receive() {
        let piece = client.received.count
        _ = try await client.take(count: piece)
        count += piece
        try? await client.send("x")
      }
      return count
    }

    @Test("A client that continues to send gets the whole last response of its connection")
    func lastAnswer() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        // With the byte after the request, the gateway knows that the client sends more. Otherwise it closes at once if
        // the kernel of the client has received the whole response before the client sends anything.
        try await client.send("GET /answer/large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nx")
        let head = try await client.readHead()
        #expect(head["Connection"] == "close")
        let count = try await EndingTests.readAll(client)
        #expect(count == 1 << 20)
        #expect(client.ending == .end)
      }
    }

    @Test("A client that continues to send gets all bytes of a tunnel whose server has closed it in order")
    func tunnel() async throws {
      let size = 1_500_000
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send(EndingTests.switching)
        try await peer.send([UInt8](repeating: 0x61, count: size))
        peer.shutdownWrite()
        _ = try await peer.waitForEnd()
      }
      try await Bench.Setup(upstream: script, configure: { $0.upgrades = ["websocket"] }).run { _, bench in
        let client = try await bench.connect()
        try await client.send(EndingTests.upgrade)
        let head = try await client.readHead()
        #expect(head.status == 101)
        let count = try await EndingTests.readAll(client)
        #expect(count == size)
        #expect(client.ending == .end)
      }
    }

    @Test("A tunnel without traffic is closed in order on both sides")
    func quietTunnel() async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send(EndingTests.switching + "hi")
        let ending = try await peer.waitForEnd()
        upstream.notes.append("\(ending)")
      }
      try await Bench.Setup(
        upstream: script,
        configure: {
          $0.upgrades = ["websocket"]
          $0.tunnelTimeout = 40
        }
      ).run { _, bench in
        let client = try await bench.connect()
        try await client.send(EndingTests.upgrade)
        let head = try await client.readHead()
        #expect(head.status == 101)
        let ending = try await client.waitForEnd()
        #expect(ending == .end)
        await bench.eventually("the upstream has seen the end") { bench.upstream.notes == ["end"] }
        let count = await bench.count(.tunnelTimeout)
        #expect(count == 1)
      }
    }
  }
}
