/// The texts that servers may get by decoding a part of a request as base64 (RFC 4648, sections 4 and 5).
enum Base64Readings {
  private static let separator = UInt8(ascii: "\n")

  /// Returns the visible ASCII characters that the text means as base64. A line feed is between characters that do not
  /// follow each other.
  ///
  /// Servers ignore characters outside of the alphabet, so this function does, too. The beginning of the encoded value is
  /// not known, so the text is decoded from each of the first four digits.
  static func visibleTexts(in text: Span<UInt8>) -> [UInt8] {
    var results: (first: [UInt8], second: [UInt8], third: [UInt8], fourth: [UInt8]) = ([], [], [], [])
    // The last four digits, of six bits each.
    var window: UInt32 = 0
    var count = 0
    func add(_ digit: UInt32) {
      window = window << 6 & 0xff_ffff | digit
      count += 1
      guard count >= 4 else { return }
      switch count % 4 {
      case 0: append(window, to: &results.first)
      case 1: append(window, to: &results.second)
      case 2: append(window, to: &results.third)
      default: append(window, to: &results.fourth)
      }
    }
    for index in text.indices {
      if let digit = digit(text[index]) { add(digit) }
    }
    // The end of a value without padding has fewer than four digits.
    for _ in 0..<3 { add(0) }
    return results.first + [separator] + results.second + [separator] + results.third + [separator] + results.fourth
  }

  /// Appends the first visible ones of three bytes, and a separator in place of the others. A code is not among the
  /// others: it is the whole value, and so begins with the first of three bytes, or follows the visible text `code=`.
  private static func append(_ bytes: UInt32, to result: inout [UInt8]) {
    var rest = bytes << 8
    for _ in 0..<3 {
      let byte = UInt8(truncatingIfNeeded: rest >> 24)
      guard (0x20...0x7e).contains(byte) else {
        if result.last != separator { result.append(separator) }
        return
      }
      result.append(byte)
      rest <<= 8
    }
  }

  /// Returns the six bits of a digit of either alphabet; `nil` for other characters.
  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte &- UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte &- UInt8(ascii: "a") &+ 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte &- UInt8(ascii: "0") &+ 52)
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
