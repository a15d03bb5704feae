/// Hexadecimal digits in lower case. (RFC 4648, section 8, uses upper case.)
public enum Hex {
  /// Returns two lower-case digits for each byte.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  /// Returns two lower-case digits for each byte.
  public static func encode(_ bytes: Span<UInt8>) -> String {
    String(utf8Count: bytes.count * 2) { output in
      for index in bytes.indices {
        // One bounds check for both digits.
        var pair = output._mutatingExtracting(index &* 2..<index &* 2 &+ 2)
        pair[0] = digit(bytes[index] >> 4)
        pair[1] = digit(bytes[index] & 15)
      }
    }
  }

  /// Appends two lower-case digits for each byte.
  public static func encode(_ bytes: Span<UInt8>, onto text: inout [UInt8]) {
    text.append(addingCapacity: bytes.count * 2) { encode(bytes, to: &$0) }
  }

  /// Appends two lower-case digits for each byte.
  public static func encode(_ bytes: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
    for index in bytes.indices {
      output.append(digit(bytes[index] >> 4))
      output.append(digit(bytes[index] & 15))
    }
  }

  /// Returns the digit of a value below 16.
  private static func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? 0x30 : 0x57) }

  /// Returns the bytes that `text` encodes, or `nil` if `text` has an odd number of characters or a character that is
  /// not a lower-case hexadecimal digit.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    // The first digit of a byte whose second digit has not been read yet.
    var pendingDigit: UInt8?
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character &- UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character &- UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = pendingDigit {
        bytes.append(first << 4 | digit)
        pendingDigit = nil
      } else {
        pendingDigit = digit
      }
    }
    return pendingDigit == nil ? bytes : nil
  }
}
