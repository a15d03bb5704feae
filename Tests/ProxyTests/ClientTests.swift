import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  struct ClientTests {
    @Test("A body that a refusal leaves unread is drained, and the response arrives (attack class 8)")
    func unreadBody() async throws {
      try await Bench.Setup().run { _, bench in
        for target in ["/answer", "/intercept"] {
          let client = try await bench.connect()
          try await client.send("POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
          try await client.send([UInt8](repeating: 0x61, count: 200_000))
          let response = try await client.readResponse()
          #expect(response.status == (target == "/answer" ? 200 : 413))
          #expect(response["Connection"] == "close")
          let ending = try await client.waitForEnd()
          #expect(ending == .end)
        }
        let counters = await bench.counters()
        #expect(counters.opened == 0)
      }
    }

    @Test("A head that is not complete in time gets 408")
    func slowHead() async throws {
      try await Bench.Setup(configure: { $0.headerTimeout = 1_000 }).run { _, bench in
        var clients: [Peer] = []
        for part in ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n"] {
          let client = try await bench.connect()
          try await client.send(part)
          clients.append(client)
        }
        let silent = try await bench.connect()
        for client in clients {
          let response = try await client.readResponse()
          #expect(response.status == 408 && response["Connection"] == "close")
        }
        let ending = try await silent.waitForEnd()
        #expect(ending == .end)
      }
    }

    @Test("A body that is not complete in time gets 408")
    func slowBody() async throws {
      try await Bench.Setup(configure: { $0.bodyTimeout = 40 }).run { _, bench in
        for target in ["/", "/intercept"] {
          let response = try await bench.exchange(
            "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345")
          #expect(response.status == 408)
        }
      }
    }

    @Test("A head longer than a buffer gets 431")
    func largeHead() async throws {
      try await Bench.Setup().run { _, bench in
        for size in [16_384, 20_000, 100_000] {
          let client = try await bench.connect()
          try? await client.send("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "y", count: size))\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.status == 431)
        }
        let counters = await bench.counters()
        #expect(counters.opened == 0)
      }
    }

    @Test("The longest head passes, although the gateway adds to it")
    func longestHead() async throws {
      try await Bench.Setup(configure: {
        $0.trusts = { $0.isLoopback }
        $0.upgrades = ["websocket"]
      }).run { _, bench in
        let name = String(repeating: "h", count: 255)
        let start =
          "GET / HTTP/1.1\r\nHost:\(name):65535\r\nX-Forwarded-For:2001:db8:1111:2222:3333:4444:5555:6666\r\n"
          + "X-Forwarded-Host:\(name):65535\r\nX-Forwarded-Proto:https\r\nConnection:upgrade\r\nUpgrade:websocket\r\n"
        // A hundred fields without the space that the rewriter adds, and cookies that it splits.
        let fields = (0..<90).map { "a\($0 % 10):b\r\n" }.joined()
        let cookie = "Cookie:__Host-private=1"
        let room = 16_383 - start.utf8.count - fields.utf8.count - cookie.utf8.count - 4
        let pairs = String(repeating: ";a", count: room / 2)
        let head = "\(start)\(fields)\(cookie)\(pairs)\r\n\r\n"
        #expect(head.utf8.count >= 16_380 && head.utf8.count < 16_384)
        let response = try await bench.exchange(head)
        #expect(response.status == 200)
        #expect(bench.upstream.requests.last?["Cookie"]?.utf8.count == room / 2 * 2 - 1)
        let plain = "GET /\(String(repeating: "p", count: 8000)) HTTP/1.1\r\nHost:a\r\nX:"
        let full = plain + String(repeating: "y", count: 16_379 - plain.utf8.count) + "\r\n\r\n"
        let other = try await bench.exchange(full)
        #expect(other.status == 200)
      }
    }

    @Test("The longest response head passes, although the gateway adds to it")
    func longestResponseHead() async throws {
      let start = "HTTP/1.1 200\r\nLocation:http://upstream.test/\r\nContent-Length:2\r\n"
      let fields = (0..<90).map { "a\($0 % 10):b\r\n" }.joined()
      let filler = "X:" + String(repeating: "\u{e9}", count: (16_380 - start.utf8.count - fields.utf8.count - 6) / 2)
      try await Bench.Setup(upstream: ScriptedUpstream.answering("\(start)\(fields)\(filler)\r\n\r\nok")).run {
        _, bench in
        for cookie in ["a=b", "__Host-private=1"] {
          let response = try await bench.get("/", "Cookie: \(cookie)")
          #expect(response.status == 200 && response.text == "ok")
          #expect(response["Location"] == "https://gateway.test/")
        }
      }
    }

    @Test("A client that leaves cancels its request at the upstream")
    func cancellation() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        upstream.notes.append("\(try await peer.waitForEnd())")
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        client.reset()
        await bench.eventually("the upstream's connection is closed") { bench.upstream.notes == ["end"] }
      }
    }

    private static let waiting: ScriptedUpstream.Script = { upstream, peer in
      let request = try await upstream.read(peer)
      while !upstream.notes.contains("go") { try await upstream.pause(peer) }
      // The script ends here and closes: on a kept connection a request that may change something could be lost.
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok\(request.text)")
    }

    @Test(
      "A client that shuts down its sending side cancels a safe request that has no response yet",
      arguments: ["GET /", "HEAD /", "OPTIONS /", "GET /intercept/collect"])
    func cancelled(_ line: String) async throws {
      try await Bench.Setup(upstream: ClientTests.waiting).run { _, bench in
        let client = try await bench.connect()
        try await client.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        client.shutdownWrite()
        await bench.eventually("the upstream's connection is closed") { await bench.counters().open == 0 }
      }
    }

    @Test("A client that shuts down its sending side leaves the queue, unless its request may change something")
    func cancelledInQueue() async throws {
      try await Bench.Setup(
        upstream: ClientTests.waiting,
        configure: {
          $0.upstreamConnections = 1
          $0.queueTimeout = 60_000
        }
      ).run { _, bench in
        let held = try await bench.connect()
        try await held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        for line in ["GET /gone", "POST /kept"] {
          let client = try await bench.connect()
          try await client.send("\(line) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
          client.shutdownWrite()
          if line.hasPrefix("GET") { await bench.eventually("it is gone") { bench.server.connections == 1 } }
        }
        bench.upstream.notes = ["go"]
        _ = try await held.readResponse()
        await bench.eventually("the other is upstream") { bench.upstream.requests.count == 2 }
        #expect(bench.upstream.requests.last?.target == "/kept")
      }
    }

    @Test("With `half_close: serve` a client that shuts down its sending side after a request gets its response")
    func halfClose() async throws {
      try await Bench.Setup(upstream: ClientTests.waiting, configure: { $0.cancelsHalfClosed = false }).run {
        _, bench in
        for request in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"]
        {
          bench.upstream.notes = []
          bench.upstream.requests = []
          let client = try await bench.connect()
          try await client.send(request)
          client.shutdownWrite()
          await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
          bench.upstream.notes = ["go"]
          let response = try await client.readResponse()
          #expect(response.text == "ok")
          let ending = try await client.waitForEnd()
          #expect(ending == .end)
        }
      }
    }

    @Test("A client that shuts down its sending side within a body has its request cancelled")
    func halfBody() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try? await upstream.read(peer)
        upstream.notes.append("ended")
      }).run { _, bench in
        for body in [
          "Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n123",
          "Transfer-Encoding: chunked\r\n\r\n0\r\n",
        ] {
          bench.upstream.notes = []
          let client = try await bench.connect()
          try await client.send("POST / HTTP/1.1\r\nHost: a\r\n\(body)")
          await bench.eventually("the proxy has a connection") { await bench.counters().open == 1 }
          client.shutdownWrite()
          let rest = try await client.takeRest()
          #expect(rest.isEmpty)
          await bench.eventually("the upstream's connection is closed") { bench.upstream.notes == ["ended"] }
          #expect(bench.upstream.requests.isEmpty)
        }
      }
    }

    @Test("Idle connections above the limit are parked, and each still gets its next response")
    func parking() async throws {
      try await Bench.Setup().run { _, bench in
        var clients: [Peer] = []
        for _ in 0..<300 { clients.append(try await bench.connect()) }
        for round in 0..<3 {
          for client in clients { try await client.send("GET /\(round) HTTP/1.1\r\nHost: a\r\n\r\n") }
          for client in clients {
            let response = try await client.readResponse()
            if response.text != "/\(round)" { Issue.record("\(response)") }
          }
        }
        await bench.eventually("idle clients hold no buffer") {
          // A bounded number of idle upstream connections keep their buffers for the next response.
          let counters = await bench.counters()
          return counters.buffers <= min(counters.idle, 64)
        }
      }
    }

    @Test("Idle connections are closed in time, whether or not they are parked")
    func idleTimeout() async throws {
      try await Bench.Setup(configure: { $0.idleTimeout = 40 }).run { _, bench in
        var clients: [Peer] = []
        for _ in 0..<270 {
          let client = try await bench.connect()
          try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try await client.readResponse()
          clients.append(client)
        }
        await bench.eventually("all are closed") { await bench.counters().connections == 0 }
      }
    }

    @Test("A large response of the gateway arrives complete, and is cut if the client does not read it")
    func largeAnswer() async throws {
      try await Bench.Setup().run { worker, bench in
        let whole = try await bench.get("/answer/large")
        #expect(whole.body.count == 1 << 20)
        await bench.reload { $0.bodyTimeout = 60 }
        let client = try await bench.connect()
        // Together more than two sockets can hold.
        for _ in 0..<40 { try await client.send("GET /answer/large HTTP/1.1\r\nHost: a\r\n\r\n") }
        await bench.eventually("the proxy has given up") { await bench.counters().connections == 0 }
        var count = 0
        while let response = try? await client.readResponse(), response.isWhole {
          #expect(response.body.allSatisfy { $0 == 0x61 })
          count += 1
        }
        #expect(count < 40)
        #expect(client.ending == .reset)
      }
    }
  }
}
