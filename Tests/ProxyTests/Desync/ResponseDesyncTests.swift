import Proxy
import Testing

extension ProxyTests {
  /// Malformed responses of an upstream: the client gets the gateway's own 502 or a broken connection, and never a
  /// response that ends in another place than the upstream meant.
  struct ResponseDesyncTests {
    private static let hidden = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

    private static let heads: [String] =
      [
        "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", " HTTP/1.1 200 OK", "\nHTTP/1.1 200 OK", "http/1.1 200 OK",
        "HTTP/1.2 200 OK",
        "HTTP/1.10 200 OK", "HTTP/2 200", "HTTP/2.0 200 OK", "HTTP/0.9 200 OK", "HTTP/11 200 OK", "HTTPS/1.1 200 OK",
        "ICY 200 OK", "200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 000 OK",
        "HTTP/1.1 600 OK",
        "HTTP/1.1 -20 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 2 0 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 200OK", "HTTP/1.1 OK",
        "HTTP/1.1",
        "HTTP/1.1 200 O\u{0}K", "HTTP/1.1 200 O\rK", "HTTP/1.1 200 O\nK", "HTTP/1.1 \u{ff12}00 OK", "GET / HTTP/1.1",
      ].map { "\($0)\r\nContent-Length: 2\r\n\r\nok" }
      + [
        "Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2, 2",
        "Content-Length: +2", "Content-Length: -2", "Content-Length: 0x2", "Content-Length: 2 2", "Content-Length:",
        "Content-Length: 99999999999999999999", "Content-Length : 2", "Content_Length: 3\r\nContent-Length: 2",
        "Content-Length: 2\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 2",
        "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: identity", "Transfer-Encoding: xchunked",
        "Transfer-Encoding:",
        "Transfer-Encoding : chunked", "Transfer_Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: \u{b}chunked", "X: a\r\n b", "X: a\rb", "X: a\nb",
        "X: a\u{0}b", "X",
        ": y", " X: y", "X\u{0}: y", "X Y: z", "Connection: Content-Length\r\nContent-Length: 2",
        "Connection: Set-Cookie",
        "Connection: Location", "Location: /a\r\nLocation: /b\r\nContent-Length: 2",
      ].map { "HTTP/1.1 200 OK\r\n\($0)\r\n\r\n2\r\nok\r\n0\r\n\r\n" }
      + [
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 102 X\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n",
        String(repeating: "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", count: 50),
      ]

    @Test("A malformed response head gives 502, and no part of it is relayed (attack class 9)", arguments: heads)
    func malformed(_ answer: String) async throws {
      try await Bench.Setup(upstream: ScriptedUpstream.answering(answer + ResponseDesyncTests.hidden)).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try await client.readResponse()
        #expect(response.status == 502 && response.isWhole && response.text == "refused")
        // The client's connection is in sync, and the upstream's connection is not used again.
        try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
        let next = try await client.readResponse()
        #expect(next.text == "answered")
        let counters = await bench.counters()
        #expect(counters.idle == 0)
      }
    }

    @Test(
      "A malformed chunked response is cut, and the bytes after it are not read as a response (attack class 9)",
      arguments: [
        "2\nok\r\n0\r\n\r\n", "2\r\nok\n0\r\n\r\n", "2\r\nok0\r\n\r\n", "2 \r\nok\r\n0\r\n\r\n",
        "+2\r\nok\r\n0\r\n\r\n",
        "0x2\r\nok\r\n0\r\n\r\n", "-2\r\nok\r\n0\r\n\r\n", "\r\nok\r\n0\r\n\r\n", "g\r\nok\r\n0\r\n\r\n",
        "ffffffffffffffff2\r\nok\r\n0\r\n\r\n", "10000000000000002\r\nok\r\n0\r\n\r\n", "3\r\nok\r\n0\r\n\r\n",
        "1\r\nok\r\n0\r\n\r\n", "2;a\nb\r\nok\r\n0\r\n\r\n", "2\r\nok\r\n0\r\nX : y\r\n\r\n",
        "2\r\nok\r\n0\r\n x\r\n\r\n",
        "2\r\nok\r\n0\r\n\n", "2\r\nok\r\n0\n\r\n", "2\r\nok\r\n0\r\nA\r\n\r\n", "2\r\nok\r\n0\r\n\u{0}: a\r\n\r\n",
      ])
    func chunks(_ body: String) async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)\(ResponseDesyncTests.hidden)")
      ).run { _, bench in
        for version in ["1.1", "1.0"] {
          let client = try await bench.connect()
          try await client.send("GET /1 HTTP/\(version)\r\nHost: a\r\n\r\n")
          let response = try? await client.readResponse()
          #expect(response == nil || response?.isWhole == false || response?.status == 502)
          let rest = try await client.takeRest()
          #expect(rest.firstRange(of: Array("evil".utf8)) == nil)
        }
        let counters = await bench.counters()
        #expect(counters.idle == 0)
      }
    }

    @Test("A response before the end of its request ends the upstream connection (attack class 8)")
    func early() async throws {
      let body = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
      try await Bench.Setup(upstream: { upstream, peer in
        let head = try await peer.readHead()
        upstream.notes.append(head.target)
        try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        while try await peer.receive() {}
      }).run { _, bench in
        for framing in ["Content-Length: 500", "Transfer-Encoding: chunked"] {
          let client = try await bench.connect()
          try await client.send("POST /early HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.status == 403 && response["Connection"] == "close")
          try await client.send(body + body)
          client.shutdownWrite()
          let rest = try await client.takeRest()
          #expect(rest.isEmpty)
        }
        #expect(bench.upstream.notes == ["/early", "/early"])
      }
    }

    @Test("A client that pipelines many requests does not delay other clients (attack class 15)")
    func pipelining() async throws {
      try await Bench.Setup().run { _, bench in
        let flood = try await bench.connect()
        try await flood.send(String(repeating: "GET /answer HTTP/1.1\r\nHost: a\r\n\r\n", count: 2_000))
        for _ in 0..<5 {
          let other = try await bench.get("/other")
          #expect(other.text == "/other")
        }
        for _ in 0..<2_000 {
          let response = try await flood.readResponse()
          #expect(response.text == "answered")
        }
      }
    }
  }
}
