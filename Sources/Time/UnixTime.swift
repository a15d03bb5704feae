/// A point in time of the system clock, in seconds since 1970: the time of an event, or the expiry of a sealed value or
/// of an entry of the store.
@frozen
public struct UnixTime: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The seconds since 1970-01-01, 00:00 UTC, without leap seconds.
  public let seconds: Int64

  /// Creates a point in time from the seconds since 1970.
  @inlinable
  public init(seconds: Int64) {
    self.seconds = seconds
  }

  /// Creates a point in time from a literal, which is the seconds since 1970.
  @inlinable
  public init(integerLiteral seconds: Int64) {
    self.seconds = seconds
  }

  /// Returns true if `a` is earlier than `b`.
  @inlinable
  public static func < (a: UnixTime, b: UnixTime) -> Bool { a.seconds < b.seconds }

  /// Returns the time after a duration.
  @inlinable
  public static func + (time: UnixTime, duration: Seconds) -> UnixTime {
    UnixTime(seconds: time.seconds.saturatingSum(Int64(duration.count)))
  }

  /// Adds a duration to the time.
  @inlinable
  public static func += (time: inout UnixTime, duration: Seconds) { time = time + duration }

  /// Returns the duration between two points in time. It is negative if `earlier` is the later one: the system clock
  /// can be set back.
  @inlinable
  public static func - (later: UnixTime, earlier: UnixTime) -> Seconds {
    Seconds(Int(later.seconds.saturatingDifference(earlier.seconds)))
  }
}
