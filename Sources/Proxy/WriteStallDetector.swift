import Reactor
import Time

/// Measures for how long a client has received none of the bytes that wait for it in this process or in the kernel.
///
/// The kernel makes room for more bytes from time to time even if the client receives nothing. So a successful send is
/// no progress, but an acknowledgement from the client is. No event reports acknowledgements, so the number of
/// acknowledged bytes is polled.
struct WriteStallDetector {
  /// The minimum number of checks within the timeout.
  private static let checksPerTimeout = 4

  /// The time since which no progress was seen; `nil` if no bytes wait.
  private var lastProgress: MonotonicTime?
  /// The total number of bytes that the client had received at the time `lastProgress`.
  private var bytesAtLastProgress = 0

  var isRunning: Bool { lastProgress != nil }

  /// Records whether bytes are waiting that cannot be sent.
  ///
  /// - Parameter clientBytes: returns the total number of bytes that the client has received; called only if needed,
  ///   because it makes a system call.
  mutating func update(isBlocked: Bool, now: MonotonicTime, clientBytes: () -> Int) {
    guard isBlocked || isRunning else { return }
    let bytes = clientBytes()
    if isRunning, bytes <= bytesAtLastProgress { return }
    lastProgress = isBlocked ? now : nil
    bytesAtLastProgress = bytes
  }

  /// Records that no bytes wait any more.
  mutating func end() {
    lastProgress = nil
  }

  /// Returns the deadline of a client that receives nothing; `.never` if no bytes wait.
  func deadline(_ timeout: Milliseconds) -> Deadline {
    lastProgress.map { $0 + timeout } ?? .never
  }

  /// Returns the time by which the next check must happen; `.never` if no bytes wait.
  func nextCheck(_ timeout: Milliseconds, now: MonotonicTime) -> Deadline {
    guard isRunning else { return .never }
    return min(deadline(timeout), now + timeout / WriteStallDetector.checksPerTimeout)
  }

  /// True if the timeout has passed and the client has received nothing since `lastProgress`.
  func hasTimedOut(_ timeout: Milliseconds, now: MonotonicTime, clientBytes: () -> Int) -> Bool {
    deadline(timeout) <= now && clientBytes() <= bytesAtLastProgress
  }
}
