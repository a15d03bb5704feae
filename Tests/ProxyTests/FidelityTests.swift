import Proxy
import Reactor
import Testing

extension ProxyTests {
  struct FidelityTests {
    @Test("A head that cannot be written completely gives 502, never a shorter head")
    func unwritable() async throws {
      try await Bench.Setup().run { _, bench in
        for path in ["injection", "oversized", "oversized/relay", "unsendable"] {
          let client = try await bench.connect()
          try await client.send("GET /intercept/\(path) HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.status == 502 && response.isWhole && response.text == "refused")
          for name in ["X-Injected", "b", "X-A", "Location", "Content-Security-Policy"] {
            #expect(response[name] == nil)
          }
          // The connection stays in sync.
          try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          let next = try await client.readResponse()
          #expect(next.text == "answered")
        }
        #expect(bench.upstream.requests.map(\.target) == ["/outbound"])
      }
    }

    @Test("A long head of a handler's own request is sent complete, without the private cookie")
    func longRequest() async throws {
      try await Bench.Setup().run { _, bench in
        let response = try await bench.get("/intercept/long", "Cookie: a=b; __HOST-private=1; c=d")
        #expect(response.status == 200)
        let request = bench.upstream.requests.last
        for name in ["X-A", "X-B", "X-C"] { #expect(request?[name]?.utf8.count == 10_000) }
        #expect(request?["Authorization"] == "Basic last")
        #expect(request?.all("Cookie") == ["a=b; c=d"])
        #expect(request?.names.last == "X-Forwarded-Host")
        _ = try await bench.get("/intercept/long", "Cookie: __Host-private=1")
        #expect(bench.upstream.requests.last?.all("Cookie") == [])
      }
    }

    @Test("The body of a handler's own request follows its head, whatever the space left in the buffer")
    func longBody() async throws {
      try await Bench.Setup().run { _, bench in
        // Lengths around the space left in a buffer after the head, and around two and more buffers.
        for count in [0, 1] + Array(15_990...16_400).filter({ $0 % 5 == 0 }) + [32_768, 32_769, 60_000] {
          let body = (0..<count).map { UInt8(0x61 + $0 % 26) }
          let client = try await bench.connect()
          try await client.send(
            Array("POST /intercept/long/post HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n".utf8) + body)
          let response = try await client.readResponse()
          #expect(response.status == 200)
          #expect(bench.upstream.requests.last?.body == body)
          client.close()
        }
      }
    }

    @Test("Bytes that are not UTF-8 are forwarded unchanged, for all kinds of requests")
    func latin() async throws {
      let value: [UInt8] = Array("a".utf8) + [0xe9, 0x80, 0xff, 0xf4, 0x8f, 0xbe, 0x80] + Array("b".utf8)
      try await Bench.Setup(upstream: { upstream, peer in
        while true {
          let head = try await peer.take(through: "\r\n\r\n")
          upstream.notes.append(head.firstRange(of: value) == nil ? "altered" : "kept")
          try await peer.send(
            Array("HTTP/1.1 200 OK\r\nX: ".utf8) + value + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
        }
      }).run { _, bench in
        for (target, cookie) in [("/", "a=b"), ("/", "__Host-private=1"), ("/intercept/relay", "a=b")] {
          let client = try await bench.connect()
          try await client.send(
            Array("GET \(target) HTTP/1.1\r\nHost: a\r\nCookie: \(cookie)\r\nX: ".utf8) + value
              + Array("\r\n\r\n".utf8))
          let head = try await client.take(through: "\r\n\r\n")
          #expect(head.firstRange(of: value) != nil, "\(target) \(cookie)")
        }
        #expect(bench.upstream.notes.prefix(2) == ["kept", "kept"])
      }
    }

    @Test("A response without a date gets one, and a response with a date keeps it")
    func date() async throws {
      for (sent, count) in [("", 1), ("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", 1)] {
        try await Bench.Setup(
          upstream: ScriptedUpstream.answering("HTTP/1.1 200 OK\r\n\(sent)Content-Length: 0\r\n\r\n")
        ).run { _, bench in
          for (target, cookie) in [("/", "a=b"), ("/", "__Host-private=1"), ("/intercept/relay", "a=b")] {
            let response = try await bench.get(target, "Cookie: \(cookie)")
            #expect(response.all("Date").count == count)
            #expect(response["Date"]?.hasSuffix(" GMT") == true)
            #expect(response["Date"]?.contains("1970") == !sent.isEmpty)
          }
        }
      }
    }

    @Test(
      "Every field with an address of the upstream's origin is changed to the gateway's origin",
      arguments: [
        ("Refresh", "0; url=http://upstream.test/a", "0; url=https://gateway.test/a"),
        ("Refresh", "5;URL='http://upstream.test/a?b'", "5;URL='https://gateway.test/a?b'"),
        ("Location", "http://upstream.test/\u{301}", "https://gateway.test/\u{301}"),
        ("Refresh", "0;\u{301}url=http://upstream.test/", "0;\u{301}url=http://upstream.test/"),
        ("Refresh", "0; url=http://upstream.test.evil/", "0; url=http://upstream.test.evil/"), ("Refresh", "5", "5"),
        ("Location", "HTTP://Upstream.TEST/a", "https://gateway.test/a"),
        ("Content-Location", "http://upstream.test/a", "https://gateway.test/a"), ("Content-Location", "/a", "/a"),
      ])
    func locations(_ name: String, _ sent: String, _ arrived: String) async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering("HTTP/1.1 200 OK\r\n\(name): \(sent)\r\nContent-Length: 0\r\n\r\n")
      ).run { _, bench in
        for cookie in ["a=b", "__Host-private=1"] {
          let response = try await bench.get("/", "Cookie: \(cookie)")
          #expect(response.all(name) == [arrived])
        }
      }
    }

    @Test(
      "An Alt-Svc of the upstream, by which browsers would go around the gateway, is dropped if the settings say so")
    func alternativeService() async throws {
      for drops in [false, true] {
        let setup = Bench.Setup(
          upstream: ScriptedUpstream.answering(
            "HTTP/1.1 200 OK\r\nAlt-Svc: h3=\":8443\"; ma=86400\r\nContent-Length: 0\r\n\r\n"),
          configure: { $0.dropsAlternativeServices = drops })
        try await setup.run { _, bench in
          let response = try await bench.get("/")
          #expect(response.all("Alt-Svc") == (drops ? [] : ["h3=\":8443\"; ma=86400"]))
        }
      }
    }

    @Test("A Content-Location that the handler forbids gives 502, and so do two Content-Location fields")
    func contentLocation() async throws {
      for fields in ["Content-Location: /forbidden", "Content-Location: /a\r\nContent-Location: /b"] {
        try await Bench.Setup(
          upstream: ScriptedUpstream.answering("HTTP/1.1 200 OK\r\n\(fields)\r\nContent-Length: 0\r\n\r\n")
        ).run { _, bench in
          for cookie in ["a=b", "__Host-private=1"] {
            let response = try await bench.get("/", "Cookie: \(cookie)")
            #expect(response.status == 502 && response.all("Content-Location").isEmpty)
          }
        }
      }
    }

    @Test("OPTIONS of an absolute target without a path is sent as `*` (RFC 9112, section 3.2.4)")
    func optionsOfServer() async throws {
      try await Bench.Setup().run { _, bench in
        for (line, target) in [
          ("OPTIONS http://a", "*"), ("OPTIONS *", "*"), ("OPTIONS http://a/", "/"), ("GET http://a", "/"),
        ] {
          _ = try await bench.exchange("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(bench.upstream.requests.last?.target == target)
        }
      }
    }

    @Test("A loop is recognised whatever the letter case of the gateway's name")
    func loop() async throws {
      try await Bench.Setup(configure: { $0.pseudonym = "Gateway.TEST" }).run { _, bench in
        for via in ["1.1 Gateway.TEST", "1.1 gateway.test", "1.0 a, 1.1 GATEWAY.test"] {
          let response = try await bench.get("/", "Via: \(via)")
          #expect(response.status == 508)
        }
        let other = try await bench.get("/", "Via: 1.1 gateway.tests")
        #expect(other.status == 200)
      }
    }
  }
}
