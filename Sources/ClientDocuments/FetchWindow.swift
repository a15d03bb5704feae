import Time

/// The fetches from one server in the last minute.
///
/// All fetches together are limited, because their server must not be flooded. Unknown documents, whose URLs programs may
/// have invented, have at most half of this limit, so that invented URLs do not keep the other clients of the server from
/// signing in.
struct FetchWindow {
  /// The maximum number of fetches in any 60 seconds.
  static let maximum = 10
  /// The maximum number of these for unknown documents.
  static let maximumUnknown = 5
  /// The time for which a fetch counts: 60 seconds.
  static let period: Milliseconds = 60_000

  private var fetches: [(time: MonotonicTime, isKnown: Bool)] = []

  /// Returns true if half of the limit is used, so that repeated fetches of one document could use up the rest.
  func isHalfUsed(now: MonotonicTime) -> Bool {
    fetches.count { now < $0.time + FetchWindow.period } >= FetchWindow.maximumUnknown
  }

  /// Counts a fetch. Returns false, and counts nothing, if the limit is reached.
  ///
  /// - Parameter isKnown: True if the policy lists the URL itself, or if its document has led to a sign-in.
  mutating func take(isKnown: Bool, now: MonotonicTime) -> Bool {
    fetches.removeAll { $0.time + FetchWindow.period <= now }
    guard fetches.count < FetchWindow.maximum,
      isKnown || fetches.count(where: { !$0.isKnown }) < FetchWindow.maximumUnknown
    else { return false }
    fetches.append((now, isKnown))
    return true
  }
}
