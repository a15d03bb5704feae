import CLinux
import Time

/// A point on the monotonic clock at which a wait ends.
public typealias Deadline = MonotonicTime

extension Deadline {
  /// No deadline. Only for waits that something else is certain to end, such as an accept loop that a drain stops.
  @inlinable
  public static var never: Deadline { Deadline(milliseconds: .max) }
}

extension MonotonicTime {
  /// The time in whole milliseconds.
  init(nanoseconds: UInt64) { self.init(milliseconds: nanoseconds / 1_000_000) }
}

/// The two system clocks: deadlines use the monotonic clock; times in sealed values and in the log use the real-time
/// clock.
public enum SystemClock {
  /// The monotonic time in nanoseconds since an arbitrary point; it never goes back.
  public static func monotonicNanoseconds() -> UInt64 { cl_monotonic() }

  /// The monotonic time in milliseconds since the same point.
  public static func monotonicTime() -> MonotonicTime { MonotonicTime(nanoseconds: cl_monotonic()) }

  /// The real time in milliseconds, for logs.
  public static func timestamp() -> Timestamp { Timestamp(milliseconds: Int64(cl_realtime() / 1_000_000)) }

  /// The real time in whole seconds.
  public static func unixTime() -> UnixTime { UnixTime(seconds: Int64(cl_realtime() / 1_000_000_000)) }
}
