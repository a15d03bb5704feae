/// A duration in milliseconds, such as a timeout.
///
/// The type is one integer, because calculations with the 128 bits of the standard library's `Duration` cost more.
@frozen
public struct Milliseconds: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The number of milliseconds.
  public let count: Int

  /// Creates a duration from a number of milliseconds.
  @inlinable
  public init(_ count: Int) {
    self.count = count
  }

  /// Creates a duration from a literal, which is a number of milliseconds.
  @inlinable
  public init(integerLiteral count: Int) {
    self.count = count
  }

  /// Converts a duration in seconds.
  @inlinable
  public init(_ seconds: Seconds) {
    count = seconds.count.saturatingProduct(1_000)
  }

  /// Creates the time in which `amount` bytes, or other units, arrive at `rate` units per second, rounded toward zero.
  /// Traps if the rate is 0.
  @inlinable
  public init(for amount: Int, perSecond rate: Int) {
    count = amount.saturatingProduct(1_000) / rate
  }

  /// Returns the number of bytes, or other units, that arrive in this time at `rate` units per second, rounded toward
  /// zero.
  @inlinable
  public func amount(perSecond rate: Int) -> Int { rate.saturatingProduct(count) / 1_000 }

  /// Returns true if `a` is shorter than `b`.
  @inlinable
  public static func < (a: Milliseconds, b: Milliseconds) -> Bool { a.count < b.count }

  /// Returns the sum of two durations.
  @inlinable
  public static func + (a: Milliseconds, b: Milliseconds) -> Milliseconds {
    Milliseconds(a.count.saturatingSum(b.count))
  }

  /// Returns the difference of two durations, which may be negative.
  @inlinable
  public static func - (a: Milliseconds, b: Milliseconds) -> Milliseconds {
    Milliseconds(a.count.saturatingDifference(b.count))
  }

  /// Adds a duration.
  @inlinable
  public static func += (a: inout Milliseconds, b: Milliseconds) { a = a + b }

  /// Subtracts a duration.
  @inlinable
  public static func -= (a: inout Milliseconds, b: Milliseconds) { a = a - b }

  /// Returns a multiple of a duration.
  @inlinable
  public static func * (a: Milliseconds, factor: Int) -> Milliseconds {
    Milliseconds(a.count.saturatingProduct(factor))
  }

  /// Returns a duration divided by a number, rounded toward zero.
  @inlinable
  public static func / (a: Milliseconds, divisor: Int) -> Milliseconds { Milliseconds(a.count / divisor) }
}
