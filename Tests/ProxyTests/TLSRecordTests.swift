import Proxy
import Reactor
import TLSTestSupport
import Telemetry
import Testing
import Time

@testable import TLS

/// Clients that send TLS records without application data.
extension ProxyTests {
  struct TLSRecordTests {
    private static func bench(
      _ configure: @escaping @Sendable (inout ProxyConfiguration) -> Void = { _ in }
    ) throws
      -> Bench.Setup
    {
      let server = try TestCertificates.server()
      return Bench.Setup(configure: {
        $0.listenerTLS = [server]
        configure(&$0)
      })
    }

    private static func updateKeys(_ client: Peer, times count: Int = 1) throws {
      let layer = try #require(client.socket.layer as? TLSLayer)
      for _ in 0..<count { #expect(layer.updateKeys()) }
    }

    /// A client of the scripted upstream, which is the server in this test.
    private static func connect(
      to upstream: ScriptedUpstream, _ tls: TLSClient, _ poller: Poller
    ) async throws -> Peer {
      let waiter = Waiter(poller)
      defer { waiter.cancelDeadline() }
      let socket = try await poller.connect(to: upstream.address, with: waiter, until: poller.patience)
      try await tls.connect(socket, with: waiter, gate: HandshakeGate(poller), until: poller.patience)
      return Peer(socket, poller)
    }

    @Test("A client that sends 33 KeyUpdates in a row loses its connection, and it is counted")
    func flood() async throws {
      let tls = try TestCertificates.client()
      try await Self.bench().run { _, bench in
        let client = try await bench.connect(tls)
        try Self.updateKeys(client, times: 33)
        #expect(try await client.waitForEnd() == .reset)
        let count = await bench.count(.keyUpdates)
        #expect(count == 1)
      }
    }

    @Test("A client that sends 32 KeyUpdates before each request is answered")
    func withinLimit() async throws {
      let tls = try TestCertificates.client()
      try await Self.bench().run { _, bench in
        let client = try await bench.connect(tls)
        for round in 0..<4 {
          try Self.updateKeys(client, times: 32)
          try await client.send("GET /\(round) HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
          #expect(try await client.readResponse().text == "/\(round)")
        }
        let count = await bench.count(.keyUpdates)
        #expect(count == 0)
      }
    }

    @Test("One turn of the loop reads 64 records of a connection, and the next turn continues without an event")
    func share() async throws {
      let server = try TestCertificates.server()
      let tls = try TestCertificates.client()
      // The scripted upstream is the server in this test: its reads are counted.
      var setup = Bench.Setup(upstream: { upstream, peer in
        let buffer = try #require(peer.poller.buffers.take())
        defer { peer.poller.buffers.giveBack(buffer) }
        let first = try await peer.take(count: 1)
        #expect(first == [0])
        var turns: [Int] = []
        while turns.reduce(0, +) < 20 {
          await peer.poller.pause(1)
          var count = 0
          while case .moved(let moved) = peer.socket.receive(into: buffer) { count += moved }
          #expect(!peer.socket.satisfies(.readable))
          turns.append(count)
        }
        // 10 KeyUpdates precede each byte.
        upstream.notes = turns.map(String.init)
      })
      setup.upstreamTLS = server
      try await setup.run { worker, bench in
        let client = try await Self.connect(to: bench.upstream, tls, worker.poller)
        defer { client.close() }
        // In one turn, so that the kernel has all bytes when the server reads.
        for byte in UInt8(0)...20 {
          try Self.updateKeys(client, times: 10)
          try await client.send([byte])
        }
        await bench.eventually("all was read") { !bench.upstream.notes.isEmpty }
        let turns = bench.upstream.notes.compactMap { Int($0) }
        #expect(turns.reduce(0, +) == 20)
        // A row is 10 KeyUpdates and a byte. A turn ends at the end of the row in which it has read 64 records: after 6
        // rows, or after 7 if it began in the middle of a row, because the kernel did not have all bytes before.
        #expect(turns.allSatisfy { $0 <= 7 }, "\(turns)")
        #expect(turns.count > 2)
      }
    }

    @Test("Bytes that arrive while a record is taken in two parts are received without a further event")
    func arrivalBetweenParts() async throws {
      let tls = try TestCertificates.client()
      var setup = Bench.Setup(upstream: { upstream, peer in
        let buffer = try #require(peer.poller.buffers.take())
        defer { peer.poller.buffers.giveBack(buffer) }
        let waiter = Waiter(peer.poller)
        defer { waiter.cancelDeadline() }
        // The buffer has room for 100 bytes of the first record.
        buffer.append([UInt8](repeating: 0, count: buffer.receiveRoom - 100))
        var first = Transfer.wouldBlock
        while first == .wouldBlock {
          await peer.poller.pause(1)
          first = peer.socket.receive(into: buffer)
        }
        #expect(first == .moved(100))
        upstream.notes = ["part"]
        while upstream.notes == ["part"] { await peer.poller.pause(1) }
        // The kernel reports the second record in the next turn.
        await peer.poller.pause(1)
        buffer.clear()
        #expect(peer.socket.receive(into: buffer) == .moved(900))
        #expect(await waiter.wait(peer.socket, .readable, until: peer.poller.patience) == .ready)
        #expect(peer.socket.receive(into: buffer) == .moved(1_000))
        upstream.notes.append("all")
      })
      setup.upstreamTLS = try TestCertificates.server()
      try await setup.run { worker, bench in
        let client = try await Self.connect(to: bench.upstream, tls, worker.poller)
        defer { client.close() }
        try await client.send(Array(repeating: 1, count: 1_000))
        await bench.eventually("a part was read") { bench.upstream.notes == ["part"] }
        try await client.send(Array(repeating: 2, count: 1_000))
        bench.upstream.notes.append("sent")
        await bench.eventually("all was read") { bench.upstream.notes.last == "all" }
      }
    }

    @Test("A read handles at most one KeyUpdate above the limit, however many the kernel has")
    func read() async throws {
      var setup = Bench.Setup(upstream: { upstream, peer in
        let layer = try #require(peer.socket.layer as? TLSLayer)
        let buffer = try #require(peer.poller.buffers.take())
        defer { peer.poller.buffers.giveBack(buffer) }
        while layer.budget.recordsWithoutData == 0 {
          await peer.poller.pause(1)
          if case .failed = peer.socket.receive(into: buffer) { break }
        }
        upstream.notes = ["\(layer.budget.recordsWithoutData)"]
      })
      setup.upstreamTLS = try TestCertificates.server()
      let tls = try TestCertificates.client()
      try await setup.run { worker, bench in
        let client = try await Self.connect(to: bench.upstream, tls, worker.poller)
        defer { client.close() }
        try Self.updateKeys(client, times: 200)
        await bench.eventually("they were read") { !bench.upstream.notes.isEmpty }
        #expect(bench.upstream.notes == ["33"])
      }
    }

    @Test("KeyUpdates do not renew the deadline of a head")
    func headDeadline() async throws {
      let tls = try TestCertificates.client()
      try await Self.bench { $0.headerTimeout = 300 }.run { _, bench in
        let client = try await bench.connect(tls)
        // Fewer than the limit, and for longer than the deadline.
        for _ in 0..<30 where await bench.count(.headerTimeout) == 0 {
          _ = (client.socket.layer as? TLSLayer)?.updateKeys()
          await bench.poller.pause(100)
        }
        let counts = (await bench.count(.headerTimeout), await bench.count(.keyUpdates))
        #expect(counts == (1, 0))
      }
    }

    @Test(
      "KeyUpdates do not renew the deadline of an idle connection, whether or not it is parked",
      arguments: [300, 1_600] as [Milliseconds])
    func idleDeadline(timeout: Milliseconds) async throws {
      let tls = try TestCertificates.client()
      try await Self.bench { $0.idleTimeout = timeout }.run { _, bench in
        let client = try await bench.connect(tls)
        try await client.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        _ = try await client.readResponse()
        for _ in 0..<30 where await bench.count(.idleTimeout) == 0 {
          _ = (client.socket.layer as? TLSLayer)?.updateKeys()
          await bench.poller.pause(timeout / 4)
        }
        let counts = (await bench.count(.idleTimeout), await bench.count(.keyUpdates))
        #expect(counts == (1, 0))
      }
    }
  }
}
