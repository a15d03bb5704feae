internal import ByteText

/// Decodes text as the most lenient servers do: `%XX` and `%uXXXX` are decoded repeatedly, and characters that resemble
/// ASCII become ASCII.
public enum LenientDecoding {
  /// The maximum number of times that a text is decoded. Each server in a chain decodes once, and chains are shorter
  /// than this.
  public static let maximumRounds = 8

  /// Decodes the bytes until a decoding changes nothing, but at most `rounds` times.
  public static func decoded(_ text: [UInt8], rounds: Int = maximumRounds) -> [UInt8] {
    var bytes = text
    for _ in 0..<rounds {
      let next = folded(unescaped(bytes, decodesUnicodeEscapes: true))
      guard next != bytes else { break }
      bytes = next
      // Nothing is left to decode.
      if bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) { break }
    }
    return bytes
  }

  /// Returns a text that is the same for all identifiers that a server may treat as equal: decoded, in lower case, and
  /// without spaces, plus signs and control characters. Servers may ignore case in ids, trim them, decode them twice, or
  /// compare them by a database collation.
  public static func identifier(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    if bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }) {
      for index in bytes.indices { bytes[index] = bytes[index].lowercasedASCII }
    } else {
      bytes = decoded(bytes)
    }
    // A server that decodes a form twice reads a plus as a space.
    bytes.removeAll { $0 <= 0x20 || $0 == 0x7f || $0 == UInt8(ascii: "+") }
    return bytes
  }

  /// Decodes each `%XX` if `shouldDecode` is true for its byte. With `decodesUnicodeEscapes`, also decodes `%uXXXX`, as
  /// older Microsoft servers do, and removes the `%uXXXX` of a surrogate. Malformed escapes stay.
  static func unescaped(
    _ bytes: [UInt8], decodesUnicodeEscapes: Bool = false, where shouldDecode: (UInt8) -> Bool = { _ in true }
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"),
        let byte = hexadecimalNumber(bytes, from: index + 1, digits: 2).map(UInt8.init(truncatingIfNeeded:)),
        shouldDecode(byte)
      {
        result.append(byte)
        index += 3
      } else if decodesUnicodeEscapes, bytes[index] == UInt8(ascii: "%"), index + 1 < bytes.count,
        bytes[index + 1].lowercasedASCII == UInt8(ascii: "u"),
        let value = hexadecimalNumber(bytes, from: index + 2, digits: 4)
      {
        if let scalar = Unicode.Scalar(value) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
        index += 6
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  /// True if the percent sign at `index` begins `%XX` or `%uXXXX`.
  static func isEscape(_ bytes: [UInt8], at index: Int) -> Bool {
    if hexadecimalNumber(bytes, from: index + 1, digits: 2) != nil { return true }
    return index + 1 < bytes.count && bytes[index + 1].lowercasedASCII == UInt8(ascii: "u")
      && hexadecimalNumber(bytes, from: index + 2, digits: 4) != nil
  }

  private static func hexadecimalNumber(_ bytes: [UInt8], from start: Int, digits: Int) -> UInt32? {
    guard start + digits <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[start..<(start + digits)] {
      guard let digit = byte.hexadecimalValue else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// Replaces upper-case letters, and characters that resemble ASCII, with ASCII in lower case, and removes ignorable
  /// characters. All other characters stay. Overlong UTF-8 is read as the character that it encodes.
  public static func folded(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let (scalar, length) = lenientScalar(bytes, at: index)
      if scalar < 0x80 {
        result.append(UInt8(truncatingIfNeeded: scalar).lowercasedASCII)
      } else if let ascii = lookAlike(scalar) {
        result.append(ascii)
      } else if let ascii = CompatibilityFolding.ascii(scalar) {
        result.append(contentsOf: ascii)
      } else if !isIgnorable(scalar) {
        result.append(contentsOf: bytes[index..<(index + length)])
      }
      index += length
    }
    return result
  }

  /// Decodes one scalar. Overlong forms are accepted. A byte that begins no complete sequence is read as Latin-1.
  private static func lenientScalar(_ bytes: [UInt8], at index: Int) -> (scalar: UInt32, length: Int) {
    let lead = bytes[index]
    let (length, bits): (Int, UInt32) =
      switch lead {
      case 0xc0...0xdf: (2, UInt32(lead & 0x1f))
      case 0xe0...0xef: (3, UInt32(lead & 0x0f))
      case 0xf0...0xf7: (4, UInt32(lead & 0x07))
      case 0xf8...0xfb: (5, UInt32(lead & 0x03))
      case 0xfc...0xfd: (6, UInt32(lead & 0x01))
      default: (1, UInt32(lead))
      }
    guard length > 1, index + length <= bytes.count else { return (UInt32(lead), 1) }
    var scalar = bits
    for byte in bytes[(index + 1)..<(index + length)] {
      // After the lead bytes 0xc0 and 0xc1, some servers accept any byte as a continuation byte (CVE-2000-0884).
      guard byte & 0xc0 == 0x80 || lead < 0xc2 else { return (UInt32(lead), 1) }
      scalar = scalar << 6 | UInt32(byte & 0x3f)
    }
    return (scalar, length)
  }

  /// Returns the ASCII character that resembles a scalar; `nil` for a scalar that is not listed here. The table of
  /// `CompatibilityFolding` contains further scalars.
  private static func lookAlike(_ scalar: UInt32) -> UInt8? {
    switch scalar {
    // The full-width characters.
    case 0xff01...0xff5e: UInt8(truncatingIfNeeded: scalar &- 0xfee0).lowercasedASCII
    // The circled letters.
    case 0x24b6...0x24cf: UInt8(truncatingIfNeeded: scalar &- 0x24b6) + 0x61
    case 0x24d0...0x24e9: UInt8(truncatingIfNeeded: scalar &- 0x24d0) + 0x61
    // The mathematical letters: several alphabets of 52 letters.
    case 0x1d400...0x1d6a3: UInt8(truncatingIfNeeded: (scalar &- 0x1d400) % 52 % 26) + 0x61
    case 0x130, 0x131: UInt8(ascii: "i")
    case 0x2024, 0x3002, 0xff61: UInt8(ascii: ".")
    case 0x2044, 0x2215, 0x29f8: UInt8(ascii: "/")
    // The last two are the yen and won signs, which have the code of the backslash in Japanese and Korean code pages.
    case 0x2216, 0x29f5, 0xfe68, 0xa5, 0x20a9: UInt8(ascii: "\\")
    case 0xa0, 0x2000...0x200a, 0x202f, 0x205f, 0x3000: UInt8(ascii: " ")
    case 0x37e: UInt8(ascii: ";")
    default: nil
    }
  }

  /// True for default-ignorable code points, which servers may remove, and for combining accents.
  private static func isIgnorable(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0xad, 0x300...0x36f, 0x200b...0x200f, 0x202a...0x202e, 0x2060...0x2064, 0xfe00...0xfe0f, 0xfeff: true
    default: false
    }
  }
}
