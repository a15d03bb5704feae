import Glibc
import HTTP2TestSupport
import Proxy
import Reactor
import Synchronization
import Testing
import Time

extension ProxyTests {
  struct AbandonmentTests {
    /// Answers every request at once, except `/held` and `/outbound`, which wait until the test releases them.
    static let holding: ScriptedUpstream.Script = { upstream, peer in
      while true {
        let request = try await upstream.read(peer)
        let isHeld = request.target == "/held" || request.target == "/outbound"
        while isHeld, peer.ending == nil, !upstream.notes.contains("released") {
          try await upstream.pause(peer)
          if !peer.socket.isOpen { return }
          if peer.socket.satisfies(.readable) { _ = try await peer.receive() }
        }
        if peer.ending != nil { upstream.notes.append("abandoned \(request.method)") }
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        upstream.answered += 1
      }
    }

    @Test("A client that leaves the queue for a connection gives its place to the next client")
    func queue() async throws {
      try await Bench.Setup(
        upstream: AbandonmentTests.holding,
        configure: {
          $0.upstreamConnections = 1
          $0.queueTimeout = 60_000
        }
      ).run { _, bench in
        let held = try await bench.connect()
        try await held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        for target in ["/queued", "/intercept/collect"] {
          let gone = try await bench.connect()
          try await gone.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
          await bench.eventually("it is there") { bench.server.connections == 2 }
          gone.reset()
          await bench.eventually("it is gone") { bench.server.connections == 1 }
        }
        let next = try await bench.connect()
        try await next.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        bench.upstream.notes = ["released"]
        let first = try await held.readResponse()
        let second = try await next.readResponse()
        #expect(first.text == "ok" && second.text == "ok")
        #expect(bench.upstream.requests.map(\.target) == ["/held", "/next"])
      }
    }

    @Test("A request whose client leaves without a response is counted once, over HTTP/1.1 and HTTP/2")
    func counted() async throws {
      try await HTTP2Tests.setup(AbandonmentTests.holding).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        client.reset()
        await bench.eventually("it is counted") { await bench.statuses() == [0] }
        let streams = try await bench.connectHTTP2()
        try await streams.send(.get(1, "/held"))
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 2 }
        try await streams.send(.reset(1))
        await bench.eventually("it is counted") { await bench.statuses() == [0, 0] }
        try await streams.send(.get(3, "/answer"))
        _ = try await streams.answer(3)
        await bench.eventually("the next one too") { await bench.statuses() == [0, 0, 200] }
      }
    }

    @Test("A client that leaves cancels a safe request of the handler, and not one that may change something")
    func handlers() async throws {
      try await Bench.Setup(upstream: AbandonmentTests.holding).run { _, bench in
        let reader = try await bench.connect()
        try await reader.send("GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        reader.reset()
        await bench.eventually("its connection is closed") { await bench.counters().open == 0 }
        await bench.eventually("the upstream sees it") { bench.upstream.notes == ["abandoned GET"] }
        let writer = try await bench.connect()
        try await writer.send("POST /intercept/post HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 2 }
        writer.reset()
        await bench.poller.pause(50)
        let during = await bench.counters()
        #expect(during.open == 1)
        bench.upstream.notes = ["released"]
        await bench.eventually("its answer was read") { await bench.counters().idle == 1 }
      }
    }

    @Test("A reset of a stream whose response waits to be sent with others does not affect the others")
    func resetAmongOthers() async throws {
      try await HTTP2Tests.setup(AbandonmentTests.holding).run { _, bench in
        let client = try await bench.connectHTTP2()
        let streams = [1, 3, 5, 7]
        for stream in streams { try await client.send(.get(stream, "/intercept/collect")) }
        await bench.eventually("all are upstream") { bench.upstream.requests.count == streams.count }
        let brake = await bench.brake()
        // All events during the brake belong to one turn: first the responses, then the reset of one stream.
        bench.upstream.notes = ["released"]
        await bench.eventually("the upstream has answered") { bench.upstream.answered == streams.count }
        try await client.send(.reset(3))
        await brake.release()
        let answers = try await client.answers([1, 5, 7])
        for stream in [1, 5, 7] { #expect(answers[stream]?.text == "ok") }
      }
    }

    /// A name server that answers when the test gives it an address.
    private final class NameServer: Sendable {
      let answer = Mutex<Address?>(nil)

      func ask(_ host: String, _ port: Int) -> Result<[Address], ResolveError> {
        for _ in 0..<3_000 {
          if let address = answer.withLock({ $0 }) { return .success([address]) }
          usleep(10_000)
        }
        return .failure(ResolveError(host: host, reason: "nobody answers"))
      }
    }

    @Test(
      "The look-up of the upstream's name counts towards the connect timeout, and its result serves the next request")
    func nameLookUp() async throws {
      let names = NameServer()
      try await Bench.Setup(
        name: ("upstream.test", { names.ask($0, $1) }), configure: { $0.connectTimeout = 100 }
      ).run { _, bench in
        for target in ["/", "/intercept/collect"] {
          let response = try await bench.get(target)
          #expect(response.status == 504)
        }
        let gone = try await bench.connect()
        try await gone.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        gone.reset()
        await bench.eventually("it is gone") { bench.server.connections == 0 }
        let counters = await bench.counters()
        #expect(counters.open == 0)
        names.answer.withLock { $0 = bench.upstream.address }
        await bench.eventually("it is reached") { (try? await bench.get("/").status) == 200 }
      }
    }
  }
}
