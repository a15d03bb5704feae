/// A point in time of the system clock, in milliseconds since 1970. Used for log lines and for the start of the
/// process.
@frozen
public struct Timestamp: Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The milliseconds since 1970-01-01, 00:00 UTC, without leap seconds.
  public let milliseconds: Int64

  /// Creates a point in time from the milliseconds since 1970.
  @inlinable
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Creates a point in time from a literal, which is the milliseconds since 1970.
  @inlinable
  public init(integerLiteral milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Returns the duration between two points in time. It is negative if `earlier` is the later one: the system clock
  /// can be set back.
  @inlinable
  public static func - (later: Timestamp, earlier: Timestamp) -> Milliseconds {
    Milliseconds(Int(later.milliseconds.saturatingDifference(earlier.milliseconds)))
  }
}
