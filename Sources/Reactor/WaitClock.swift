/// The clock of a caller that polls a condition: the time, and a function that pauses.
public struct WaitClock {
  /// The current time in monotonic milliseconds.
  public let now: () -> UInt64
  /// Suspends the caller for at least this time.
  public let pause: (_ milliseconds: Int) async -> Void

  /// Creates a clock from its two functions.
  public init(now: @escaping () -> UInt64, pause: @escaping (_ milliseconds: Int) async -> Void) {
    self.now = now
    self.pause = pause
  }

  /// A clock that does not advance, for a shutdown that waits for nothing (all limits are 0).
  public static var still: WaitClock { WaitClock(now: { 0 }, pause: { _ in }) }

  /// Waits until `isDone` returns true, checking every `step` milliseconds. Returns false if `limit` milliseconds pass
  /// first.
  ///
  /// The limit is measured by the clock, not by the number of pauses: a pause takes longer than requested, because
  /// deadlines are rounded up to slots.
  public func wait(until isDone: () -> Bool, atMost limit: Int, step: Int) async -> Bool {
    let end = now() + UInt64(max(0, limit))
    while !isDone() {
      let now = now()
      guard now < end else { return false }
      await pause(min(step, Int(end - now)))
    }
    return true
  }
}

extension Poller {
  /// The monotonic clock, with pauses on this poller's worker.
  public var waitClock: WaitClock {
    WaitClock(now: SystemClock.monotonicMilliseconds, pause: { await self.pause($0) })
  }
}
