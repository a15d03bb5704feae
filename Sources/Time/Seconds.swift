/// A duration in whole seconds, such as the lifetime of a code.
@frozen
public struct Seconds: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The number of seconds.
  public let count: Int

  /// Creates a duration from a number of seconds.
  @inlinable
  public init(_ count: Int) {
    self.count = count
  }

  /// Creates a duration from a literal, which is a number of seconds.
  @inlinable
  public init(integerLiteral count: Int) {
    self.count = count
  }

  /// Converts a duration in milliseconds, rounded toward zero.
  @inlinable
  public init(_ milliseconds: Milliseconds) {
    count = milliseconds.count / 1_000
  }

  /// Converts a duration in milliseconds; `nil` if it is not a whole number of seconds.
  @inlinable
  public init?(exactly milliseconds: Milliseconds) {
    guard milliseconds.count.isMultiple(of: 1_000) else { return nil }
    self.init(milliseconds)
  }

  /// Returns true if `a` is shorter than `b`.
  @inlinable
  public static func < (a: Seconds, b: Seconds) -> Bool { a.count < b.count }

  /// Returns the sum of two durations.
  @inlinable
  public static func + (a: Seconds, b: Seconds) -> Seconds { Seconds(a.count.saturatingSum(b.count)) }

  /// Returns the difference of two durations, which may be negative.
  @inlinable
  public static func - (a: Seconds, b: Seconds) -> Seconds { Seconds(a.count.saturatingDifference(b.count)) }

  /// Returns a multiple of a duration.
  @inlinable
  public static func * (a: Seconds, factor: Int) -> Seconds { Seconds(a.count.saturatingProduct(factor)) }
}
