import CLinux

/// A point on the monotonic clock at which a wait ends.
public struct Deadline: Comparable, Sendable {
  /// Milliseconds on the monotonic clock.
  public let milliseconds: UInt64

  /// Creates a deadline at this monotonic time in milliseconds.
  public init(milliseconds: UInt64) {
    self.milliseconds = milliseconds
  }

  /// No deadline. Only for waits that something else is certain to end, such as an accept loop that a drain stops.
  public static let never = Deadline(milliseconds: .max)

  /// Returns true if `a` is earlier than `b`.
  public static func < (a: Deadline, b: Deadline) -> Bool { a.milliseconds < b.milliseconds }
}

/// The two system clocks: deadlines use the monotonic one, sealed and logged times the real one.
public enum SystemClock {
  /// Nanoseconds since an arbitrary point; never goes back.
  public static func monotonicNanoseconds() -> UInt64 { cl_monotonic() }

  /// Milliseconds since an arbitrary point; never goes back.
  public static func monotonicMilliseconds() -> UInt64 { cl_monotonic() / 1_000_000 }

  /// Milliseconds since 1970.
  public static func realMilliseconds() -> Int64 { Int64(cl_realtime() / 1_000_000) }

  /// Seconds since 1970.
  public static func realSeconds() -> Int { Int(cl_realtime() / 1_000_000_000) }
}
