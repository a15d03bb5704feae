/// A point in time on the monotonic clock in nanoseconds: the start of something whose duration is measured.
///
/// Another thread may have read the clock later but stored its value earlier, so any two points may come in any order.
/// Therefore differences never trap.
@frozen
public struct MonotonicInstant: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The nanoseconds since an arbitrary point, which is the same for the whole process.
  public let nanoseconds: UInt64

  /// Creates a point in time from the nanoseconds of the clock.
  @inlinable
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Creates a point in time from a literal, which is a number of nanoseconds.
  @inlinable
  public init(integerLiteral nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Returns true if `a` is earlier than `b`.
  @inlinable
  public static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Returns the duration between two points in time; 0 if `earlier` is the later one.
  @inlinable
  public static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Nanoseconds {
    Nanoseconds(later.nanoseconds.saturatingDifference(earlier.nanoseconds))
  }
}

/// A duration in nanoseconds: that of a request, or of an operation of the store.
@frozen
public struct Nanoseconds: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The number of nanoseconds.
  public let count: UInt64

  /// Creates a duration from a number of nanoseconds.
  @inlinable
  public init(_ count: UInt64) {
    self.count = count
  }

  /// Creates a duration from a literal, which is a number of nanoseconds.
  @inlinable
  public init(integerLiteral count: UInt64) {
    self.count = count
  }

  /// Returns true if `a` is shorter than `b`.
  @inlinable
  public static func < (a: Nanoseconds, b: Nanoseconds) -> Bool { a.count < b.count }

  /// Adds a duration. A sum that is too long becomes the longest duration.
  @inlinable
  public static func += (sum: inout Nanoseconds, other: Nanoseconds) {
    let (count, isTooLong) = sum.count.addingReportingOverflow(other.count)
    sum = Nanoseconds(isTooLong ? .max : count)
  }
}
