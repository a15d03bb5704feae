/// The base64 encoding that HTTP Basic uses (RFC 4648, section 4). Decoding accepts only the canonical text, which
/// includes padding.
public enum Base64 {
  private static let alphabet = Base64Alphabet(lastTwo: "+/")

  /// Encodes bytes with padding.
  ///
  /// - Parameter prefix: A text in front of the encoded bytes.
  public static func encode(_ bytes: [UInt8], after prefix: String = "") -> String {
    let bytes = bytes.span
    let prefix = prefix.utf8.span
    let unpaddedCount = Base64Alphabet.encodedCount(of: bytes.count)
    return String(utf8Count: prefix.count + (unpaddedCount + 3) & ~3) { output in
      for index in prefix.indices { output[index] = prefix[index] }
      var encoded = output._mutatingExtracting(prefix.count...)
      alphabet.encode(bytes, into: &encoded)
      for index in unpaddedCount..<encoded.count { encoded[index] = UInt8(ascii: "=") }
    }
  }

  /// Returns the bytes that `text` encodes, or `nil` if `text` is not the exact text that ``encode(_:)`` returns for
  /// those bytes.
  public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
    // The lenient decoder accepts every text. Only the canonical text is equal to the encoding of the decoded bytes.
    let bytes = LenientBase64.decode(text)
    return encode(bytes).utf8.span.isEqual(to: text) ? bytes : nil
  }
}

/// Decodes base64 as the most lenient servers do: accepts the characters of base64 and base64url (RFC 4648, sections 4
/// and 5), and skips all others, including padding.
public enum LenientBase64 {
  /// Returns the decoded bytes. Drops the last bits if they do not fill a byte.
  public static func decode(_ text: Span<UInt8>) -> [UInt8] {
    let table = Base64Digits.all
    let digits = table.values.span
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 2)
    // The bits of the last characters; only the lowest `pendingBits` of them have not been written yet.
    var word: UInt32 = 0
    var pendingBits: UInt32 = 0
    for index in text.indices {
      let value = digits[Int(text[index])]
      guard value < 64 else { continue }
      word = word << 6 | UInt32(value)
      pendingBits += 6
      guard pendingBits >= 8 else { continue }
      pendingBits &-= 8
      bytes.append(UInt8(truncatingIfNeeded: word >> pendingBits))
    }
    return bytes
  }
}

/// The digits of both alphabets of base64 (RFC 4648, sections 4 and 5).
public struct Base64Digits: Sendable {
  /// The six bits that each character means; above 63 for a character that is no digit. Read them by the span: an index of
  /// the array itself may copy all of it.
  public let values = InlineArray<256, UInt8> { index in
    switch UInt8(truncatingIfNeeded: index) {
    case let byte where byte.isUppercaseLetter: byte &- UInt8(ascii: "A")
    case let byte where byte.isLowercaseLetter: byte &- UInt8(ascii: "a") &+ 26
    case let byte where byte.isDigit: byte &- UInt8(ascii: "0") &+ 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: 255
    }
  }

  /// The digits.
  public static let all = Base64Digits()
}
