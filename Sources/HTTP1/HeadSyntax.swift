internal import ByteText

/// Parts of the grammar that the heads of requests and responses share (RFC 9112, section 2).
enum HeadSyntax {
  /// True if `HTTP/` is at `position`. The caller guarantees that the five bytes exist.
  static func isHTTP(_ bytes: Span<UInt8>, at position: Int) -> Bool {
    bytes[position] == 0x48 && bytes[position + 1] == 0x54 && bytes[position + 2] == 0x54
      && bytes[position + 3] == 0x50 && bytes[position + 4] == 0x2f
  }

  /// Returns the offset after the line end whose CR is at `position`. Throws if no LF follows.
  static func skipLineEnd(_ bytes: Span<UInt8>, _ position: Int) throws(MessageError) -> Int {
    guard bytes[position + 1] == .lineFeed else { throw .malformed("a bare carriage return") }
    return position + 2
  }
}

extension UInt8 {
  /// The folded form of a byte of a field name: a letter in lower case, a digit, or `-` for all other bytes.
  ///
  /// Two names have the same folded form if some server may read them as the same field. Servers that turn field names
  /// into variable names, as CGI does (RFC 3875, section 4.1.18), write `_` for `-`, and some of these servers also
  /// write `_` for every other special character.
  var foldedInName: UInt8 { isLetterOrDigit ? lowercasedASCII : UInt8(ascii: "-") }
}
