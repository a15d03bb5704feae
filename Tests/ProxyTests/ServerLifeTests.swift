import Glibc
import PortTestSupport
import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  struct ServerLifeTests {
    @Test("After a reload the requests of an open connection use the new list of trusted peers")
    func trust() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        for (trusts, expected) in [
          (false, "127.0.0.1 false -"), (true, "192.0.2.7 true -"), (false, "127.0.0.1 false -"),
        ] {
          await bench.reload { $0.trusts = { _ in trusts } }
          try await client.send(
            "GET /facts HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n\r\n")
          let facts = try await client.readResponse()
          #expect(facts.text == expected)
        }
      }
    }

    @Test("The PROXY header of a peer that is no longer trusted is ignored")
    func toldTrust() async throws {
      try await Bench.Setup(proxyProtocol: true, configure: { $0.trusts = { $0.isLoopback } }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("PROXY TCP4 192.0.2.7 127.0.0.1 4000 80\r\n")
        for expected in ["192.0.2.7 false -", "127.0.0.1 false -"] {
          try await client.send("GET /facts HTTP/1.1\r\nHost: a\r\n\r\n")
          let facts = try await client.readResponse()
          #expect(facts.text == expected)
          await bench.reload { $0.trusts = { _ in false } }
        }
      }
    }

    @Test("An update of a server that has ended or is ending returns")
    func update() async throws {
      try await Bench.Setup(workers: 2).run { worker, bench in
        let server = bench.server
        let updates = worker.launch { _ in
          for _ in 0..<200 { await server.update { _ in } }
        }
        let cut = await bench.drain(timeout: 1_000)
        #expect(cut == 0)
        try await updates.value
        await server.update { _ in Issue.record("it ran on a loop that has ended") }
      }
    }

    @Test("A connection that is accepted while a server starts is answered, whichever worker gets it")
    func earlyConnections() async throws {
      // The clients know the port before the server does.
      let reserved = try ReservedPort()
      defer { withExtendedLifetime(reserved) {} }
      let address = try #require(Address(literal: "127.0.0.1", port: reserved.number))
      let upstream = ServerLocation.host("127.0.0.1", port: 1)
      let peers = try Worker(index: 0)
      try peers.start(name: "peers")
      let task = await peers.launch { worker in
        let poller = worker.poller
        var answers = 0
        poller.start(
          PeerTask {
            // As soon as the server listens.
            var clients: [Peer] = []
            let waiter = Waiter(poller)
            defer { waiter.cancelDeadline() }
            while clients.count < 20 {
              if let socket = try? await poller.connect(to: address, with: waiter, until: poller.patience) {
                clients.append(Peer(socket, poller))
              } else {
                await poller.pause(1)
              }
            }
            for client in clients {
              try? await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
              if (try? await client.readResponse())?.status == 200 { answers += 1 }
              client.close()
            }
          })
        let server = try await ProxyServer(workers: 2, addresses: [address], threadName: "proxy") { worker in
          // The first worker has time to accept all connections before the second worker exists.
          if worker.index == 1 { ServerLifeTests.pause() }
          return ProxyWorker(
            poller: worker.poller, upstream: upstream, settings: CompiledProxyConfiguration(ProxyConfiguration()),
            handler: TestHandler(), metrics: CountedLimits())
        }
        let deadline = poller.patience
        while answers < 20, poller.now < deadline { await poller.pause(5) }
        #expect(answers == 20)
        _ = await server.drain(delay: 0, timeout: 1_000, clock: poller.waitClock)
      }
      let outcome = await task.result
      await peers.stop()
      try outcome.get()
    }

    private static func pause() {
      _ = usleep(300_000)
    }

    private static func openFiles() throws -> Int { try #require(ProcessFacts.current().openFiles) }

    @Test("A server that runs out of descriptors during its start leaves none open")
    func failedStart() async throws {
      let any = try #require(Address(literal: "127.0.0.1", port: 0))
      var limit = rlimit()
      _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let before = try Self.openFiles()
      var failures = 0
      // Eight listeners and four loops with two descriptors each: the start fails at a different place each time. The
      // limit is the highest number, so it begins at the lowest free one: descriptors of an earlier test may close
      // until then.
      for room in 0..<16 {
        var tight = limit
        tight.rlim_cur = rlim_t(try Self.lowestFreeDescriptor() + room)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &tight)
        let outcome = await Self.start(any)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if let server = outcome {
          _ = await server.drain(delay: 0, timeout: 0, clock: .notAdvancing)
        } else {
          failures += 1
        }
      }
      #expect(failures > 4)
      var left = try Self.openFiles()
      // Threads that have ended release their loops shortly after.
      for _ in 0..<3_000 where left > before {
        usleep(10_000)
        left = try Self.openFiles()
      }
      #expect(left <= before)
    }

    private static func lowestFreeDescriptor() throws -> Int {
      let descriptor = dup(0)
      try #require(descriptor >= 0)
      close(descriptor)
      return Int(descriptor)
    }

    private static func start(_ address: Address) async -> ProxyServer? {
      try? await ProxyServer(workers: 4, addresses: [address, address], threadName: "short") { worker in
        ProxyWorker(
          poller: worker.poller, upstream: .host("127.0.0.1", port: 1),
          settings: CompiledProxyConfiguration(ProxyConfiguration()), handler: TestHandler(), metrics: NoMetrics())
      }
    }
  }
}
