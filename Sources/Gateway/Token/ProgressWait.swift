import Reactor
import Time

/// The pauses of a request that waits for another request with the same code or refresh token.
///
/// Another process may handle the other request, so this request asks the store again after each pause. The first
/// pauses are short, because most servers answer a token request within 100 ms.
struct ProgressWait {
  private static let firstPauses: [Milliseconds] = [20, 50]
  private static let laterPause: Milliseconds = 100
  /// The time after which the request is answered with 503. Apps wait at least 10 seconds for a response.
  private static let limit: Milliseconds = 10_000

  private let deadline: MonotonicTime
  private var pauses = 0

  /// Begins the wait.
  init(now: MonotonicTime = SystemClock.monotonicTime()) {
    deadline = now + ProgressWait.limit
  }

  /// True once the request has waited.
  var hasBegun: Bool { pauses > 0 }

  /// Returns the next pause; `nil` after the deadline.
  mutating func nextPause(now: MonotonicTime = SystemClock.monotonicTime()) -> Milliseconds? {
    guard now < deadline else { return nil }
    defer { pauses += 1 }
    return pauses < ProgressWait.firstPauses.count ? ProgressWait.firstPauses[pauses] : ProgressWait.laterPause
  }

  /// Suspends the request until the store should be asked again. Returns false after the deadline.
  mutating func pause() async -> Bool {
    guard let poller = Poller.current, let pause = nextPause() else { return false }
    await poller.pause(pause)
    return true
  }
}
