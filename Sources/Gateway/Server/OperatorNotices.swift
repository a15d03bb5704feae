import Reactor

/// Messages of the workers to the operator: each text at most once a minute, however often its cause occurs.
final class OperatorNotices: Sendable {
  private let tell: @Sendable (String) -> Void
  private let recent = RecentTexts()

  /// - Parameter tell: may block: it runs on a thread of its own.
  init(_ tell: @escaping @Sendable (String) -> Void) {
    self.tell = tell
  }

  /// Returns false if the same text was given within the last minute.
  @discardableResult
  func report(_ text: String) -> Bool {
    guard recent.isDue(text) else { return false }
    let tell = tell
    // A worker must not wait for the reader of the notices. Without a thread there is no reader.
    try? Thread.start("notice") { tell(text) }
    return true
  }
}
