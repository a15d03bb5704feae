import Testing
import Time

@testable import Gateway

@Suite("The pauses of a request that waits for another one")
struct ProgressWaitTests {
  @Test("The store is asked again after 20, 50, 100, 100 ms, and not after ten seconds")
  func pauses() {
    var wait = ProgressWait(now: 1_000)
    #expect(!wait.hasBegun)
    #expect((0..<4).map { _ in wait.nextPause(now: 1_000) } == [20, 50, 100, 100])
    #expect(wait.hasBegun)
    #expect(wait.nextPause(now: 10_999) == 100)
    #expect(wait.nextPause(now: 11_000) == nil)
  }
}
