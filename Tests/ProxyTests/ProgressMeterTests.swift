import Testing
import Time

@testable import Proxy

@Suite("The progress of a client whose bytes are counted in steps")
struct ProgressMeterTests {
  private static let unit = 48 * 1024

  /// Runs a client that receives `rate` bytes per second of those that wait for it. The kernel counts them in packets.
  /// Returns the time, in milliseconds, after which the client is too late, and the limit; `nil` if it never is.
  private static func run(
    rate: Int, packet: Int, minimum: Int, unit: Int = unit
  ) -> (time: Int, limit: ExchangeState.Limit)? {
    let limits = ProgressMeter.Limits(timeout: 60_000, rate: minimum, window: 20_000)
    var meter = ProgressMeter()
    var now: MonotonicTime = 0
    func count() -> Int { Int(now.milliseconds) * rate / 1_000 / packet * packet }
    while now < 1_000_000 {
      meter.update(isAwaited: true, now: now, count: count)
      let next = meter.beginWait(limits, isAwaited: true, now: now)
      #expect(next > now)
      now = next
      let time = Int(now.milliseconds)
      if meter.isTooSlow(limits, now: now, count: count, unit: { unit }) { return (time, .rate) }
      if meter.hasStalled(limits, now: now, count: count, unit: { unit }) { return (time, .stall) }
    }
    return nil
  }

  @Test("A client at the minimum rate is never late, whatever the size of the packets")
  func slow() {
    for packet in [1, 768, 16_384, 36_608] {
      for rate in [500, 600, 5_000] {
        #expect(Self.run(rate: rate, packet: packet, minimum: 500) == nil, "\(rate) a second in \(packet)")
      }
    }
    // Without steps the same client would be late, because none of its packets is complete in the first window.
    #expect(Self.run(rate: 500, packet: 16_384, minimum: 500, unit: 0)?.limit == .rate)
  }

  @Test("A client that is slower than the minimum rate is late, and one that receives nothing soon is")
  func late() {
    #expect(Self.run(rate: 0, packet: 1, minimum: 500)?.time == 100_000)
    #expect(Self.run(rate: 0, packet: 1, minimum: 500)?.limit == .rate)
    #expect(Self.run(rate: 200, packet: 16_384, minimum: 500)?.limit == .rate)
    let unlimited = Self.run(rate: 0, packet: 1, minimum: 0)
    #expect(unlimited?.limit == .stall)
    #expect(unlimited?.time == 60_000)
  }
}
