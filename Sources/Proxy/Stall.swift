import Reactor

/// The time since a client last received any of the bytes that wait for it, here or in the kernel.
///
/// The kernel makes room for more bytes from time to time even if the client receives nothing, so a successful send is
/// not progress; an acknowledgement from the client is. There is no event for that, so it is polled.
struct Stall {
  /// The number of checks within the timeout.
  private static let looks = 4

  /// The start in monotonic milliseconds.
  private var began: UInt64?
  /// The number of bytes that the client had received by then.
  private var taken = 0

  var isRunning: Bool { began != nil }

  /// Records whether bytes are waiting that cannot be sent.
  ///
  /// - Parameter taken: the total number of bytes that the client has received; called only if needed, because it is a
  ///   system call.
  mutating func note(isBlocked: Bool, now: UInt64, taken: () -> Int) {
    guard isBlocked || isRunning else { return }
    let taken = taken()
    if isRunning, taken <= self.taken { return }
    began = isBlocked ? now : nil
    self.taken = taken
  }

  mutating func end() {
    began = nil
  }

  /// Returns the deadline of a client that receives nothing; `.never` if nothing waits.
  func deadline(_ timeout: Int) -> Deadline {
    began.map { Deadline(milliseconds: $0 + UInt64(timeout)) } ?? .never
  }

  /// Returns the latest time of the next check.
  func nextLook(_ timeout: Int, now: UInt64) -> Deadline {
    guard isRunning else { return .never }
    return min(deadline(timeout), Deadline(milliseconds: now + UInt64(timeout / Stall.looks)))
  }

  /// True if the timeout has passed and the client has received nothing in it, up to now.
  func isOver(_ timeout: Int, now: UInt64, taken: () -> Int) -> Bool {
    deadline(timeout) <= Deadline(milliseconds: now) && taken() <= self.taken
  }
}
