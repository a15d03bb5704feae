import Synchronization
import Testing
import Time

@testable import TLS

@Suite("Session ticket keys")
struct TicketKeyTests {
  private final class SystemClock: Sendable {
    private let time = Mutex<MonotonicTime>(1_000_000)
    var now: MonotonicTime { time.withLock { $0 } }
    func advance(_ by: Seconds) { time.withLock { $0 += Milliseconds(by) } }
  }

  @Test("A key seals for an hour, and then the next one seals")
  func rotation() {
    let clock = SystemClock()
    let keys = TicketKeys { clock.now }
    let first = keys.current().name
    clock.advance(TicketKeys.encryptionPeriod - 1)
    #expect(keys.current().name == first)
    clock.advance(1)
    #expect(keys.current().name != first)
  }

  @Test("A key opens until its last ticket has expired, and meanwhile asks for a new ticket")
  func opening() {
    let clock = SystemClock()
    let keys = TicketKeys { clock.now }
    let name = keys.current().name
    #expect(keys.find(name)?.isCurrent == true)
    clock.advance(TicketKeys.encryptionPeriod)
    #expect(keys.find(name)?.isCurrent == false)
    clock.advance(TicketKeys.sessionLifetime - 1)
    #expect(keys.find(name)?.isCurrent == false)
    clock.advance(1)
    #expect(keys.find(name) == nil)
    #expect(keys.find([UInt8](repeating: 0, count: 16)) == nil)
  }

  @Test("No two keys are equal")
  func distinct() {
    let keys = (0..<10).map { _ in TicketKeys { 0 }.current() }
    #expect(Set(keys.map(\.name)).count == 10)
    #expect(Set(keys.map(\.encryption)).count == 10)
    #expect(Set(keys.map(\.authentication)).count == 10)
  }
}
