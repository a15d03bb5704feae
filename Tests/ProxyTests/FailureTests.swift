import HTTP1
import HTTP2TestSupport
import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  struct FailureTests {
    @Test(
      "An upstream that closes before its response head is complete gives 502 (I-failure)",
      arguments: [
        "", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
      ])
    func diesInHead(_ part: String) async throws {
      try await Bench.Setup(upstream: ScriptedUpstream.closing(after: part)).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try await client.readResponse()
        #expect(response.status == 502 && response.isWhole)
        #expect(bench.upstream.requests.count == 1)
        // The client did not cause the failure, so its connection continues.
        try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
        let next = try await client.readResponse()
        #expect(next.text == "answered")
      }
    }

    @Test(
      "The error response to an unreadable HEAD request has no body (RFC 9110, section 9.3.2)",
      arguments: [
        "HEAD /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", "\r\nHEAD / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "HEAD /\(String(repeating: "a", count: 17_000))", "HEAD / HTTP/2.0\r\n\r\n",
      ])
    func head(_ request: String) async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(request)
        let text = String(decoding: try await client.takeRest(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.1 505"))
        #expect(text.hasSuffix("\r\n\r\n"))
        let other = try await bench.exchange("GET" + request.drop { $0 != " " }.prefix(100) + "\u{1}\r\n\r\n")
        #expect(other.text == "refused")
      }
    }

    @Test("The error response to an unreadable HEAD request over HTTP/2 has no body, and its stream is not reset")
    func headOverHTTP2() async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        let long = [("x", String(repeating: "a", count: 16_300))]
        try await client.send(
          .headers(1, Frame.request("HEAD", "/") + long), .headers(3, Frame.request("HEAD", "/#a")),
          .headers(5, Frame.request("GET", "/") + long))
        let answers = try await client.answers([1, 3, 5])
        #expect(answers[1]?.status == 431 && answers[1]?.body.isEmpty == true && answers[1]?.reset == nil)
        #expect(answers[3]?.status == 400 && answers[3]?.body.isEmpty == true && answers[3]?.reset == nil)
        #expect(answers[5]?.status == 431 && answers[5]?.text == "refused")
      }
    }

    @Test(
      "A truncated body never passes as a complete one",
      arguments: [
        ("Content-Length: 10", "12345"), ("Transfer-Encoding: chunked", "5\r\n12345\r\n"),
        ("Transfer-Encoding: chunked", "5\r\n123"),
        ("Transfer-Encoding: chunked", "5\r\n12345\r\n0\r\n"), ("Transfer-Encoding: chunked", "5\r\n12345\r\nx"),
        ("Transfer-Encoding: chunked", "5\r\n12345\n"),
      ])
    func diesInBody(_ framing: String, _ part: String) async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.closing(after: "HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n\(part)")
      ).run { _, bench in
        for version in ["1.1", "1.0"] {
          // A body whose first bytes are malformed ends the connection before the head was sent.
          let response = try? await bench.exchange("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
          #expect(response == nil || response?.isWhole == false)
        }
      }
    }

    @Test("A body that ends with a reset instead of a close is cut")
    func resetInUnframedBody() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\n\r\npart")
        while !upstream.notes.contains("seen") { try await upstream.pause(peer) }
        peer.reset()
      }).run { _, bench in
        for version in ["1.1", "1.0"] {
          bench.upstream.notes = []
          let client = try await bench.connect()
          try await client.send("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
          let head = try await client.readHead()
          #expect(head.status == 200)
          if version == "1.1" {
            _ = try await client.take(through: "part\r\n")
          } else {
            _ = try await client.take(count: 4)
          }
          bench.upstream.notes = ["seen"]
          let ending = try await client.waitForEnd()
          #expect(ending == .reset)
          #expect(client.received.isEmpty)
        }
      }
    }

    @Test(
      "A response that is not strict HTTP gives 502 and is not relayed (attack class 9)",
      arguments: [
        "garbage\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 999 No\r\n\r\n", "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\r\n folded\r\n\r\n", "HTTP/1.1 103 Hints\r\nContent-Length: 3\r\n\r\nabc",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 17_000),
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 101) + "\r\n",
      ])
    func garbage(_ answer: String) async throws {
      try await Bench.Setup(upstream: ScriptedUpstream.answering(answer)).run { _, bench in
        let response = try await bench.get("/")
        #expect(response.status == 502 && response.isWhole && response.text == "refused")
        let counters = await bench.counters()
        #expect(counters.idle == 0)
      }
    }

    @Test(
      "A response head beyond the configured limits gives 502, and one at the limits passes",
      arguments: [(964, 9, 200), (965, 9, 502), (964, 10, 502)])
    func longHead(_ length: Int, _ fields: Int, _ status: Int) async throws {
      let start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
      let others = String(repeating: "X: y\r\n", count: fields - 2)
      let end = "X: " + String(repeating: "y", count: length - start.utf8.count - others.utf8.count - 7) + "\r\n\r\n"
      let answer = start + others + end
      #expect(answer.utf8.count == length)
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(answer),
        configure: { $0.limits.responseHead = HeadLimits(bytes: 964, fields: 9) }
      ).run { _, bench in
        let response = try await bench.get("/")
        #expect(response.status == status)
        // The limits apply to the responses to requests of a handler, too.
        let intercepted = try await bench.get("/intercept/relay")
        #expect(intercepted.status == status)
      }
    }

    @Test(
      "An upstream that hangs before or within the head gives 504 (I-failure)",
      arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"])
    func hangs(_ part: String) async throws {
      try await Bench.Setup(
        upstream: { upstream, peer in
          _ = try await upstream.read(peer)
          try await peer.send(part)
          _ = try await peer.receive()
        }, configure: { $0.responseTimeout = 40 }
      ).run { _, bench in
        let response = try await bench.get("/")
        #expect(response.status == 504)
      }
    }

    @Test("An upstream that refuses connections gives 503 (I-failure)")
    func refuses() async throws {
      try await Bench.Setup().run { worker, bench in
        worker.stopAccepting()
        let response = try await bench.get("/")
        #expect(response.status == 503)
      }
    }

    @Test("A body that the upstream stops sending is cut")
    func hangsInBody() async throws {
      try await Bench.Setup(
        upstream: { upstream, peer in
          _ = try await upstream.read(peer)
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
          _ = try await peer.receive()
        }, configure: { $0.bodyTimeout = 40 }
      ).run { _, bench in
        let response = try await bench.get("/")
        #expect(!response.isWhole && response.text != "1234512345")
      }
    }

    /// Answers one request, then closes the connection when the next request has arrived.
    private static let stale: ScriptedUpstream.Script = { upstream, peer in
      if upstream.connections == 1 {
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
        let second = try await peer.readHead()
        upstream.notes.append("lost \(second.method)")
      } else {
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain")
        _ = try await peer.receive()
      }
    }

    @Test("An idempotent request on a connection that the upstream closes is sent again, once")
    func staleRetry() async throws {
      for method in ["GET", "DELETE"] {
        try await Bench.Setup(upstream: FailureTests.stale).run { _, bench in
          let first = try await bench.get("/")
          #expect(first.text == "first")
          let second = try await bench.exchange("\(method) /two?x HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n")
          #expect(second.status == 200 && second.text == "again")
          #expect(bench.upstream.notes == ["lost \(method)"])
          #expect(bench.upstream.connections == 2)
          #expect(bench.upstream.requests.last?.target == "/two?x")
          #expect(bench.upstream.requests.last?["X"] == "y")
        }
      }
    }

    @Test("A request that is not idempotent is not sent again")
    func noReplay() async throws {
      for request in [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "PATCH / HTTP/1.1\r\nHost: a\r\n\r\n", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na",
      ] {
        try await Bench.Setup(upstream: FailureTests.stale, configure: { $0.maximumIdleTimeIfNotRepeatable = 60_000 })
          .run { _, bench in
            _ = try await bench.get("/")
            let second = try await bench.exchange(request)
            #expect(second.status == 502)
            #expect(bench.upstream.connections == 1)
          }
      }
    }

    @Test("A request that is not idempotent does not use a connection that was idle for long")
    func freshForPost() async throws {
      try await Bench.Setup(configure: { $0.maximumIdleTimeIfNotRepeatable = 1 }).run { worker, bench in
        _ = try await bench.get("/")
        await bench.eventually("the connection is idle") { await bench.counters().idle == 1 }
        await worker.poller.pause(10)
        let post = try await bench.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        #expect(post.status == 200)
        #expect(bench.upstream.connections == 2)
      }
    }

    @Test("An idle connection on which the upstream sends bytes or which it closes is dropped")
    func unsolicited() async throws {
      for extra in ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", ""] {
        try await Bench.Setup(upstream: { upstream, peer in
          while true {
            let request = try await upstream.read(peer)
            try await peer.send(
              "HTTP/1.1 200 OK\r\nContent-Length: \(request.target.utf8.count)\r\n\r\n\(request.target)")
            if upstream.connections == 1 {
              while !upstream.notes.contains("idle") { try await upstream.pause(peer) }
              if extra.isEmpty { return }
              try await peer.send(extra)
            }
          }
        }).run { _, bench in
          _ = try await bench.get("/1")
          await bench.eventually("the connection is idle") { await bench.counters().idle == 1 }
          bench.upstream.notes = ["idle"]
          await bench.eventually("the connection is dropped") { await bench.counters().open == 0 }
          let response = try await bench.get("/2")
          #expect(response.text == "/2")
          #expect(bench.upstream.connections == 2)
        }
      }
    }

    @Test("Bytes after a response never reach the next client")
    func surplus() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
      ).run { _, bench in
        for number in 1...3 {
          let response = try await bench.get("/")
          #expect(response.text == "ok")
          #expect(bench.upstream.connections == number)
        }
      }
    }

    @Test("The connection of a 204 that announces a body is not used for the next request")
    func bodyOfNoContent() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n")
      ).run { _, bench in
        for number in 1...2 {
          let response = try await bench.get("/")
          #expect(response.status == 204 && response["Content-Length"] == nil)
          #expect(bench.upstream.connections == number)
        }
      }
    }

    @Test("If all upstream connections are in use, requests wait, and those that wait too long get 503")
    func queue() async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          while request.target == "/held", !upstream.notes.contains("released") { try await upstream.pause(peer) }
          try await peer.send(
            "HTTP/1.1 200 OK\r\nContent-Length: \(request.target.utf8.count)\r\n\r\n\(request.target)")
        }
      }
      try await Bench.Setup(
        upstream: script,
        configure: {
          $0.upstreamConnections = 1
          $0.queueTimeout = 40
        }
      ).run { _, bench in
        let held = try await bench.connect()
        try await held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        for _ in 0..<3 {
          let late = try await bench.get("/late")
          #expect(late.status == 503)
        }
        bench.upstream.notes = ["released"]
        let response = try await held.readResponse()
        #expect(response.text == "/held")
        let next = try await bench.get("/next")
        #expect(next.text == "/next")
        #expect(bench.upstream.connections == 1)
      }
      try await Bench.Setup(upstream: script, configure: { $0.upstreamConnections = 2 }).run { _, bench in
        var clients: [Peer] = []
        for number in 0..<20 {
          let client = try await bench.connect()
          try await client.send("GET \(number < 2 ? "/held" : "/\(number)") HTTP/1.1\r\nHost: a\r\n\r\n")
          clients.append(client)
          if number == 1 { await bench.eventually("both are upstream") { bench.upstream.requests.count == 2 } }
        }
        bench.upstream.notes = ["released"]
        for (number, client) in clients.enumerated() {
          let response = try await client.readResponse()
          #expect(response.text == (number < 2 ? "/held" : "/\(number)"))
        }
        #expect(bench.upstream.connections == 2)
      }
    }
  }
}
