import HTTP2TestSupport
import Reactor
import Synchronization
import Testing
import Time

/// Requests whose routing takes long, as that of a target which an attacker has built.
final class SlowRequests: Sendable {
  static let ofStreams = SlowRequests()
  static let ofConnections = SlowRequests()

  private let count = Atomic<Int>(0)
  /// True once the first request has begun.
  let hasBegun = Atomic<Bool>(false)
  /// True once the first request may end.
  let isReleased = Atomic<Bool>(false)

  /// Blocks the worker for 2 ms, at the first call until `isReleased`. Returns the number of calls so far.
  func next() -> Int {
    let number = count.add(1, ordering: .relaxed).newValue
    hasBegun.store(true, ordering: .releasing)
    let limit = SystemClock.monotonicTime() + 30_000
    while number == 1, !isReleased.load(ordering: .acquiring), SystemClock.monotonicTime() < limit {}
    let end = SystemClock.monotonicTime() + 3
    while SystemClock.monotonicTime() < end {}
    return number
  }
}

extension ProxyTests {
  struct LongTurnTests {
    @Test("A request of another client is served between the expensive requests of an HTTP/2 connection")
    func between() async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let attacker = try await bench.connectHTTP2()
        try await attacker.send(.get(1, "/answer"))
        #expect(try await attacker.answer(1).status == 200)
        let other = try await bench.connect()
        let ids = (0..<60).map { 3 + 2 * $0 }
        // One write, so that all streams begin in one turn.
        try await attacker.peer.send(ids.flatMap { Frame.get($0, "/slow").bytes })
        try await other.send("GET /slow HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        SlowRequests.ofStreams.isReleased.store(true, ordering: .releasing)
        let place = try #require(Int(try await other.readResponse().text))
        #expect(place < 10, "the request was the \(place)th")
        #expect(try await attacker.answers(ids).values.allSatisfy { $0.status == 200 })
      }
    }

    @Test("A small request of another client is served between the long requests of many HTTP/1.1 connections")
    func connections() async throws {
      try await Bench.Setup().run { _, bench in
        let slow = SlowRequests.ofConnections
        let long = "GET /connections/slow?\(String(repeating: "a", count: 1_000)) HTTP/1.1\r\nHost: a\r\n\r\n"
        let first = try await bench.connect()
        var attackers: [Peer] = []
        for _ in 0..<40 { attackers.append(try await bench.connect()) }
        let other = try await bench.connect()
        try await first.send(long)
        let limit = SystemClock.monotonicTime() + 30_000
        while !slow.hasBegun.load(ordering: .acquiring), SystemClock.monotonicTime() < limit { await Task.yield() }
        // The worker is blocked, so all of these are ready in its next turn.
        for attacker in attackers { try await attacker.send(long) }
        try await other.send("GET /connections/slow HTTP/1.1\r\nHost: a\r\n\r\n")
        slow.isReleased.store(true, ordering: .releasing)
        let place = try #require(Int(try await other.readResponse().text))
        #expect(place < 10, "the request was the \(place)th")
        for attacker in [first] + attackers { #expect(try await attacker.readResponse().status == 200) }
      }
    }
  }
}
