import Reactor
import Synchronization

/// The real time, which a test can move forward.
public final class FixtureClock: Sendable {
  private let ahead = Mutex<Int64>(0)

  /// Creates a clock that shows the real time.
  public init() {}

  /// Seconds since 1970.
  public var now: Int64 { Int64(SystemClock.realSeconds()) + ahead.withLock { $0 } }

  /// - Parameter seconds: The step, from the present time of this clock.
  public func advance(by seconds: Int64) {
    ahead.withLock { $0 += seconds }
  }
}
