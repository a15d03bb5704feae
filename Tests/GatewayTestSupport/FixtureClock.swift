import Reactor
import Synchronization
public import Time

/// The real time, which a test can move forward.
public final class FixtureClock: Sendable {
  private let ahead = Mutex<Seconds>(0)

  /// Creates a clock that shows the real time.
  public init() {}

  /// The time that the clock shows.
  public var now: UnixTime { SystemClock.unixTime() + ahead.withLock { $0 } }

  /// - Parameter step: The step, from the present time of this clock.
  public func advance(by step: Seconds) {
    ahead.withLock { $0 = $0 + step }
  }
}
