import Proxy
import Reactor
import Synchronization
import Testing
import Time

extension ProxyTests {
  struct DrainTests {
    @Test("A drain closes idle connections, finishes requests in progress and accepts no new connections")
    func drain() async throws {
      try await Bench.Setup(
        workers: 2,
        upstream: { upstream, peer in
          while true {
            let request = try await upstream.read(peer)
            while request.target == "/held", !upstream.notes.contains("go") { try await upstream.pause(peer) }
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
          }
        }
      ).run { worker, bench in
        var idle: [Peer] = []
        for _ in 0..<300 {
          let client = try await bench.connect()
          try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try await client.readResponse()
          idle.append(client)
        }
        let busy = try await bench.connect()
        try await busy.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        var left: Int?
        worker.poller.start(
          PeerTask {
            left = await bench.drain(timeout: 60_000)
          })
        for client in idle {
          let ending = try await client.waitForEnd()
          if ending != .end { Issue.record("an idle connection was reset") }
        }
        #expect(left == nil)
        bench.upstream.notes = ["go"]
        let response = try await busy.readResponse()
        #expect(response.text == "ok" && response["Connection"] == "close")
        let ending = try await busy.waitForEnd()
        #expect(ending == .end)
        await bench.eventually("the drain is over") { left != nil }
        #expect(left == 0)
        #expect(await bench.refuses())
      }
    }

    @Test(
      "A request that arrived before a drain is answered, even if its worker has not yet noticed it",
      arguments: [1, 300])
    func unnoticed(connections: Int) async throws {
      try await Bench.Setup().run { worker, bench in
        var clients: [Peer] = []
        // Above 256 idle connections the oldest are parked.
        for _ in 0..<connections {
          let client = try await bench.connect()
          try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try await client.readResponse()
          clients.append(client)
        }
        let oldest = try #require(clients.first)
        let (entered, mayGoOn) = (try ThreadSignal(), try ThreadSignal())
        let server = bench.server
        let stuck = worker.launch { _ in
          await server.perform { worker in
            entered.signal()
            mayGoOn.wait()
            worker.drain()
          }
        }
        entered.wait()
        try await oldest.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
        mayGoOn.signal()
        try await stuck.value
        let response = try await oldest.readResponse()
        #expect(response.status == 200 && response["Connection"] == "close")
        for client in clients {
          let ending = try await client.waitForEnd()
          #expect(ending == .end)
        }
        _ = await bench.drain(timeout: 1_000)
      }
    }

    @Test("A request that does not end within the timeout is cut")
    func cut() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        _ = try await peer.receive()
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        let left = await bench.drain(timeout: 40)
        #expect(left == 1)
        _ = try await client.waitForEnd()
      }
    }

    @Test("A drain ends by the clock, even if each pause takes longer than requested")
    func byTheClock() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        _ = try await peer.receive()
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        let time = Mutex<MonotonicTime>(0)
        let clock = WaitClock(
          now: { time.withLock { $0 } }, pause: { asked in time.withLock { $0 += asked * 3 } })
        let left = await bench.drain(timeout: 4_000, clock: clock)
        #expect(left == 1)
        // The last two pauses: one that began in time, and the one for connections that are cut.
        #expect(time.withLock { $0 } < 4_000 + 200)
        _ = try await client.waitForEnd()
      }
    }

    @Test("A server that will drain announces it on every response")
    func announcement() async throws {
      try await Bench.Setup().run { _, bench in
        await bench.server.update { $0.drainsSoon = true }
        for target in ["/", "/answer", "/intercept"] {
          let response = try await bench.get(target)
          #expect(response.status == 200 && response["Connection"] == "close")
        }
      }
    }
  }
}
