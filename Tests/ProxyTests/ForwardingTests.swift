import Testing

extension ProxyTests {
  struct ForwardingTests {
    @Test("A request goes upstream in one canonical form")
    func canonical() async throws {
      try await Bench.Setup().run { _, bench in
        let response = try await bench.get("/a?b=c", "accept:x", "X-Y:  z\t", "Cookie: a=b")
        #expect(response.startLine == "HTTP/1.1 200 OK")
        #expect(response.text == "/a?b=c")
        #expect(
          bench.upstream.requests.first?.head
            == "GET /a?b=c HTTP/1.1\r\nHost: upstream.test\r\naccept: x\r\nX-Y: z\r\nCookie: a=b\r\nVia: 1.1 proofgate\r\n"
            + "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n"
            + "Forwarded: for=127.0.0.1;proto=http;host=\"gateway.test\"\r\nX-Forwarded-Host: gateway.test\r\n\r\n")
      }
    }

    @Test("An absolute-form target is forwarded in origin form")
    func absoluteForm() async throws {
      try await Bench.Setup().run { _, bench in
        for (target, expected) in [("http://other.test/p?q", "/p?q"), ("https://other.test", "/")] {
          _ = try await bench.get(target)
          #expect(bench.upstream.requests.last?.target == expected)
          #expect(bench.upstream.requests.last?.all("Host") == ["upstream.test"])
          #expect(bench.upstream.requests.last?["X-Forwarded-Host"] == "other.test")
        }
        _ = try await bench.exchange("OPTIONS * HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        #expect(bench.upstream.requests.last?.startLine == "OPTIONS * HTTP/1.1")
      }
    }

    @Test(
      "After a response that has no body by definition, its connection is not used again, because a body may follow")
    func withoutBody() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          switch request.target {
          case "/204": try await peer.send("HTTP/1.1 204 No Content\r\n\r\n")
          case "/304": try await peer.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n")
          default: try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")
          }
        }
      }).run { _, bench in
        let client = try await bench.connect()
        for (method, target, length) in [
          ("HEAD", "/", "7"), ("GET", "/204", nil), ("GET", "/304", "7"), ("HEAD", "/304", "7"),
        ] as [(String, String, String?)] {
          try await client.send("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try await client.readResponse(to: "HEAD")
          #expect(response["Content-Length"] == length)
          #expect(client.received.isEmpty)
        }
        let counters = await bench.counters()
        #expect(counters.opened == 4 && counters.open == 0)
      }
    }

    @Test("A body with a length passes in both directions")
    func lengthBody() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n\(request.text)")
        }
      }).run { _, bench in
        let client = try await bench.connect()
        for body in ["", "x", String(repeating: "abc", count: 20_000)] {
          try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
          let response = try await client.readResponse()
          #expect(response.text == body)
          #expect(bench.upstream.requests.last?["Content-Length"] == "\(body.utf8.count)")
        }
      }
    }

    @Test("A chunked body passes in both directions, without extensions and announcements of trailers")
    func chunkedBody() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3;e=1\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"
        )
      ).run { _, bench in
        let client = try await bench.connect()
        // More than one receive reads, so that the end is not known when the head is forwarded.
        let long = String(repeating: "a", count: 20_000)
        for word in ["hello", long, "hello"] {
          try await client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\nTE: trailers\r\n\r\n"
              + "\(String(word.utf8.count, radix: 16));x=\"y\"\r\n\(word)\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.text == "abcde")
          #expect(response["Transfer-Encoding"] == "chunked")
          #expect(response["Trailer"] == nil && client.received.isEmpty)
          let request = bench.upstream.requests.last
          #expect(request?.text == "\(word) world")
          #expect(request?["Trailer"] == nil && request?["TE"] == nil)
          // A complete body gets a length, because some servers do not accept chunks.
          #expect(request?["Content-Length"] == (word == long ? nil : "11"))
          #expect(request?["Transfer-Encoding"] == (word == long ? "chunked" : nil))
        }
        let counters = await bench.counters()
        #expect(counters.opened == 1)
      }
    }

    @Test("A body that ends with the upstream's connection gets framing")
    func closeDelimited() async throws {
      try await Bench.Setup(upstream: ScriptedUpstream.closing(after: "HTTP/1.1 200 OK\r\n\r\nto the end")).run {
        _, bench in
        let client = try await bench.connect()
        for _ in 0..<2 {
          try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response["Transfer-Encoding"] == "chunked")
          #expect(response.text == "to the end")
        }
        try await client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let old = try await client.readResponse()
        #expect(old["Transfer-Encoding"] == nil && old["Connection"] == "close")
        #expect(old.text == "to the end" && old.isWhole)
      }
    }

    @Test("HTTP/1.0 clients keep a connection only if they ask for it, and get no chunks")
    func oldClients() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        for _ in 0..<2 {
          try await client.send("GET /k HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response["Connection"] == "keep-alive" && response.text == "/k")
        }
        try await client.send("GET /c HTTP/1.0\r\n\r\n")
        let last = try await client.readResponse()
        #expect(last["Connection"] == "close" && last.text == "/c")
        let ending = try await client.waitForEnd()
        #expect(ending == .end)
        #expect(bench.upstream.requests.last?["Via"] == "1.0 proofgate")
      }
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
      ).run { _, bench in
        let response = try await bench.exchange("GET / HTTP/1.0\r\n\r\n")
        #expect(response.text == "ab" && response.isWhole && response["Transfer-Encoding"] == nil)
      }
    }

    @Test("Pipelined requests are answered in order")
    func pipelining() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        let requests = (0..<20).map { number in
          number % 3 == 0
            ? "POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
            : "GET /\(number == 7 ? "answer" : "\(number)") HTTP/1.1\r\nHost: a\r\n\r\n"
        }
        try await client.send(requests.joined())
        for number in 0..<20 {
          let response = try await client.readResponse()
          #expect(response.text == (number == 7 ? "answered" : "/\(number)"))
        }
        #expect(bench.upstream.requests.map(\.target) == (0..<20).filter { $0 != 7 }.map { "/\($0)" })
      }
    }

    @Test("A client that expects 100-continue gets it, and the upstream does not see the expectation")
    func expectation() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST /e HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        let interim = try await client.readHead()
        #expect(interim.head == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("hello")
        let response = try await client.readResponse()
        #expect(response.text == "/e")
        #expect(bench.upstream.requests.last?.text == "hello")
        #expect(bench.upstream.requests.last?["Expect"] == nil)
      }
    }

    @Test("Interim responses are not forwarded, and a limited number is read")
    func interim() async throws {
      let hints = "HTTP/1.1 103 Early Hints\r\nLink: \(String(repeating: "x", count: 9000))\r\n\r\n"
      let long = "X: \(String(repeating: "y", count: 12_000))\r\n"
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering("\(hints)HTTP/1.1 200 OK\r\n\(long)Content-Length: 2\r\n\r\nok")
      ).run { _, bench in
        let response = try await bench.get("/")
        #expect(response.status == 200 && response.text == "ok")
      }
      let many = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 17)
      try await Bench.Setup(upstream: ScriptedUpstream.answering("\(many)HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        .run {
          _, bench in
          let response = try await bench.get("/")
          #expect(response.status == 502)
        }
    }

    @Test("Hop-by-hop fields are not forwarded, in both directions (attack class 6)")
    func hopByHop() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nx_hop: 2\r\nX-End: 3\r\n"
            + "Proxy-Connection: close\r\nUpgrade: h2\r\nTE: x\r\nContent-Length: 0\r\n\r\n")
      ).run { _, bench in
        let response = try await bench.get(
          "/", "Connection: keep-alive, x-hop, TE", "Keep-Alive: 5", "X-Hop: 1", "X_Hop: 2", "X-End: 3", "TE: trailers",
          "Proxy-Connection: close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQ", "Trailer: T")
        #expect(response.names == ["X-End", "Date", "Content-Length"])
        let names = bench.upstream.requests.last?.names ?? []
        #expect(
          names == [
            "Host", "X-End", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Forwarded-Host", "TE",
            "Connection",
          ])
        // The gateway's own: it forwards trailers to this client.
        #expect(
          bench.upstream.requests.last?["TE"] == "trailers" && bench.upstream.requests.last?["Connection"] == "TE")
      }
    }

    @Test("A request that has already passed this gateway is refused with 508")
    func loop() async throws {
      try await Bench.Setup().run { _, bench in
        for via in ["1.1 proofgate", "1.0 a, 1.1 PROOFGATE (x)", "1.1 a,1.1 proofgate"] {
          let response = try await bench.get("/", "Via: \(via)")
          #expect(response.status == 508)
        }
        let other = try await bench.get("/", "Via: 1.1 proofgate2, 1.1 x-proofgate")
        #expect(other.status == 200)
        #expect(bench.upstream.requests.last?.all("Via") == ["1.1 proofgate2, 1.1 x-proofgate", "1.1 proofgate"])
      }
    }
  }
}
