import Reactor
import Synchronization

/// Permits each text at most once a minute, so that a frequent event is reported but does not fill the log.
final class RecentTexts: Sendable {
  /// The minimum time between two equal texts, in nanoseconds.
  private static let interval: UInt64 = 60_000_000_000
  /// The maximum number of different texts in a minute. If there are more, they probably have one cause, and the first
  /// texts are enough to find it.
  private static let maximumCount = 64

  /// The time at which each text was last permitted, in nanoseconds of the monotonic clock.
  private let latest = Mutex<[String: UInt64]>([:])

  /// Returns true if the text may be reported now, and remembers the time. Returns false if this text, or the maximum
  /// number of other texts, was permitted within the last minute.
  func admit(_ text: String) -> Bool {
    let now = SystemClock.monotonicNanoseconds()
    return latest.withLock { latest in
      if let last = latest[text], now - last < RecentTexts.interval { return false }
      if latest.count >= RecentTexts.maximumCount { latest = latest.filter { now - $0.value < RecentTexts.interval } }
      guard latest.count < RecentTexts.maximumCount else { return false }
      latest[text] = now
      return true
    }
  }
}
