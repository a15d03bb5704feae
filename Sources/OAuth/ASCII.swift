/// Classes of bytes that the grammars of the field are written in (RFC 5234, appendix B.1).
enum ASCII {
  @inline(__always)
  static func isUppercase(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5a }

  @inline(__always)
  static func isLetter(_ byte: UInt8) -> Bool { isUppercase(byte & 0xdf) && byte < 0x80 }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  /// `unreserved` of RFC 3986, section 2.3, and of RFC 7636, section 4.1.
  @inline(__always)
  static func isUnreserved(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 { isUppercase(byte) ? byte | 0x20 : byte }

  @inline(__always)
  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  static let upperHexDigits: [UInt8] = Array("0123456789ABCDEF".utf8)
}
