/// Calculations that end at the limits of the type, for numbers that a peer, a clock or another thread chooses.
extension FixedWidthInteger {
  /// Returns the difference to a smaller number. Where the type cannot represent the difference, as with a larger number
  /// and a type without negative numbers, returns the closest number of the type.
  @inlinable
  public func saturatingDifference(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (self < other ? .min : .max) : difference
  }

  /// Returns the product of two numbers, or the closest number of the type.
  @inlinable
  public func saturatingProduct(_ other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? ((self < 0) == (other < 0) ? .max : .min) : product
  }

  /// Returns the sum of two numbers, or the closest number of the type.
  @inlinable
  public func saturatingSum(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }
}
