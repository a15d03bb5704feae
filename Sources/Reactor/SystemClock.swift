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
  public init(_ instant: MonotonicInstant) { self.init(milliseconds: instant.nanoseconds / 1_000_000) }
}

/// The two system clocks: deadlines use the monotonic clock; times in sealed values and in the log use the real-time
/// clock.
public enum SystemClock {
  /// The monotonic time in nanoseconds.
  public static func monotonicInstant() -> MonotonicInstant { MonotonicInstant(nanoseconds: cl_monotonic()) }

  /// The monotonic time in milliseconds since the same point.
  public static func monotonicTime() -> MonotonicTime { MonotonicTime(monotonicInstant()) }

  /// The real time in milliseconds, for logs.
  public static func timestamp() -> Timestamp { Timestamp(milliseconds: Int64(clamping: cl_realtime() / 1_000_000)) }

  /// The real time in whole seconds.
  public static func unixTime() -> UnixTime { UnixTime(seconds: Int64(clamping: cl_realtime() / 1_000_000_000)) }
}
