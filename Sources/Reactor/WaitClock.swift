import Time

/// The clock of a caller that polls a condition: the time, and a function that pauses.
public struct WaitClock {
  /// The current time.
  public let now: () -> MonotonicTime
  /// Suspends the caller for at least this time.
  public let pause: (Milliseconds) async -> Void

  /// Creates a clock from its two functions.
  public init(now: @escaping () -> MonotonicTime, pause: @escaping (Milliseconds) async -> Void) {
    self.now = now
    self.pause = pause
  }

  /// A clock that does not advance, for a shutdown that waits for nothing (all limits are 0).
  public static var notAdvancing: WaitClock { WaitClock(now: { 0 }, pause: { _ in }) }

  /// Waits until `isDone` returns true, checking after every `step`. Returns false if the time `limit` passes first.
  ///
  /// The limit is measured by the clock, not by the number of pauses: a pause takes longer than requested, because
  /// deadlines are rounded up to slots of the timer wheel.
  public func wait(until isDone: () -> Bool, atMost limit: Milliseconds, step: Milliseconds) async -> Bool {
    let end = now() + max(0, limit)
    while !isDone() {
      let now = now()
      guard now < end else { return false }
      await pause(min(step, end - now))
    }
    return true
  }
}

extension Poller {
  /// The monotonic clock, with pauses on this poller's worker.
  public var waitClock: WaitClock {
    WaitClock(now: SystemClock.monotonicTime, pause: { await self.pause($0) })
  }
}
