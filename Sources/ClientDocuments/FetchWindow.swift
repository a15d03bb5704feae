import Time

/// The fetches from one server in the last minute.
///
/// All fetches together are limited, because their server must not be flooded. A part of the limit is reserved for
/// documents that the policy lists, and another one for those that have led to a sign-in: anyone can invent the URLs of
/// unknown documents, and everyone with an account at the upstream can sign in with many documents.
struct FetchWindow {
  /// The maximum number of fetches in any 60 seconds.
  static let maximum = 10
  /// The classes of documents. The value of each is the maximum number of fetches for documents of its class and of lower
  /// classes in any 60 seconds.
  enum DocumentClass: Int {
    case unknown = 5
    /// The document has led to a sign-in.
    case known = 8
    /// The policy lists the URL itself, and not only a prefix of it.
    case listed = 10
  }
  /// The time for which a fetch counts: 60 seconds.
  static let period: Milliseconds = 60_000

  private var fetches: [(time: MonotonicTime, documentClass: DocumentClass)] = []

  /// Counts a fetch. Returns false, and counts nothing, if the limit is reached.
  mutating func take(_ documentClass: DocumentClass, now: MonotonicTime) -> Bool {
    fetches.removeAll { $0.time + FetchWindow.period <= now }
    guard fetches.count < FetchWindow.maximum,
      fetches.count(where: { $0.documentClass.rawValue <= documentClass.rawValue }) < documentClass.rawValue
    else { return false }
    fetches.append((now, documentClass))
    return true
  }
}
