import Testing

extension ProxyTests {
  /// Single requests of the attack classes. A refused head opens no connection to the upstream.
  struct AttackTests {
    private static let host = "Host: a\r\n"

    @Test(
      "Ambiguous or forbidden requests are refused, and nothing reaches the upstream (attack classes 1 to 7)",
      arguments: [
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nabcde"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nabcde"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"), (400, "GET / HTTP/1.1\nHost: a\n\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n"), (400, "GET / HTTP/1.1\r\nHost: a\r\n X: y\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n"), (400, "GET / HTTP/1.1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), (400, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"),
        (400, "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"), (400, "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Host\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Forwarded-For\r\n\r\n"),
        (405, "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"), (405, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (417, "POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\na"),
        (505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), (505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
        (414, "GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: a\r\n\r\n"),
        (431, "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 101))\r\n"),
      ])
    func refused(_ status: Int, _ request: String) async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        // The bytes after the request must not be read as another request.
        try await client.send(request + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        client.shutdownWrite()
        let response = try await client.readResponse()
        #expect(response.status == status)
        #expect(response["Connection"] == "close")
        let rest = try await client.takeRest()
        #expect(rest.isEmpty)
        let counters = await bench.counters()
        #expect(counters.opened == 0)
        #expect(bench.upstream.connections == 0)
      }
    }

    @Test(
      "A malformed chunked body is refused and never passes as a complete request (attack class 3)",
      arguments: [
        "5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n",
        "-1\r\n", "\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\nX : y\r\n\r\n",
        "5\r\nhello\r\n0\r\n\n",
        "5\r\nhello\r\n0\r\n\rX",
      ])
    func chunks(_ body: String) async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        client.shutdownWrite()
        let response = try await client.readResponse()
        #expect(response.status == 400)
        let rest = try await client.takeRest()
        #expect(rest.isEmpty)
        await bench.eventually("the upstream's connection is closed") { await bench.counters().open == 0 }
        #expect(bench.upstream.requests.isEmpty)
      }
    }

    @Test("An upgrade that is not allowed is forwarded as an ordinary request (attack class 7)")
    func upgradeRefused() async throws {
      try await Bench.Setup().run { _, bench in
        for `protocol` in ["h2c", "websocket", "TLS/1.0"] {
          let response = try await bench.get(
            "/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: \(`protocol`)", "HTTP2-Settings: AAMA")
          #expect(response.status == 200)
          let names = bench.upstream.requests.last?.names ?? []
          #expect(!names.contains("Upgrade") && !names.contains("Connection") && !names.contains("HTTP2-Settings"))
        }
      }
    }
  }
}
