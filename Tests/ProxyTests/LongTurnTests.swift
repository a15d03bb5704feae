import HTTP2TestSupport
import Reactor
import Synchronization
import Testing
import Time

/// Requests whose routing takes long, as that of a target which an attacker has built.
enum SlowRequests {
  private static let count = Atomic<Int>(0)
  /// True once the first request may end.
  static let isReleased = Atomic<Bool>(false)

  /// Blocks the worker for 2 ms, at the first call until `isReleased`. Returns the number of calls so far.
  static func next() -> Int {
    let number = count.add(1, ordering: .relaxed).newValue
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
        SlowRequests.isReleased.store(true, ordering: .releasing)
        let place = try #require(Int(try await other.readResponse().text))
        #expect(place < 10, "the request was the \(place)th")
        #expect(try await attacker.answers(ids).values.allSatisfy { $0.status == 200 })
      }
    }
  }
}
