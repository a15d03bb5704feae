/// The base64 encoding that HTTP Basic uses (RFC 4648, section 4). Decoding accepts only the canonical text, which
/// includes padding.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes bytes with padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    let alphabet = alphabet
    var start = 0
    while start < bytes.count {
      let count = min(3, bytes.count - start)
      let word =
        Int(bytes[start]) << 16 | (count > 1 ? Int(bytes[start + 1]) << 8 : 0) | (count > 2 ? Int(bytes[start + 2]) : 0)
      text.append(alphabet[word >> 18])
      text.append(alphabet[word >> 12 & 63])
      text.append(count > 1 ? alphabet[word >> 6 & 63] : UInt8(ascii: "="))
      text.append(count > 2 ? alphabet[word & 63] : UInt8(ascii: "="))
      start += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes padded base64; `nil` if the text is not exactly the one that ``encode(_:)`` returns for the bytes.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var bits = 0
    for character in text.utf8 where character != UInt8(ascii: "=") {
      guard let value = value(of: character) else { return nil }
      word = word << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
      }
    }
    return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5a: UInt32(character) - 0x41
    case 0x61...0x7a: UInt32(character) - 0x61 + 26
    case 0x30...0x39: UInt32(character) - 0x30 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
