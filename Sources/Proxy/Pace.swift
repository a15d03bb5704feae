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
  func left(_ limits: ProxyLimits) -> Int {
    max(0, limits.rateWindow - Int(clamping: waited))
  }

  /// Counts a wait. False when a window has ended in which the client was too slow.
  ///
  /// - Parameter moved: bytes that have moved in all; asked for at a window's end only.
  mutating func keeps(_ limits: ProxyLimits, waited milliseconds: UInt64, moved: () -> Int) -> Bool {
    waited += milliseconds
    guard waited >= UInt64(limits.rateWindow) else { return true }
    let moved = moved()
    let expected = limits.minimumRate * Int(clamping: waited) / 1_000
    let isFast = moved - (before ?? 0) >= expected
    before = moved
    waited = 0
    return isFast
  }
}
