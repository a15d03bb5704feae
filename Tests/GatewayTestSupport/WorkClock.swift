import Synchronization
public import Time

/// A monotonic clock that only a test moves. By default all work takes no time.
public final class WorkClock: Sendable {
  private let state = Mutex((now: UInt64(1_000_000_000), step: UInt64(0)))

  /// Creates a clock that does not advance.
  public init() {}

  /// Moves the clock by the step, and returns the time.
  public func read() -> MonotonicInstant {
    state.withLock { state in
      state.now += state.step
      return MonotonicInstant(nanoseconds: state.now)
    }
  }

  /// - Parameter step: The time between two readings from now on: the duration of work that is measured.
  public func setStep(_ step: Nanoseconds) {
    state.withLock { $0.step = step.count }
  }

  /// Moves the clock forward.
  public func advance(by time: Milliseconds) {
    state.withLock { $0.now += UInt64(max(0, time.count)) * 1_000_000 }
  }
}
