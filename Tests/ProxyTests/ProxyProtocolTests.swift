import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  struct ProxyProtocolTests {
    private static let trusting = Bench.Setup(proxyProtocol: true, configure: { $0.trusts = { $0.isLoopback } })
    private static let request = "GET /facts HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("The address in a trusted proxy's header is the client's, and the client's own fields are ignored")
    func told() async throws {
      try await ProxyProtocolTests.trusting.run { _, bench in
        let line = "PROXY TCP4 192.0.2.7 127.0.0.1 4000 80\r\n"
        let facts = try await bench.exchange(line + ProxyProtocolTests.request)
        #expect(facts.text == "192.0.2.7 false -")
        let claimed = try await bench.exchange(
          line + "GET /facts HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n\r\n")
        #expect(claimed.text == "192.0.2.7 false -")
        _ = try await bench.exchange(line + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(bench.upstream.requests.last?["X-Forwarded-For"] == "192.0.2.7")
      }
    }

    @Test("A header that arrives byte by byte is read, and so is the request after it")
    func bytewise() async throws {
      try await ProxyProtocolTests.trusting.run { worker, bench in
        let client = try await bench.connect()
        for byte in "PROXY TCP6 2001:db8::7 ::1 4000 80\r\n".utf8 {
          try await client.send([byte])
          await worker.poller.pause(1)
        }
        try await client.send(ProxyProtocolTests.request)
        let facts = try await client.readResponse()
        #expect(facts.text == "2001:db8::7 false -")
        // The header comes before the connection's first request only.
        try await client.send(ProxyProtocolTests.request)
        let next = try await client.readResponse()
        #expect(next.text == "2001:db8::7 false -")
      }
    }

    @Test("Version 2 can report TLS, and LOCAL means the proxy itself")
    func binary() async throws {
      try await ProxyProtocolTests.trusting.run { _, bench in
        let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
        let block: [UInt8] = [192, 0, 2, 9, 127, 0, 0, 1, 0, 9, 0, 80, 0x20, 0, 5, 1, 0, 0, 0, 0]
        for (header, expected) in [
          ([0x21, 0x11, 0, UInt8(block.count)] + block, "192.0.2.9 true -"), ([0x20, 0, 0, 0], "127.0.0.1 false -"),
        ] {
          let client = try await bench.connect()
          try await client.send(signature + header + Array(ProxyProtocolTests.request.utf8))
          let facts = try await client.readResponse()
          #expect(facts.text == expected)
        }
      }
    }

    @Test(
      "A connection without a valid header is closed without a response",
      arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PROXY TCP4 x y 1 2\r\n", "\u{16}\u{3}\u{1}", "PROXY TCP4 192"])
    func malformed(_ start: String) async throws {
      try await Bench.Setup(
        proxyProtocol: true,
        configure: {
          $0.trusts = { $0.isLoopback }
          $0.headerTimeout = 1_000
        }
      ).run { _, bench in
        let client = try await bench.connect()
        try await client.send(start)
        let rest = try await client.takeRest()
        #expect(rest.isEmpty)
        let count = await bench.count(.proxyProtocol)
        #expect(count == 1)
        #expect(bench.upstream.requests.isEmpty)
      }
    }

    @Test("The header of an untrusted peer closes the connection")
    func untrusted() async throws {
      try await Bench.Setup(proxyProtocol: true).run { _, bench in
        let client = try await bench.connect()
        try? await client.send("PROXY TCP4 192.0.2.7 127.0.0.1 4000 80\r\n" + ProxyProtocolTests.request)
        let rest = try await client.takeRest()
        #expect(rest.isEmpty)
        let count = await bench.count(.proxyProtocol)
        #expect(count == 1)
      }
    }

    @Test("On a listener without the PROXY protocol the header is a malformed request")
    func unasked() async throws {
      try await Bench.Setup(configure: { $0.trusts = { $0.isLoopback } }).run { _, bench in
        let response = try await bench.exchange(
          "PROXY TCP4 192.0.2.7 127.0.0.1 4000 80\r\n" + ProxyProtocolTests.request)
        #expect(response.status == 400)
      }
    }
  }
}
