import Proxy
import Reactor
import Testing

extension ProxyTests {
  struct EarlyAnswerTests {
    @Test(
      "A response before the end of its request stops the upload, arrives, and ends both connections (attack class 8)",
      arguments: ["Content-Length: 50000000", "Transfer-Encoding: chunked"])
    func early(_ framing: String) async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        let head = try await peer.readHead()
        upstream.notes.append(head.target)
        try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        _ = try await peer.waitForEnd()
        upstream.notes.append("ended")
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("POST /early HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
        if framing.hasPrefix("Transfer") {
          try await client.send("5\r\nhello\r\n")
        } else {
          try await client.send("hello")
        }
        let response = try await client.readResponse()
        #expect(response.status == 403 && response.text == "no" && response.isWhole)
        #expect(response["Connection"] == "close")
        client.close()
        await bench.eventually("the upstream's connection is closed") { bench.upstream.notes == ["/early", "ended"] }
        let counters = await bench.counters()
        #expect(counters.idle == 0)
      }
    }

    @Test(
      "An upstream that resets before its response gives 502, and a safe request is retried a limited number of times")
    func reset() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        peer.reset()
      }).run { _, bench in
        for (number, request) in [
          "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
          "GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n",
        ].enumerated() {
          let response = try await bench.exchange(request)
          #expect(response.status == 502)
          #expect(bench.upstream.requests.count == number + 1)
        }
      }
    }
  }
}
