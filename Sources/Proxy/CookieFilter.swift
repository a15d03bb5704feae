internal import ByteText
import HTTP
import Reactor

/// Finds the gateway's own cookie in passing messages, and removes it. Also finds the attribute `Secure` of the cookies
/// that the upstream sets.
enum CookieFilter {
  /// True if a `Cookie` value contains a pair with this name.
  static func contains(_ name: String, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    guard !name.isEmpty else { return false }
    var position = value.lowerBound
    while position < value.upperBound {
      let pair = nextPair(bytes, &position, value.upperBound)
      if isNamed(name, bytes, pair) { return true }
    }
    return false
  }

  /// Returns the range of the value of the first pair with this name in a `Cookie` value; `nil` without one.
  static func value(of name: String, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Range<Int>? {
    var position = value.lowerBound
    while position < value.upperBound {
      let pair = nextPair(bytes, &position, value.upperBound)
      guard isNamed(name, bytes, pair), let equals = pair.first(where: { bytes[$0] == 0x3d }) else { continue }
      return equals + 1..<pair.upperBound
    }
    return nil
  }

  /// Appends a `Cookie` field with all pairs except those of this name, or no field if no other pair is left.
  ///
  /// The appended field is never longer than the original, because a space follows a semicolon only where the original
  /// has one. So a buffer with room for the original field has room for this one.
  static func append(_ value: Range<Int>, of bytes: Span<UInt8>, without name: String, to buffer: Buffer) {
    var isFirst = true
    var position = value.lowerBound
    while position < value.upperBound {
      let before = position
      let pair = nextPair(bytes, &position, value.upperBound)
      if pair.isEmpty || isNamed(name, bytes, pair) { continue }
      buffer.append(isFirst ? "Cookie: " : pair.lowerBound > before ? "; " : ";")
      isFirst = false
      buffer.append(bytes, in: pair)
    }
    if !isFirst { buffer.append("\r\n") }
  }

  /// Returns a `Cookie` value without the pairs of this name; empty if no other pair is left.
  static func value(_ value: String, without name: String) -> String {
    let bytes = FieldText.encode(value)
    guard contains(name, bytes.span, 0..<bytes.count) else { return value }
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    var position = 0
    while position < bytes.count {
      let pair = nextPair(bytes.span, &position, bytes.count)
      if pair.isEmpty || isNamed(name, bytes.span, pair) { continue }
      if !kept.isEmpty { kept += [0x3b, 0x20] }
      kept.append(copying: bytes.span.extracting(pair))
    }
    return FieldText.decode(kept)
  }

  /// True if a `Set-Cookie` value sets the cookie with this name.
  static func sets(_ name: String, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    guard !name.isEmpty else { return false }
    var position = value.lowerBound
    // Browsers read `=name=value` as a cookie without a name and send it back as `name=value`.
    while position < value.upperBound, [0x20, 0x09, 0x3d].contains(bytes[position]) { position += 1 }
    return isNamed(name, bytes, nextPair(bytes, &position, value.upperBound))
  }

  /// True if a `Set-Cookie` value has the attribute `Secure` (RFC 6265, section 5.2.5).
  static func isSecure(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    var position = value.lowerBound
    _ = nextPair(bytes, &position, value.upperBound)
    while position < value.upperBound {
      if isNamed("secure", bytes, nextPair(bytes, &position, value.upperBound)) { return true }
    }
    return false
  }

  /// Returns the cookie pair or attribute from `position` to the next semicolon, without blanks at its beginning. Moves
  /// `position` behind the semicolon.
  private static func nextPair(_ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) -> Range<Int> {
    while position < end, bytes[position].isBlank { position += 1 }
    let start = position
    while position < end, bytes[position] != 0x3b { position += 1 }
    let pair = start..<position
    if position < end { position += 1 }
    return pair
  }

  /// True if the pair or attribute has this name, in any letter case. Cookie names are case-sensitive, but a server
  /// that folds case must not receive the cookie under another spelling.
  private static func isNamed(_ name: String, _ bytes: Span<UInt8>, _ pair: Range<Int>) -> Bool {
    let count = name.utf8.count
    guard pair.count >= count else { return false }
    var position = pair.lowerBound
    for byte in name.utf8 {
      if bytes[position].lowercasedASCII != byte.lowercasedASCII { return false }
      position += 1
    }
    while position < pair.upperBound, bytes[position].isBlank { position += 1 }
    return position == pair.upperBound || bytes[position] == 0x3d
  }
}
