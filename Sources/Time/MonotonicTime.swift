/// A point in time on the monotonic clock, which never goes back: the time of an event, or the deadline of a wait.
@frozen
public struct MonotonicTime: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The milliseconds since an arbitrary point, which is the same for the whole process.
  public let milliseconds: UInt64

  /// Creates a point in time from the milliseconds of the clock.
  @inlinable
  public init(milliseconds: UInt64) {
    self.milliseconds = milliseconds
  }

  /// Creates a point in time from a literal, which is a number of milliseconds.
  @inlinable
  public init(integerLiteral milliseconds: UInt64) {
    self.milliseconds = milliseconds
  }

  /// Returns true if `a` is earlier than `b`.
  @inlinable
  public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.milliseconds < b.milliseconds }

  /// Returns the time after a duration; the time before it if the duration is negative. Ends at both ends of the clock.
  @inlinable
  public static func + (time: MonotonicTime, duration: Milliseconds) -> MonotonicTime {
    MonotonicTime(
      milliseconds: duration.count < 0
        ? time.milliseconds.saturatingDifference(UInt64(duration.count.magnitude))
        : time.milliseconds.saturatingSum(UInt64(duration.count.magnitude)))
  }

  /// Adds a duration to the time.
  @inlinable
  public static func += (time: inout MonotonicTime, duration: Milliseconds) { time = time + duration }

  /// Returns the duration between two points in time; 0 if `earlier` is the later one.
  @inlinable
  public static func - (later: MonotonicTime, earlier: MonotonicTime) -> Milliseconds {
    Milliseconds(Int(clamping: later.milliseconds.saturatingDifference(earlier.milliseconds)))
  }
}
