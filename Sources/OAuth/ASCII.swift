/// The classes of bytes that the OAuth and URI grammars use (RFC 5234, appendix B.1).
enum ASCII {
  @inline(__always)
  static func isUppercase(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5a }

  @inline(__always)
  static func isLetter(_ byte: UInt8) -> Bool { isUppercase(byte & 0xdf) && byte < 0x80 }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  /// True for `unreserved` of RFC 3986, section 2.3, and of RFC 7636, section 4.1.
  @inline(__always)
  static func isUnreserved(_ byte: UInt8) -> Bool {
    // A bit for each byte value. The first number has the digits, `-` and `.`; the second has the letters, `_` and `~`.
    switch byte {
    case 0..<64: 0x03ff_6000_0000_0000 as UInt64 >> UInt64(byte) & 1 == 1
    case 64..<128: 0x47ff_fffe_87ff_fffe as UInt64 >> UInt64(byte - 64) & 1 == 1
    default: false
    }
  }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { isUppercase(byte) ? byte | 0x20 : byte }

  /// Returns the hexadecimal digit of a value below 16, in upper case.
  @inline(__always)
  static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
