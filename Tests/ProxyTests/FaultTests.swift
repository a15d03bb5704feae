import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  struct FaultTests {
    /// The bytes that a client sends before it disconnects.
    private static let openings = [
      "", "G", "GET / HTTP/1.1\r\n", "garbage\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n", "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /cut HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /reset HTTP/1.1\r\nHost: a\r\n\r\n", "GET /close HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /answer/large HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /hang HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\npart",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz",
      "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\npart",
      "POST /intercept HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\npart",
      "GET /intercept/relay HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /hang HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
    ]

    private static let upstream: ScriptedUpstream.Script = { upstream, peer in
      while true {
        let head = try await peer.readHead()
        switch head.target {
        case "/hang": _ = try await peer.waitForEnd()
        case "/large":
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
          try await peer.send([UInt8](repeating: 0x61, count: 5_000_000))
        case "/cut":
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\npart")
          return
        case "/reset":
          try await peer.send("HTTP/1.1 200 OK\r\n\r\npart")
          return peer.reset()
        case "/close": return
        case "/early": try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        case "/ws":
          try await peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nhi")
        default: try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }
    }

    private func misbehave(_ number: Int, _ client: Peer) async {
      let opening = FaultTests.openings[number % FaultTests.openings.count]
      try? await client.send(opening)
      switch number / FaultTests.openings.count % 5 {
      case 0: client.reset()
      case 1: client.close()
      case 2:
        client.shutdownWrite()
        _ = try? await client.receive()
        client.reset()
      case 3:
        if opening.contains("\r\n\r\n") { _ = try? await client.receive() }
        client.reset()
      default:
        try? await client.send("more")
        if opening.contains("\r\n\r\n") { _ = try? await client.receive() }
        client.close()
      }
    }

    @Test("After a thousand connections with all kinds of failures, all resources are released")
    func thousand() async throws {
      try await Bench.Setup(
        workers: 2, upstream: FaultTests.upstream,
        configure: {
          $0.upgrades = ["websocket"]
          $0.lingerTimeout = 100
          $0.headerTimeout = 100
          $0.bodyTimeout = 100
          $0.responseTimeout = 100
        }
      ).run { worker, bench in
        let descriptors = Descriptors.openSockets
        for batch in 0..<20 {
          var running = 50
          for number in batch * 50..<batch * 50 + 50 {
            let client = try await bench.connect()
            worker.poller.start(
              PeerTask {
                await misbehave(number, client)
                running -= 1
              })
          }
          await bench.eventually("all clients are gone") { running == 0 }
        }
        await bench.server.update { $0.pool.closeIdle() }
        await bench.eventually("the proxy holds nothing") {
          let counters = await bench.counters()
          return counters.connections == 0 && counters.open == 0 && counters.buffers == 0 && counters.sockets == 2
        }
        bench.upstream.closeAll()
        // Other tests of the process may have open sockets; a leak here would be at least a hundred.
        await bench.eventually("the process holds no more sockets than before") {
          Descriptors.openSockets < descriptors + 50
        }
        await bench.reload { $0.headerTimeout = 60_000 }
        let response = try await bench.get("/answer")
        #expect(response.status == 200)
      }
    }
  }
}
