import Reactor
import Synchronization

/// Lets each text through at most once a minute, so that a frequent cause is reported but does not fill the log.
final class RecentTexts: Sendable {
  private static let pause: UInt64 = 60_000_000_000
  /// The largest number of different texts in a minute. More of them have one cause, for which these lines are enough.
  private static let limit = 64

  private let latest = Mutex<[String: UInt64]>([:])

  /// Returns true if the text was not let through in the last minute.
  func isDue(_ text: String) -> Bool {
    let now = Clock.monotonicNanoseconds()
    return latest.withLock { latest in
      if let last = latest[text], now - last < RecentTexts.pause { return false }
      if latest.count >= RecentTexts.limit { latest = latest.filter { now - $0.value < RecentTexts.pause } }
      guard latest.count < RecentTexts.limit else { return false }
      latest[text] = now
      return true
    }
  }
}
