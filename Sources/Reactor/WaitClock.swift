/// The clock of a caller that waits by looking again and again: the time, and a way to pause.
public struct WaitClock {
  /// Monotonic milliseconds.
  public let now: () -> UInt64
  public let pause: (_ milliseconds: Int) async -> Void

  public init(now: @escaping () -> UInt64, pause: @escaping (_ milliseconds: Int) async -> Void) {
    self.now = now
    self.pause = pause
  }

  /// A clock that does not move, for an end that waits for nothing.
  public static var still: WaitClock { WaitClock(now: { 0 }, pause: { _ in }) }

  /// Waits until `isDone`, and looks every `step` milliseconds. Returns false if `limit` milliseconds pass before that.
  ///
  /// By the clock and not by the number of pauses: a pause takes longer than asked, because deadlines are kept in slots.
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
    WaitClock(now: { Clock.monotonicNanoseconds() / 1_000_000 }, pause: { await self.pause($0) })
  }
}
