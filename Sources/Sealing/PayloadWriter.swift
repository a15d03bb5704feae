internal import Bytes

/// A writer of payload fields, one after the other and without names.
public struct PayloadWriter: Sendable {
  var bytes: [UInt8] = []

  /// Creates an empty payload.
  public init() {
    // Enough for a typical transaction: an array that grows leaves copies of secrets in freed memory.
    bytes.reserveCapacity(512)
  }

  /// Appends one byte.
  public mutating func byte(_ value: UInt8) {
    bytes.append(value)
  }

  /// Appends a number in groups of seven bits, the lowest first; the highest bit of a byte says that another byte
  /// follows.
  public mutating func number(_ value: UInt64) {
    var rest = value
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends bytes without a count; the reader must know it.
  public mutating func fixed(_ value: [UInt8]) {
    bytes.append(contentsOf: value)
  }

  /// Appends a count and then the bytes.
  public mutating func data(_ value: [UInt8]) {
    number(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// Appends the number of UTF-8 bytes and then the bytes.
  public mutating func text(_ value: String) {
    number(UInt64(value.utf8.count))
    bytes.append(value)
  }
}
