import CLinux
import Time

/// A point on the monotonic clock at which a wait ends.
public typealias Deadline = MonotonicTime

extension Deadline {
  /// No deadline. Only for waits that something else is certain to end, such as an accept loop that a drain stops.
  @inlinable
  public static var never: Deadline { Deadline(milliseconds: .max) }
}

/// The two system clocks: deadlines use the monotonic one, sealed and logged times the real one.
public enum SystemClock {
  /// Nanoseconds since an arbitrary point; never goes back.
  public static func monotonicNanoseconds() -> UInt64 { cl_monotonic() }

  /// The time of the clock that never goes back.
  public static func monotonicTime() -> MonotonicTime { MonotonicTime(milliseconds: cl_monotonic() / 1_000_000) }

  /// The time of the real clock in milliseconds, for logs.
  public static func timestamp() -> Timestamp { Timestamp(milliseconds: Int64(cl_realtime() / 1_000_000)) }

  /// The time of the real clock in whole seconds.
  public static func unixTime() -> UnixTime { UnixTime(seconds: Int64(cl_realtime() / 1_000_000_000)) }
}
