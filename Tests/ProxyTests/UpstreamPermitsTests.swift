import HTTP2
import HTTP2TestSupport
import Reactor
import Synchronization
import Telemetry
import Testing
import Time

@testable import Proxy

@Suite("Upstream connections of several workers")
struct UpstreamPermitsTests {
  /// Answers each request; one for `/held` only after the note "released". Notes each connection's end.
  private static let holding: ScriptedUpstream.Script = { upstream, peer in
    defer { upstream.notes.append("closed") }
    while true {
      let request = try await upstream.read(peer)
      while request.target == "/held", !upstream.notes.contains("released") { try await upstream.pause(peer) }
      upstream.answered += 1
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }
  }

  private static func open(_ bench: Bench) -> Int {
    bench.upstream.connections - bench.upstream.notes.count { $0 == "closed" }
  }

  private static func setup(_ maximum: Int, reserved: Int = 0) -> Bench.Setup {
    Bench.Setup(
      workers: 4, upstream: holding,
      configure: {
        $0.http2 = HTTP2Limits()
        $0.upstreamConnections = maximum
        $0.limits.reservedUpstreamConnections = reserved
        $0.queueTimeout = 60_000
      })
  }

  @Test("Four workers with a maximum of two open two connections, and serve all requests of all clients")
  func fewerPlacesThanWorkers() async throws {
    try await Self.setup(2).run { _, bench in
      var clients: [Peer] = []
      for _ in 0..<24 { clients.append(try await bench.connect()) }
      var most = 0
      for round in 1...5 {
        for client in clients { try await client.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n") }
        for client in clients {
          #expect(try await client.readResponse().status == 200)
          most = max(most, Self.open(bench))
        }
        #expect(bench.upstream.answered == round * clients.count)
      }
      // A place moves only after its connection was closed, but the upstream may learn of the end a little later.
      await bench.eventually("two are open") { Self.open(bench) <= 2 }
      #expect(most >= 1)
      #expect(await bench.counters().open <= 2)
      #expect(await bench.count(.upstreamConnections) == 0)
    }
  }

  @Test("The clients of one worker use all places, and those of another worker then get the idle ones")
  func placesMove() async throws {
    try await Self.setup(6).run { _, bench in
      // Each connection is served by one worker, and the kernel distributes them: with six, several workers have one.
      for round in 0..<6 {
        bench.upstream.notes.removeAll { $0 == "released" }
        let before = bench.upstream.requests.count
        let client = try await bench.connectHTTP2()
        let streams = (0..<6).map { 2 * $0 + 1 }
        for stream in streams { try await client.send(.get(stream, "/held")) }
        await bench.eventually("all are upstream in round \(round)") { bench.upstream.requests.count == before + 6 }
        #expect(await bench.counters().open == 6)
        bench.upstream.notes.append("released")
        let answers = try await client.answers(streams)
        #expect(answers.values.allSatisfy { $0.status == 200 })
      }
    }
  }

  @Test("Passing requests of all workers leave the reserved connections free")
  func reserve() async throws {
    try await Self.setup(6, reserved: 2).run { _, bench in
      var clients: [FrameClient] = []
      for _ in 0..<4 { clients.append(try await bench.connectHTTP2()) }
      for client in clients {
        for stream in [1, 3, 5] { try await client.send(.get(stream, "/held")) }
      }
      await bench.eventually("four are upstream") { bench.upstream.requests.count >= 4 }
      for _ in 0..<4 {
        let own = try await bench.get("/intercept/collect")
        #expect(own.status == 200)
      }
      #expect(bench.upstream.requests.count { $0.target == "/held" } == 4)
      bench.upstream.notes.append("released")
      for client in clients {
        let answers = try await client.answers([1, 3, 5])
        #expect(answers.values.allSatisfy { $0.status == 200 })
      }
    }
  }

  @Test("A place moves on when the waiting client goes away", arguments: [1, 2])
  func leavingClient(maximum: Int) async throws {
    try await Self.setup(maximum).run { _, bench in
      let holder = try await bench.connectHTTP2()
      let streams = (0..<maximum).map { 2 * $0 + 1 }
      for stream in streams { try await holder.send(.get(stream, "/held")) }
      await bench.eventually("all places are taken") { bench.upstream.requests.count == maximum }
      var leaving: [Peer] = []
      for _ in 0..<8 {
        let client = try await bench.connect()
        try await client.send("GET /gone HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        leaving.append(client)
      }
      let staying = try await bench.connect()
      try await staying.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
      for client in leaving { client.close() }
      bench.upstream.notes.append("released")
      #expect(try await staying.readResponse().status == 200)
      #expect(try await holder.answers(streams).count == maximum)
    }
  }

  @Test("Of workers with waiting requests, the one with clearly fewer connections is next, and intercepted ones first")
  func order() {
    let notified = Mutex<[Int]>([])
    let permits = UpstreamPermits(workers: 3)
    let members = (0..<3).map { index in permits.join { notified.withLock { $0.append(index) } } }
    func take(_ member: Int, _ count: Int) {
      for _ in 0..<count { #expect(members[member].takePlace(of: 10, limitInUse: 10)) }
    }
    take(0, 5)
    take(1, 4)
    take(2, 1)
    #expect(!members[2].takePlace(of: 10, limitInUse: 10))
    members[0].beginWaiting(isReserved: false)
    #expect(notified.withLock { $0 } == [1, 2])
    #expect(members[1].othersWait && !members[0].othersWait)
    for member in members { member.acknowledge() }
    members[1].beginWaiting(isReserved: false)
    for member in members { member.acknowledge() }
    // 4 against 5: a move would not make them more equal.
    #expect(members[0].next(hasConnection: true) == nil)
    members[2].beginWaiting(isReserved: false)
    for member in members { member.acknowledge() }
    notified.withLock { $0 = [] }
    members[0].next(hasConnection: true)?.send()
    #expect(notified.withLock { $0 } == [2])
    members[2].endWaiting(isReserved: false)
    // An intercepted request of a worker with many connections is before passing ones.
    members[0].beginWaiting(isReserved: true)
    for member in members { member.acknowledge() }
    notified.withLock { $0 = [] }
    members[1].next(hasConnection: true)?.send()
    #expect(notified.withLock { $0 } == [0])
    // A second notification is not sent before the first was handled.
    members[1].next(hasConnection: true)?.send()
    #expect(notified.withLock { $0 } == [0])
  }
}
