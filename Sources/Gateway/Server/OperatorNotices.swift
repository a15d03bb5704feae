import Reactor

/// Shows messages of the workers to the operator. Each text is shown at most once a minute, however often its cause
/// occurs.
final class OperatorNotices: Sendable {
  private let write: @Sendable (String) -> Void
  private let recent = RecentTexts()

  /// - Parameter show: Shows a message to the operator. The closure may block, so it runs on a separate thread.
  init(_ show: @escaping @Sendable (String) -> Void) {
    write = show
  }

  /// Shows the text. Returns false, and shows nothing, if the same text or too many other texts were shown within the
  /// last minute.
  @discardableResult
  func report(_ text: String) -> Bool {
    guard recent.admit(text) else { return false }
    show(text)
    return true
  }

  /// Shows the text, whose rate the caller limits.
  func show(_ text: String) {
    let write = write
    // A worker must not wait for the reader of the notices. If no thread can be started, the notice is lost.
    try? OSThread.start("notice") { write(text) }
  }
}
