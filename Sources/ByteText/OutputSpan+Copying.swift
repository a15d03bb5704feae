extension OutputSpan where Element == UInt8 {
  /// Appends the text in UTF-8. Traps if there is too little room.
  @inlinable @inline(__always)
  public mutating func append(_ text: String) { append(copying: text.utf8.span) }

  /// Appends the bytes in one copy. Traps if there is too little room.
  ///
  /// A writer of several pieces passes an upper bound of their size to `Array.append(addingCapacity:initializingWith:)`
  /// and appends the pieces to the span. Each piece then costs a comparison and a copy, because the array is checked and
  /// enlarged only once. The standard library has no safe function for the copy (docs/adr/0016).
  @inlinable @inline(__always)
  public mutating func append(copying bytes: Span<UInt8>) {
    unsafe withUnsafeMutableBufferPointer { buffer, initializedCount in
      precondition(bytes.count <= buffer.count &- initializedCount, "the pieces are longer than the reserved room")
      // Both pointers are valid within the closures and are not kept. The precondition ensures that the copy fits. Only
      // an empty span has no pointer.
      unsafe bytes.withUnsafeBufferPointer { source in
        guard let source = source.baseAddress, let end = unsafe buffer.baseAddress?.advanced(by: initializedCount)
        else {
          return
        }
        unsafe end.initialize(from: source, count: bytes.count)
        initializedCount &+= bytes.count
      }
    }
  }
}

extension OutputSpan where Element == UInt8 {
  /// The maximum number of bytes that ``append(decimal:)`` appends.
  @inlinable
  public static var maximumDecimalLength: Int { 20 }

  /// Appends the decimal digits of a number, after a minus sign if it is negative.
  public mutating func append(decimal value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    // The digits from the last to the first. The largest magnitude has 19 digits.
    var digits = InlineArray<19, UInt8>(repeating: 0)
    var first = digits.count
    var rest = value.magnitude
    repeat {
      first -= 1
      digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    append(copying: digits.span.extracting(first...))
  }
}
