internal import Bytes

/// Writes the fields of a payload, one after the other, without names.
public struct PayloadWriter: Sendable {
  var bytes: [UInt8] = []

  public init() {
    // A typical transaction; growing would leave copies behind.
    bytes.reserveCapacity(512)
  }

  public mutating func byte(_ value: UInt8) {
    bytes.append(value)
  }

  /// Seven bits a byte, the lowest first; the top bit says that more follow.
  public mutating func number(_ value: UInt64) {
    var rest = value
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Bytes whose count the reader knows.
  public mutating func fixed(_ value: [UInt8]) {
    bytes.append(contentsOf: value)
  }

  /// A count, then the bytes.
  public mutating func data(_ value: [UInt8]) {
    number(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// A count of UTF-8 bytes, then those.
  public mutating func text(_ value: String) {
    number(UInt64(value.utf8.count))
    bytes.append(value)
  }
}
