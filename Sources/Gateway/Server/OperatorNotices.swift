import Reactor

/// Messages of the workers to the operator: each text at most once a minute, regardless of how often its cause occurs.
final class OperatorNotices: Sendable {
  private let tell: @Sendable (String) -> Void
  private let recent = RecentTexts()

  /// - Parameter tell: Shows a message to the operator. It may block, so it runs on a separate thread.
  init(_ tell: @escaping @Sendable (String) -> Void) {
    self.tell = tell
  }

  /// Shows the text. Returns false, without an effect, if the same text was shown within the last minute.
  @discardableResult
  func report(_ text: String) -> Bool {
    guard recent.isDue(text) else { return false }
    let tell = tell
    // A worker must not wait for the reader of the notices. If no thread can be started, the notice is lost.
    try? Thread.start("notice") { tell(text) }
    return true
  }
}
