import Reactor
import Synchronization

/// What workers have to tell the operator: each text at most once a minute, however often its cause occurs.
final class OperatorNotices: Sendable {
  private static let pause: UInt64 = 60_000_000_000
  /// More different texts than that have one cause, and one line of it is enough.
  private static let limit = 64

  private let tell: @Sendable (String) -> Void
  private let latest = Mutex<[String: UInt64]>([:])

  /// - Parameter tell: may block: it runs on a thread of its own.
  init(_ tell: @escaping @Sendable (String) -> Void) {
    self.tell = tell
  }

  /// Returns false if the same text was told a moment ago.
  @discardableResult
  func report(_ text: String) -> Bool {
    let now = Clock.monotonicNanoseconds()
    let isNew = latest.withLock { latest in
      if let last = latest[text], now - last < OperatorNotices.pause { return false }
      if latest.count >= OperatorNotices.limit { latest = latest.filter { now - $0.value < OperatorNotices.pause } }
      guard latest.count < OperatorNotices.limit else { return false }
      latest[text] = now
      return true
    }
    guard isNew else { return false }
    let tell = tell
    // A worker must not wait for whoever reads the notices. Without a thread there is nobody to tell.
    try? Thread.start("notice") { tell(text) }
    return true
  }
}
