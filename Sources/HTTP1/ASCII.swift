internal import Bytes

/// Character classes of the HTTP grammar (RFC 9110, section 5.6; RFC 9112, section 2.2).
enum ASCII {
  static let cr: UInt8 = 0x0d
  static let lf: UInt8 = 0x0a
  static let space: UInt8 = 0x20
  static let tab: UInt8 = 0x09
  static let colon: UInt8 = 0x3a

  /// True for a tchar (RFC 9110, section 5.6.2).
  ///
  /// The literals have one bit per byte value, so that a class test is a shift and a mask. They are not global
  /// constants, because a computed global is guarded by a check at each use.
  static func isToken(_ byte: UInt8) -> Bool {
    let low: UInt64 = 0x3ff_6cfa_0000_0000
    let high: UInt64 = 0x57ff_ffff_c7ff_fffe
    return byte < 0x80 && (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
  }

  /// True for a byte that the gateway accepts in a request target: a visible ASCII character except `"`, `<`, `>` and
  /// `#`. Browsers never send these four without encoding them, and some servers never answer a request with one of
  /// them. RFC 3986 also excludes `[ ] { } | \ ^` and the backtick, but browsers send those.
  private static func isTarget(_ byte: UInt8) -> Bool {
    let low: UInt64 = 0xafff_fff2_0000_0000
    let high: UInt64 = 0x7fff_ffff_ffff_ffff
    return byte < 0x80 && (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
  }

  /// Returns the offset of the first byte at or after `start` that may not occur in a request target. The caller
  /// guarantees that there is such a byte.
  static func endOfTarget(in bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index <= bytes.count &- 8 {
      let others = bytes.word(at: index).positionsOutsideTarget
      if others != 0 { return index &+ others.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
    while isTarget(bytes[index]) { index &+= 1 }
    return index
  }

  /// True for a byte that may occur in a field value: a visible character, a space, a tab or obs-text.
  static func isFieldValue(_ byte: UInt8) -> Bool {
    byte >= 0x20 ? byte != 0x7f : byte == tab
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  static func hexValue(_ byte: UInt8) -> Int? {
    if isDigit(byte) { return Int(byte &- 0x30) }
    let lower = byte | 0x20
    return lower >= 0x61 && lower <= 0x66 ? Int(lower &- 0x57) : nil
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// True if `HTTP/` is at `position`. The caller guarantees that the five bytes exist.
  static func isHTTP(_ bytes: Span<UInt8>, at position: Int) -> Bool {
    bytes[position] == 0x48 && bytes[position + 1] == 0x54 && bytes[position + 2] == 0x54
      && bytes[position + 3] == 0x50 && bytes[position + 4] == 0x2f
  }

  /// Returns the offset after the line end whose CR is at `position`. Throws if no LF follows.
  static func lineEnd(_ bytes: Span<UInt8>, _ position: Int) throws(MessageError) -> Int {
    guard bytes[position + 1] == lf else { throw .malformed("a bare carriage return") }
    return position + 2
  }

  /// Returns the byte in lower case, or `-` for everything except letters and digits: two names are equal after folding
  /// if the most liberal server reads them as the same field. Servers that make a variable of the name, as CGI does,
  /// write `_` for each such byte (RFC 3875, section 4.1.18).
  static func folded(_ byte: UInt8) -> UInt8 {
    isDigit(byte) || (byte | 0x20) &- 0x61 < 26 ? lowercased(byte) : 0x2d
  }
}
