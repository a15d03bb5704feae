import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import TLS
import TLSTestSupport
import Telemetry
import Testing
import Time

extension ProxyTests {
  struct HTTP2Tests {
    static func setup(
      _ script: @escaping ScriptedUpstream.Script = ScriptedUpstream.plain,
      _ configure: @escaping @Sendable (inout ProxyConfiguration) -> Void = { _ in }
    ) -> Bench.Setup {
      Bench.Setup(
        upstream: script,
        configure: {
          $0.http2 = HTTP2Limits()
          configure(&$0)
        })
    }

    @Test("The request of a stream reaches the upstream as exactly one canonical HTTP/1.1 request")
    func canonical() async throws {
      try await Self.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(
          .get(
            1, "/a?b",
            [
              ("cookie", "a=1"), ("cookie", "__Host-private=secret"), ("cookie", "b=2"), ("x-forwarded-for", "1.2.3.4"),
              ("x-other", "y"), ("te", "trailers"),
            ]))
        let answer = try await client.answer(1)
        #expect(answer.status == 200 && answer.text == "/a?b" && answer.isWhole)
        #expect(answer["content-length"] == "4" && answer["connection"] == nil)
        let request = try #require(bench.upstream.requests.first)
        #expect(
          request.head == """
            GET /a?b HTTP/1.1\r
            Host: upstream.test\r
            x-other: y\r
            Cookie: a=1; b=2\r
            Via: 2 proofgate\r
            X-Forwarded-For: 127.0.0.1\r
            X-Forwarded-Proto: http\r
            Forwarded: for=127.0.0.1;proto=http;host="gateway.test"\r
            X-Forwarded-Host: gateway.test\r
            TE: trailers\r
            Connection: TE\r
            \r

            """)
      }
    }

    @Test("Over TLS HTTP/2 is used if both sides agree on it, and the upstream gets X-Forwarded-Proto: https")
    func overTLS() async throws {
      let server = try TestCertificates.server { $0.applicationProtocols = ["h2", "http/1.1"] }
      let both = try TestCertificates.client(protocols: ["http/1.1", "h2"])
      let old = try TestCertificates.client(protocols: ["http/1.1"])
      try await Self.setup(ScriptedUpstream.plain) {
        $0.listenerTLS = [server]
        $0.strictTransportSecurity = "max-age=1"
      }.run { _, bench in
        let client = try await FrameClient(try await bench.connect(both))
        try await client.send(.get(1, "/facts"), .get(3, "/large?\(String(repeating: "x", count: 7_000))"))
        let answers = try await client.answers([1, 3])
        #expect(answers[1]?.text == "127.0.0.1 true -")
        #expect(answers[1]?["strict-transport-security"] == "max-age=1")
        #expect(answers[3]?.isWhole == true && answers[3]?["strict-transport-security"] == "max-age=1")
        #expect(bench.upstream.requests.first?["X-Forwarded-Proto"] == "https")
        let other = try await bench.connect(old)
        try await other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try await other.readResponse()
        #expect(response.status == 200)
        // Prior knowledge is accepted in plaintext only.
        let third = try await bench.connect(old)
        try await third.send(Frame.preface)
        let refusal = try await third.readResponse()
        #expect(refusal.status == 505)
      }
    }

    private static let date = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"

    @Test(
      "A proxied response has the same content over HTTP/2 as over HTTP/1.1, without the fields of the connection",
      arguments: [
        "200 OK\r\n\(date)Content-Length: 4\r\nServer: X\r\nX-Empty:\r\nX-Spaces:  a b\t \r\n\r\nbody",
        "200\r\n\(date)Content-Length: 0\r\n\r\n",
        "200 OK\r\n\(date)Transfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n",
        "200 OK\r\n\(date)Connection: x-mine, close\r\nX-Mine: 1\r\nKeep-Alive: 1\r\nUpgrade: h2c\r\n\r\nto the end",
        "204 No Content\r\n\(date)X-A: 1\r\n\r\n",
        "304 Not Modified\r\n\(date)ETag: \"a\"\r\nContent-Length: 9\r\n\r\n",
        "404 \u{e9}\r\n\(date)Content-Length: 1\r\nX-Text: \u{e9}\r\n\r\nx",
        "302 Found\r\n\(date)Location: http://upstream.test/a\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d; Secure\r\n"
          + "Set-Cookie: __Host-private=x\r\nContent-Length: 0\r\n\r\n",
        "200 OK\r\n\(date)Refresh: 0; url=http://upstream.test/b\r\nContent-Location: /replaced\r\nContent-Length: 0\r\n"
          + "\r\n",
        "200 OK\r\n\(date)Location: /forbidden\r\nContent-Length: 0\r\n\r\n",
      ])
    func sameHead(_ response: String) async throws {
      try await Self.setup { upstream, peer in
        let request = try await upstream.read(peer)
        let head = response.components(separatedBy: "\r\n\r\n")[0] + "\r\n\r\n"
        try await peer.send("HTTP/1.1 \(request.method == "HEAD" ? head : response)")
      } _: {
        $0.securesCookies = true
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        for (stream, method) in [(1, "GET"), (3, "HEAD")] {
          try await client.send(.headers(stream, Frame.request(method, "/")))
          let answer = try await client.answer(stream)
          let peer = try await bench.connect()
          try await peer.send("\(method) / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
          let message = try await peer.readResponse(to: method)
          #expect(answer.status == message.status && answer.isWhole && message.isWhole)
          #expect(answer.body == message.body)
          let ofConnection = ["connection", "transfer-encoding"]
          let expected = message.fields.map { ($0.name.lowercased(), $0.value) }.filter { !ofConnection.contains($0.0) }
          // The two responses may have been made in different seconds.
          let line = { (name: String, value: String) in name == "date" ? Self.maskedDate(value) : "\(name): \(value)" }
          #expect(answer.fields.dropFirst().map { line($0.name, $0.value) } == expected.map { line($0.0, $0.1) })
        }
      }
    }

    /// Returns the same text for each date that the gateway has set. The dates of the upstream are fixed.
    private static func maskedDate(_ value: String) -> String {
      "date: " + (value.contains("1970") || !value.hasSuffix(" GMT") ? value : "now")
    }

    @Test("A hundred concurrent streams are served, each with a complete upload")
    func many() async throws {
      try await Self.setup { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          try await peer.send(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n\(String(request.body.count, radix: 16))\r\n\(request.text)\r\n0\r\n\r\n"
          )
        }
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        let streams = Array(stride(from: 1, to: 200, by: 2))
        for stream in streams {
          try await client.send(
            .headers(stream, Frame.request("POST", "/\(stream)"), endsStream: false), .data(stream, "body of "),
            .data(stream, "\(stream)", endsStream: true))
        }
        let answers = try await client.answers(streams)
        for stream in streams {
          #expect(answers[stream]?.text == "[body of \(stream)" && answers[stream]?.isWhole == true)
        }
        #expect(bench.upstream.requests.count == 100)
      }
    }

    @Test("Large bodies stream in both directions, no faster than either side reads them")
    func large() async throws {
      try await Self.setup { upstream, peer in
        let request = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
        try await peer.send(request.body)
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        let part = String(repeating: "0123456789abcdef", count: 1000)
        let total = part.utf8.count * 20
        try await client.send(
          .headers(1, Frame.request("POST", "/") + [("content-length", "\(total)")], endsStream: false))
        var windows = [0: 65_535, 1: 65_535]
        for index in 0..<20 {
          while windows[0, default: 0] < part.utf8.count || windows[1, default: 0] < part.utf8.count {
            let update = try #require(try await client.next(.windowUpdate))
            windows[update.stream, default: 0] += update.word(at: 0)
          }
          windows[0, default: 0] -= part.utf8.count
          windows[1, default: 0] -= part.utf8.count
          try await client.send(.data(1, part, endsStream: index == 19))
        }
        let answer = try await client.answer(1)
        #expect(answer.body == Array(String(repeating: part, count: 20).utf8))
      }
    }

    @Test("Responses of the gateway, intercepted requests and HEAD behave as over HTTP/1.1")
    func handled() async throws {
      try await Self.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(
          .get(1, "/answer"), .get(3, "/answer/large"), .get(5, "/intercept/relay"),
          .headers(7, Frame.request("HEAD", "/head")),
          .headers(9, Frame.request("POST", "/intercept/post"), endsStream: false),
          .data(9, "body", endsStream: true), .get(11, "/facts"))
        let answers = try await client.answers([1, 3, 5, 7, 9, 11])
        #expect(answers[1]?.text == "answered")
        #expect(answers[3]?.body.count == 1 << 20)
        #expect(answers[5]?["x-relayed"] == "1" && answers[5]?.text == "/outbound")
        #expect(answers[7]?.status == 200 && answers[7]?.body.isEmpty == true && answers[7]?["content-length"] == "5")
        #expect(answers[9]?.status == 200)
        #expect(answers[11]?.text == "127.0.0.1 false -")
        #expect(bench.upstream.requests.contains { $0.method == "POST" && $0.text == "body" })
      }
    }

    @Test("An expectation gets an interim response")
    func expectation() async throws {
      try await Self.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(
          .headers(
            1, Frame.request("POST", "/") + [("expect", "100-continue"), ("content-length", "2")], endsStream: false))
        let interim = try #require(try await client.next(.headers))
        #expect(!interim.endsStream)
        try await client.send(.data(1, "ok", endsStream: true))
        let answer = try await client.answer(1)
        #expect(answer.isWhole)
        #expect(bench.upstream.requests.first?.text == "ok")
      }
    }

    @Test("A client that cancels a stream cancels the upstream's request, and the connection continues")
    func cancel() async throws {
      try await Self.setup { upstream, peer in
        let request = try await upstream.read(peer)
        if request.target == "/held" {
          while try await peer.receive() {}
          upstream.notes.append("cancelled")
        } else {
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.get(1, "/held"))
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        try await client.send(.reset(1))
        await bench.eventually("it is cancelled") { bench.upstream.notes == ["cancelled"] }
        try await client.send(.get(3))
        let answer = try await client.answer(3)
        #expect(answer.text == "ok")
      }
    }

    @Test("A response before the end of the request stops the upload")
    func early() async throws {
      try await Self.setup { upstream, peer in
        _ = try await peer.readHead()
        try await peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
        _ = try await peer.takeRest()
      } _: {
        $0.lingerTimeout = 100
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.headers(1, Frame.request("POST", "/"), endsStream: false), .data(1, "some"))
        let answer = try await client.answer(1)
        #expect(answer.status == 413 && answer.text == "big" && answer.isWhole)
        let reset = try #require(try await client.next(.reset))
        #expect(reset.word(at: 0) == 0)
      }
    }

    @Test("A truncated response resets its stream")
    func cut() async throws {
      try await Self.setup(
        ScriptedUpstream.closing(after: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort")
      ).run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.get(1))
        let answer = try await client.answer(1)
        #expect(answer.reset == 2 && !answer.isWhole)
      }
    }

    @Test("If HTTP/2 is disabled, its preface is a malformed request")
    func disabled() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(Frame.preface)
        let response = try await client.readResponse()
        #expect(response.status == 505)
      }
    }

    @Test("The preface may arrive byte by byte, and a request that only begins like it is HTTP/1.1")
    func preface() async throws {
      try await Self.setup().run { _, bench in
        let slow = try await bench.connect()
        for byte in Frame.preface { try await slow.send([byte]) }
        let client = try await FrameClient(slow, settings: [])
        _ = client
        let other = try await bench.connect()
        try await other.send("PRI * HTTP/2.0\r\nHost: a\r\n\r\n")
        let response = try await other.readResponse()
        #expect(response.status == 505)
      }
    }

    @Test("A drain is announced twice, and requests that were on their way are served")
    func drain() async throws {
      try await Self.setup { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          while request.target == "/held", !upstream.notes.contains("go") { try await upstream.pause(peer) }
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }.run { worker, bench in
        let idle = try await bench.connectHTTP2()
        try await idle.send(.get(1))
        _ = try await idle.answer(1)
        let busy = try await bench.connectHTTP2()
        try await busy.send(.get(1, "/held"))
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 2 }
        await bench.server.update { $0.drainsSoon = true }
        for client in [idle, busy] {
          let notice = try await client.next(.goAway)
          #expect(notice?.word(at: 0) == 0x7fff_ffff)
        }
        // Sent before the client could know the last stream.
        try await idle.send(.get(3))
        let late = try await idle.answer(3)
        #expect(late.text == "ok")
        var left: Int?
        worker.poller.start(PeerTask { left = await bench.drain(timeout: 60_000) })
        let last = try await idle.next(.goAway)
        #expect(last?.word(at: 0) == 3 && last?.word(at: 4) == 0)
        #expect(try await idle.next() == nil)
        bench.upstream.notes = ["go"]
        let answer = try await busy.answer(1)
        #expect(answer.text == "ok")
        await bench.eventually("the drain is over") { left != nil }
        #expect(left == 0)
      }
    }

    @Test("Connections without streams are parked, and their next stream is served")
    func parking() async throws {
      try await Self.setup(ScriptedUpstream.plain).run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.get(1))
        _ = try await client.answer(1)
        await bench.eventually("it holds no buffer") { await bench.counters().buffers <= 1 }
        try await client.send(.get(3))
        let answer = try await client.answer(3)
        #expect(answer.text == "/")
      }
    }
  }
}
