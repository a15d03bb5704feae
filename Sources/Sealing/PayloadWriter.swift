internal import ByteText

/// A writer of the payload of a sealed value: fields without names, one after the other.
public struct PayloadWriter: Sendable {
  var bytes: [UInt8] = []

  /// Creates an empty payload.
  public init() {
    // 512 bytes are enough for a typical transaction, so the array rarely grows. Growing would leave copies of secrets
    // in freed memory.
    bytes.reserveCapacity(512)
  }

  /// Appends one byte.
  public mutating func writeByte(_ value: UInt8) {
    bytes.append(value)
  }

  /// Appends a number in groups of seven bits, the lowest group first (unsigned LEB128). The highest bit of a byte is
  /// set if another byte follows.
  public mutating func writeNumber(_ value: UInt64) {
    bytes.append(addingCapacity: PayloadWriter.maximumNumberLength) { PayloadWriter.write(value, to: &$0) }
  }

  /// Appends bytes without their number, for fields whose length is fixed by the format.
  public mutating func writeBytes(withoutLength value: [UInt8]) {
    bytes.append(copying: value.span)
  }

  /// Appends the number of bytes and then the bytes.
  public mutating func writeBytes(_ value: [UInt8]) { write(value.span) }

  /// Appends the number of UTF-8 bytes and then the bytes.
  public mutating func writeText(_ value: String) { write(value.utf8.span) }

  private mutating func write(_ value: Span<UInt8>) {
    bytes.append(addingCapacity: PayloadWriter.maximumNumberLength + value.count) { output in
      PayloadWriter.write(UInt64(clamping: value.count), to: &output)
      output.append(copying: value)
    }
  }

  /// The length of the largest number.
  private static let maximumNumberLength = 10

  private static func write(_ number: UInt64, to output: inout OutputSpan<UInt8>) {
    var rest = number
    while rest > 0x7f {
      output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    output.append(UInt8(truncatingIfNeeded: rest))
  }
}
