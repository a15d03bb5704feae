import CLinux

/// A point on the monotonic clock, in milliseconds: what every wait ends at.
public struct Deadline: Comparable, Sendable {
  public let milliseconds: UInt64

  public init(milliseconds: UInt64) {
    self.milliseconds = milliseconds
  }

  /// Only for waits that something else is certain to end, such as an accept loop that a drain stops.
  public static let never = Deadline(milliseconds: .max)

  public static func < (a: Deadline, b: Deadline) -> Bool { a.milliseconds < b.milliseconds }
}

/// The two clocks (deadlines are monotonic; what is sealed or logged carries real time).
public enum Clock {
  /// Nanoseconds since an arbitrary point; never goes back.
  public static func monotonicNanoseconds() -> UInt64 { cl_monotonic() }

  /// Nanoseconds since 1970.
  public static func realNanoseconds() -> UInt64 { cl_realtime() }

  /// Seconds since 1970.
  public static func realSeconds() -> Int { Int(cl_realtime() / 1_000_000_000) }
}
