extension TokenRequest {
  /// The users of all `Authorization` fields that some server may read as HTTP Basic. A user that cannot be
  /// form-decoded is unchanged.
  public var usersInAuthorization: [String] { authorization.compactMap { TokenRequest.user(in: $0.reveal()) } }

  private static func user(in header: String) -> String? {
    let parts = header.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
    let user = Array(LenientBase64.decode(parts[1].utf8).prefix { $0 != UInt8(ascii: ":") })
    return FormEncoding.decode(user.span) ?? String(decoding: user, as: UTF8.self)
  }
}

/// A base64 decoder that accepts as much as the most lenient servers: both alphabets (RFC 4648, sections 4 and 5), and
/// text without padding. It skips all other characters.
public enum LenientBase64 {
  /// Returns the bytes that the text encodes. There are no errors.
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
    case 0x41...0x5a: UInt32(character) - 0x41
    case 0x61...0x7a: UInt32(character) - 0x61 + 26
    case 0x30...0x39: UInt32(character) - 0x30 + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
