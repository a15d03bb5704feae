import Time

/// Measures the rate at which a client reads or sends bytes, but only while the gateway waits for this client alone.
///
/// A client that reads or sends only a few bytes from time to time could make progress forever, and hold an upstream
/// connection and buffers meanwhile. So progress is compared with a minimum rate, over windows that are long enough for
/// a link to stall and recover.
struct MinimumRateMeter {
  /// The time that was spent waiting in this window.
  private var waited: Milliseconds = 0
  /// The total number of bytes moved when the window began; `nil` before the first wait.
  private var movedBefore: Int?

  /// Starts a wait. Bytes that moved before the first wait, such as the rest of an earlier response, do not count.
  mutating func begin(moved: () -> Int) {
    if movedBefore == nil { movedBefore = moved() }
  }

  /// Returns the waiting time that is left in this window.
  func remainingTime(window: Milliseconds) -> Milliseconds {
    max(0, window - waited)
  }

  /// Adds a wait to the window. Returns false if the window has ended and the client was too slow in it.
  ///
  /// - Parameters:
  ///   - rate: The minimum rate in bytes per second.
  ///   - window: The length of a window.
  ///   - moved: The total number of bytes moved; called only at the end of a window.
  mutating func endWait(
    minimumRate rate: Int, window: Milliseconds, waited time: Milliseconds, moved: () -> Int
  ) -> Bool {
    waited += time
    guard waited >= window else { return true }
    let moved = moved()
    let expected = waited.amount(perSecond: rate)
    let isFast = moved - (movedBefore ?? 0) >= expected
    movedBefore = moved
    waited = 0
    return isFast
  }
}
