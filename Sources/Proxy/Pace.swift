/// The rate at which a client takes or gives bytes, over the time in which the gateway waited for nothing else.
///
/// A client that sends or reads a few bytes now and then makes progress for ever, and holds an upstream connection and
/// buffers all the while. So progress is measured against a rate, over windows that are long enough for a link to stall
/// and recover.
struct Pace {
  /// Milliseconds of waiting in this window.
  private var waited: UInt64 = 0
  /// The bytes that had moved when the window began; `nil` before the first.
  private var before: Int?

  /// A wait begins. Bytes that moved before the first wait, such as the rest of an earlier answer, do not count.
  mutating func begin(moved: () -> Int) {
    if before == nil { before = moved() }
  }

  /// Milliseconds of waiting that are left in this window.
  func left(window: Int) -> Int {
    max(0, window - Int(clamping: waited))
  }

  /// Counts a wait. False when a window has ended in which the client was too slow.
  ///
  /// - Parameters:
  ///   - rate: Bytes a second.
  ///   - window: Milliseconds.
  ///   - moved: Bytes that have moved in all; called only at the end of a window.
  mutating func keeps(_ rate: Int, window: Int, waited milliseconds: UInt64, moved: () -> Int) -> Bool {
    waited += milliseconds
    guard waited >= UInt64(window) else { return true }
    let moved = moved()
    let expected = rate * Int(clamping: waited) / 1_000
    let isFast = moved - (before ?? 0) >= expected
    before = moved
    waited = 0
    return isFast
  }
}
