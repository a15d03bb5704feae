import Reactor
import Synchronization
import Time

/// Permits each text at most once a minute, so that a frequent event is reported but does not fill the log.
final class RecentTexts: Sendable {
  /// The minimum time between two equal texts.
  private static let interval: Milliseconds = 60_000
  /// The maximum number of different texts in a minute. If there are more, they probably have one cause, and the first
  /// texts are enough to find it.
  private static let maximumCount = 64

  /// The time at which each text was last permitted.
  private let latest = Mutex<[String: MonotonicTime]>([:])

  /// Returns true if the text may be reported now, and remembers the time. Returns false if this text, or the maximum
  /// number of other texts, was permitted within the last minute.
  ///
  /// - Parameter clock: Called while no other call can store a time, so that a stored time is never later.
  func admit(_ text: String, clock: () -> MonotonicTime = SystemClock.monotonicTime) -> Bool {
    latest.withLock { latest in
      let now = clock()
      if let last = latest[text], now - last < RecentTexts.interval { return false }
      if latest.count >= RecentTexts.maximumCount { latest = latest.filter { now - $0.value < RecentTexts.interval } }
      guard latest.count < RecentTexts.maximumCount else { return false }
      latest[text] = now
      return true
    }
  }
}
