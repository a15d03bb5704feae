/// Base64 as HTTP Basic uses it (RFC 4648, section 4): padded, and only in its canonical spelling.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let padded = Array(group) + [0, 0]
      let word = UInt32(padded[0]) << 16 | UInt32(padded[1]) << 8 | UInt32(padded[2])
      for index in 0..<4 {
        let isPadding = index > group.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(word >> (18 - 6 * UInt32(index))) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// `nil` unless the text is what ``encode(_:)`` writes.
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
