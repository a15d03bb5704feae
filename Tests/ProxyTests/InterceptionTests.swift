import Compression
import Proxy
import Reactor
import Telemetry
import Testing

extension ProxyTests {
  struct InterceptionTests {
    @Test(
      "A response to the handler with two fields of one of the kinds that a browser follows is not used",
      arguments: ["Location", "Refresh", "Content-Location"])
    func twoLocations(name: String) async throws {
      let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
      for (fields, status) in [("\(name): /a\r\n", 302), ("\(name): /a\r\n\(name.lowercased()): /a\r\n", 502)] {
        try await Bench.Setup(upstream: ScriptedUpstream.answering(head + fields + "\r\n")).run { _, bench in
          for target in ["/intercept/collect", "/passed"] {
            let response = try await bench.get(target)
            #expect(response.status == status, "\(target) \(fields)")
          }
        }
      }
    }

    @Test("An intercepted body is read completely, in either framing, up to its limit")
    func bodies() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST /intercept HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
            + "POST /intercept HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        for body in ["hello", "abc"] {
          let response = try await client.readResponse()
          #expect(response.text == body)
        }
        let exact = try await bench.exchange(
          "POST /intercept HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n\(String(repeating: "x", count: 1000))")
        #expect(exact.body.count == 1000)
        for tooLarge in [
          "Content-Length: 1001\r\n\r\n",
          "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(String(repeating: "x", count: 1001))\r\n",
        ] {
          let response = try await bench.exchange("POST /intercept HTTP/1.1\r\nHost: a\r\n\(tooLarge)")
          #expect(response.status == 413)
        }
        let malformed = try await bench.exchange(
          "POST /intercept HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")
        #expect(malformed.status == 400)
        let counters = await bench.counters()
        #expect(counters.opened == 0)
      }
    }

    @Test("A request whose readings would exceed the memory is refused, and the next one is served")
    func readings() async throws {
      try await Bench.Setup(configure: { $0.limits.bufferMemory = 12 * Buffer.capacity }).run { _, bench in
        // The body fits, but not with six times its length.
        for (count, status) in [(60_000, 503), (10_000, 200), (60_000, 503), (10_000, 200)] {
          let response = try await bench.exchange(
            "POST /intercept/long/post HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"
              + String(repeating: "x", count: count))
          #expect(response.status == status, "\(count)")
        }
        let refused = await bench.count(.bufferMemory)
        #expect(refused == 2)
      }
    }

    /// Small enough to be sent at once, and with more framing than a short body may have.
    private static let padded = String(repeating: "000000000000001\r\nx\r\n", count: 4_500) + "0\r\n\r\n"
    private static let single = String(repeating: "1\r\nx\r\n", count: 900) + "0\r\n\r\n"

    @Test("A body of many small chunks is read, but not if its framing is much longer than the data (attack class 3)")
    func smallChunks() async throws {
      try await Bench.Setup().run { _, bench in
        let head = "HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let short = try await bench.exchange("POST /intercept \(head)\(Self.single)")
        #expect(short.text == String(repeating: "x", count: 900))
        let refused = try await bench.exchange("POST /intercept/long/post \(head)\(Self.padded)")
        #expect(refused.status == 413)
        #expect(bench.upstream.requests.isEmpty)
      }
      for (body, status) in [(Self.single, 200), (Self.padded, 502)] {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
        try await Bench.Setup(upstream: ScriptedUpstream.answering(answer)).run { _, bench in
          let response = try await bench.get("/intercept/collect")
          #expect(response.status == status)
        }
      }
    }

    @Test("The decoding of chunks is charged to the client, whether the body is read, refused or passes")
    func decoding() async throws {
      try await Bench.Setup().run { _, bench in
        let chunked = "HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let plain = "HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        let first = try await bench.exchange("POST /intercept/decodings \(chunked)\(Self.single)")
        #expect(first.text == "1")
        _ = try await bench.exchange("POST /intercept/long/post \(chunked)\(Self.padded)")
        _ = try await bench.exchange("POST /inspect \(chunked)3\r\nabc\r\n0\r\n\r\n")
        _ = try await bench.exchange("POST /inspect \(plain)")
        let last = try await bench.exchange("POST /intercept/decodings \(plain)")
        #expect(last.text == "3")
      }
    }

    private static func answering(_ coding: String, _ body: [UInt8]) -> ScriptedUpstream.Script {
      { upstream, peer in
        while true {
          _ = try await upstream.read(peer)
          let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
          try await peer.send(Array(head.utf8) + body)
        }
      }
    }

    @Test("The content of a response is decoded, and its connection is used again")
    func content() async throws {
      let text = Array((0..<5_000).map { "content \($0 * $0) " }.joined().utf8)
      let coded = try #require(Encoder.gzip(text))
      try await Bench.Setup(upstream: Self.answering("gzip", coded)).run { _, bench in
        for _ in 0..<2 {
          let answer = try await bench.get("/intercept/content")
          #expect(answer.status == 200 && answer.body == text)
        }
        #expect(bench.upstream.connections == 1)
      }
    }

    @Test("A response that is a bomb, damaged, or in another coding gives 502, and its memory is released")
    func badContent() async throws {
      let bomb = try #require(Encoder.gzip([UInt8](repeating: 0, count: 3_000_000)))
      // With few repetitions, so that only its size is too large.
      let large = try #require(Encoder.gzip((0..<400_000).flatMap { Array("\($0) ".utf8) }))
      let whole = try #require(Encoder.gzip(Array("content".utf8)))
      #expect(large.count < 1 << 20)
      for (coding, body) in [
        ("gzip", bomb), ("gzip", large), ("gzip", Array(whole.dropLast())), ("gzip", Array("content".utf8)),
        ("br", whole), ("gzip, gzip", whole), ("deflate", whole),
      ] {
        try await Bench.Setup(upstream: Self.answering(coding, body)).run { _, bench in
          let answer = try await bench.get("/intercept/content")
          #expect(answer.status == 502, "\(coding)")
        }
      }
    }

    @Test("A client that expects 100-continue gets it before an intercepted body")
    func expectation() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST /intercept HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        let interim = try await client.readHead()
        #expect(interim.status == 100)
        try await client.send("ok")
        let response = try await client.readResponse()
        #expect(response.text == "ok")
      }
    }

    @Test(
      "A handler's own request is sent in the canonical form, and its response can be collected, relayed or dropped")
    func outbound() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nX-A: 1\r\nConnection: X-Hop\r\nX-Hop: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        )
      ).run { _, bench in
        let collected = try await bench.get("/intercept/collect")
        #expect(collected.text == "ok" && collected["X-Names"] == "X-A")
        #expect(
          bench.upstream.requests.last?.head
            == "GET /outbound HTTP/1.1\r\nHost: upstream.test\r\nX-From: handler\r\nVia: 1.1 proofgate\r\n"
            + "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n"
            + "Forwarded: for=127.0.0.1;proto=http;host=\"gateway.test\"\r\nX-Forwarded-Host: gateway.test\r\n\r\n")
        let relayed = try await bench.get("/intercept/relay")
        #expect(relayed.text == "ok" && relayed["X-Relayed"] == "1" && relayed["X-Hop"] == nil)
        let posted = try await bench.exchange(
          "POST /intercept/post HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        #expect(posted.text == "ok")
        #expect(bench.upstream.requests.last?.text == "abc")
        let before = await bench.counters()
        #expect(before.opened == 1)
        let dropped = try await bench.get("/intercept/discard")
        #expect(dropped.status == 200)
        await bench.eventually("the unread answer's connection is closed") { await bench.counters().open == 0 }
      }
    }

    @Test("A relayed response to HEAD has no body, and the connection stays in sync")
    func relayToHead() async throws {
      try await Bench.Setup(upstream: ScriptedUpstream.answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"))
        .run {
          _, bench in
          let client = try await bench.connect()
          for _ in 0..<3 {
            try await client.send("HEAD /intercept/relay HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try await client.readResponse(to: "HEAD")
            #expect(response.status == 200 && response["Content-Length"] == "4")
          }
          try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          let next = try await client.readResponse()
          #expect(next.text == "answered")
        }
    }

    @Test("A handler's own request cannot be split by its target")
    func unsafeTarget() async throws {
      try await Bench.Setup().run { _, bench in
        let response = try await bench.get("/intercept/unsafe")
        #expect(response.status == 502)
        #expect(bench.upstream.requests.isEmpty)
      }
    }

    @Test("After the wait for the upstream, a thread works on the request of its client, by its own id or a proxy's")
    func currentRequest() async throws {
      for isTrusted in [false, true] {
        try await Bench.Setup(
          upstream: ScriptedUpstream.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
          configure: { if isTrusted { $0.trusts = { $0.isLoopback } } }
        ).run { _, bench in
          for number in 0..<3 {
            let response = try await bench.exchange(
              "GET /intercept/current HTTP/1.1\r\nHost: a\r\nX-Request-ID: of-the-proxy-\(number)\r\n\r\n")
            let id = try #require(response["X-Expected"])
            #expect(response.text == id && (id == "of-the-proxy-\(number)") == isTrusted && !id.isEmpty)
          }
        }
      }
    }

    @Test("Failures of a handler's request keep their kind (I-failure)")
    func failures() async throws {
      for (answer, status) in [
        ("", 502), ("garbage\r\n\r\n", 502), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart", 502),
      ] {
        try await Bench.Setup(upstream: ScriptedUpstream.closing(after: answer)).run { _, bench in
          let response = try await bench.get("/intercept/collect")
          #expect(response.status == status)
        }
      }
      let large = "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n\(String(repeating: "x", count: 2000))"
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(large), configure: { $0.collectedBodyLimit = 1999 }
      ).run { _, bench in
        let response = try await bench.get("/intercept/collect")
        #expect(response.status == 502)
      }
    }
  }
}
