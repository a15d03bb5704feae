import Proxy
import Testing

extension ProxyTests {
  struct UpgradeTests {
    private static let request =
      "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: k\r\n\r\n"

    /// Switches protocols, greets, then answers each byte in brackets until the client ends.
    private static let switching: ScriptedUpstream.Script = { upstream, peer in
      _ = try await upstream.read(peer)
      try await peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSet-Cookie: __Host-private=x\r\n"
          + "Sec-WebSocket-Accept: h\r\n\r\nhi")
      while true {
        let byte = try? await peer.take(count: 1)
        guard let byte else { break }
        try await peer.send([0x5b] + byte + [0x5d])
      }
      try await peer.send("bye")
    }

    @Test("An allowed upgrade becomes a tunnel, in which each side can end separately")
    func tunnel() async throws {
      try await Bench.Setup(upstream: UpgradeTests.switching, configure: { $0.upgrades = ["websocket"] }).run {
        _, bench in
        let client = try await bench.connect()
        // The byte after the head already belongs to the new protocol.
        try await client.send(UpgradeTests.request + "0")
        let head = try await client.readHead()
        #expect(head.status == 101)
        #expect(
          head["Upgrade"] == "websocket" && head["Connection"] == "upgrade" && head["Sec-WebSocket-Accept"] == "h")
        #expect(head["Set-Cookie"] == nil)
        #expect(bench.upstream.requests.last?.all("Upgrade") == ["WebSocket"])
        #expect(bench.upstream.requests.last?.all("Connection") == ["upgrade"])
        let greeting = try await client.take(count: 5)
        #expect(greeting == Array("hi[0]".utf8))
        try await client.send("1")
        let echo = try await client.take(count: 3)
        #expect(echo == Array("[1]".utf8))
        client.shutdownWrite()
        let rest = try await client.takeRest()
        #expect(rest == Array("bye".utf8))
        #expect(client.ending == .end)
      }
    }

    @Test("A response of an upstream that does not switch is forwarded as usual")
    func declined() async throws {
      try await Bench.Setup(configure: { $0.upgrades = ["websocket"] }).run { _, bench in
        let client = try await bench.connect()
        for _ in 0..<2 {
          try await client.send(UpgradeTests.request)
          let response = try await client.readResponse()
          #expect(response.text == "/ws")
        }
      }
    }

    @Test("An upstream that switches without a request to do so gives 502")
    func unasked() async throws {
      try await Bench.Setup(upstream: UpgradeTests.switching).run { _, bench in
        let response = try await bench.exchange(UpgradeTests.request)
        #expect(response.status == 502)
      }
    }
  }
}
