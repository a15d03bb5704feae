/// The base64 encoding that HTTP Basic uses (RFC 4648, section 4). Decoding accepts only the canonical text, which
/// includes padding.
public enum Base64 {
  private static let alphabet = Base64Alphabet(lastTwo: "+/")

  /// Encodes bytes with padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    let bytes = bytes.span
    let unpadded = Base64Alphabet.encodedCount(of: bytes.count)
    return String(asciiCount: (unpadded + 3) & ~3) { output in
      alphabet.encode(bytes, into: &output)
      for index in unpadded..<output.count { output[index] = UInt8(ascii: "=") }
    }
  }

  /// Decodes padded base64; `nil` if the text is not exactly the one that ``encode(_:)`` returns for the bytes.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let bytes = LenientBase64.decode(text.utf8)
    return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
  }
}

/// Decodes base64 as the most lenient servers do: in either alphabet, without padding, and without other characters.
public enum LenientBase64 {
  /// Returns the bytes of the characters that belong to one of the alphabets.
  public static func decode(_ text: some Sequence<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var bits: UInt32 = 0
    for character in text {
      guard let value = value(of: character) else { continue }
      word = word << 6 | value
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: word >> bits))
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
