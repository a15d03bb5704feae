import Reactor
import Synchronization
public import Time

/// A clock that only a test moves, so that the result of a test does not depend on the speed of the machine.
public final class FixtureClock: Sendable {
  private let shown: Mutex<UnixTime>

  /// Creates a clock that shows the real time of its creation.
  public init() {
    shown = Mutex(SystemClock.unixTime())
  }

  /// The time that the clock shows.
  public var now: UnixTime { shown.withLock { $0 } }

  /// - Parameter step: The step, from the present time of this clock.
  public func advance(by step: Seconds) {
    shown.withLock { $0 = $0 + step }
  }
}
