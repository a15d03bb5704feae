/// Classes of bytes, most of them from the grammars of RFCs. Names such as `ALPHA` are those of RFC 5234, appendix B.1.
extension UInt8 {
  /// `CR`.
  @inlinable @inline(__always)
  public static var carriageReturn: UInt8 { 0x0d }
  /// `LF`.
  @inlinable @inline(__always)
  public static var lineFeed: UInt8 { 0x0a }
  /// `SP`.
  @inlinable @inline(__always)
  public static var space: UInt8 { 0x20 }
  /// `HTAB`.
  @inlinable @inline(__always)
  public static var tab: UInt8 { 0x09 }
  /// `:`.
  @inlinable @inline(__always)
  public static var colon: UInt8 { 0x3a }

  /// True for `A` to `Z`.
  @inlinable @inline(__always)
  public var isUppercaseLetter: Bool { self &- 0x41 < 26 }

  /// True for `a` to `z`.
  @inlinable @inline(__always)
  public var isLowercaseLetter: Bool { self &- 0x61 < 26 }

  /// True for a letter of either case (`ALPHA`).
  @inlinable @inline(__always)
  public var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// True for `0` to `9` (`DIGIT`).
  @inlinable @inline(__always)
  public var isDigit: Bool { self &- 0x30 < 10 }

  /// True for a letter of either case and for a digit.
  @inlinable @inline(__always)
  public var isLetterOrDigit: Bool { isLetter || isDigit }

  /// True for a hexadecimal digit of either case.
  @inlinable @inline(__always)
  public var isHexadecimalDigit: Bool { isDigit || (self | 0x20) &- 0x61 < 6 }

  /// True for a space and a tab (`WSP`).
  @inlinable @inline(__always)
  public var isBlank: Bool { self == .space || self == .tab }

  /// True for a control character (`CTL`).
  @inlinable @inline(__always)
  public var isControl: Bool { self < 0x20 || self == 0x7f }

  /// True for `"`, `<`, `>` and a byte from 0x80: a request target may have such a byte only in percent-encoded form (RFC
  /// 9112, section 3.2), but no server takes it for the end of the target.
  @inlinable @inline(__always)
  public var needsEncodingInTarget: Bool {
    self == UInt8(ascii: "\"") || self == UInt8(ascii: "<") || self == UInt8(ascii: ">") || self >= 0x80
  }

  /// True for `unreserved` of RFC 3986, section 2.3, and of RFC 7636, section 4.1: letters, digits, `-`, `.`, `_`, `~`.
  @inlinable @inline(__always)
  public var isUnreserved: Bool { isMember(low: 0x03ff_6000_0000_0000, high: 0x47ff_fffe_87ff_fffe) }

  /// True for `tchar` of RFC 9110, section 5.6.2.
  @inlinable @inline(__always)
  public var isToken: Bool { isMember(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe) }

  /// True for a `tchar` that is not an upper-case letter, as in field names of HTTP/2 (RFC 9113, section 8.2.1).
  @inlinable @inline(__always)
  public var isLowercaseToken: Bool { isMember(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c000_0000) }

  /// True for a byte that may occur in a field value: a visible character, a space, a tab or `obs-text` (RFC 9110,
  /// section 5.5).
  @inlinable @inline(__always)
  public var isFieldText: Bool { self >= 0x20 ? self != 0x7f : self == .tab }

  /// True if the bit for this byte is set: bit `n` of `low` is for the byte `n`, and bit `n` of `high` for the byte
  /// `64 + n`. False for bytes outside ASCII.
  ///
  /// The test is a shift and a mask. The callers pass literals: Swift would initialise a computed global constant
  /// lazily, and check at each use whether the constant is already initialised.
  @inlinable @inline(__always)
  public func isMember(low: UInt64, high: UInt64) -> Bool {
    self < 0x80 && (self < 64 ? low : high) >> UInt64(self & 63) & 1 == 1
  }

  /// The byte in lower case if it is an upper-case letter, otherwise the byte itself.
  @inlinable
  public var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  /// The value of a hexadecimal digit of either case; `nil` for every other byte.
  @inlinable
  public var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self &- 0x30
    case 0x41...0x46: self &- 0x37
    case 0x61...0x66: self &- 0x57
    default: nil
    }
  }

  /// Creates the upper-case hexadecimal digit of `value`, which must be below 16.
  @inlinable @inline(__always)
  public init(hexadecimalDigit value: UInt8) { self = value < 10 ? 0x30 + value : 0x37 + value }
}
