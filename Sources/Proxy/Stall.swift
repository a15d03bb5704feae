import Reactor

/// Since when a client has taken nothing of what waits for it, be it here or in the kernel.
///
/// The kernel makes room for more now and then whether or not the client takes any, so that more could be sent is no
/// progress: what its side has acknowledged is. There is no event for that, so it is polled.
struct Stall {
  /// How often within a client's time it is looked at whether it has taken something.
  private static let looks = 4

  /// Monotonic milliseconds.
  private var began: UInt64?
  /// The bytes that the client had taken by then.
  private var taken = 0

  var isRunning: Bool { began != nil }

  /// Notes whether something waits that cannot be sent.
  ///
  /// - Parameter taken: bytes that the client has taken in all; asked for only where it matters, as the kernel is asked.
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

  /// When a client that takes nothing has had its time; `.never` while nothing waits.
  func deadline(_ timeout: Int) -> Deadline {
    began.map { Deadline(milliseconds: $0 + UInt64(timeout)) } ?? .never
  }

  /// When to look again at the latest.
  func nextLook(_ timeout: Int, now: UInt64) -> Deadline {
    guard isRunning else { return .never }
    return min(deadline(timeout), Deadline(milliseconds: now + UInt64(timeout / Stall.looks)))
  }

  /// True if the client has had its time and has taken nothing in it, up to this moment.
  func isOver(_ timeout: Int, now: UInt64, taken: () -> Int) -> Bool {
    deadline(timeout) <= Deadline(milliseconds: now) && taken() <= self.taken
  }
}
