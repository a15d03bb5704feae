import Synchronization
import Testing

@testable import TLS

@Suite("Session ticket keys")
struct TicketKeyTests {
  private final class Clock: Sendable {
    private let seconds = Mutex<Int64>(1_000)
    var now: Int64 { seconds.withLock { $0 } }
    func advance(_ by: Int64) { seconds.withLock { $0 += by } }
  }

  @Test("A key seals for its hour and the next one takes over")
  func rotation() {
    let clock = Clock()
    let keys = TicketKeys { clock.now }
    let first = keys.current().name
    clock.advance(TicketKeys.sealing - 1)
    #expect(keys.current().name == first)
    clock.advance(1)
    #expect(keys.current().name != first)
  }

  @Test("A key opens until the last ticket that it sealed is over, and asks for a new ticket meanwhile")
  func opening() {
    let clock = Clock()
    let keys = TicketKeys { clock.now }
    let name = keys.current().name
    #expect(keys.find(name)?.isCurrent == true)
    clock.advance(TicketKeys.sealing)
    #expect(keys.find(name)?.isCurrent == false)
    clock.advance(TicketKeys.lifetime - 1)
    #expect(keys.find(name)?.isCurrent == false)
    clock.advance(1)
    #expect(keys.find(name) == nil)
    #expect(keys.find([UInt8](repeating: 0, count: 16)) == nil)
  }

  @Test("No two keys are alike")
  func distinct() {
    let keys = (0..<10).map { _ in TicketKeys { 0 }.current() }
    #expect(Set(keys.map(\.name)).count == 10)
    #expect(Set(keys.map(\.encryption)).count == 10)
    #expect(Set(keys.map(\.authentication)).count == 10)
  }
}
