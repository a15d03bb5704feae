internal import ByteText

/// Parts of the grammar that the heads of requests and responses share (RFC 9112, section 2).
enum HeadSyntax {
  /// True if `HTTP/` is at `position`. The caller guarantees that the five bytes exist.
  static func isHTTP(_ bytes: Span<UInt8>, at position: Int) -> Bool {
    bytes[position] == 0x48 && bytes[position + 1] == 0x54 && bytes[position + 2] == 0x54
      && bytes[position + 3] == 0x50 && bytes[position + 4] == 0x2f
  }

  /// Returns the offset after the line end whose CR is at `position`. Throws if no LF follows.
  static func lineEnd(_ bytes: Span<UInt8>, _ position: Int) throws(MessageError) -> Int {
    guard bytes[position + 1] == .lineFeed else { throw .malformed("a bare carriage return") }
    return position + 2
  }
}

extension UInt8 {
  /// The byte in lower case, or `-` for everything except letters and digits: two names are equal after folding if the
  /// most liberal server reads them as the same field. Servers that make a variable of the name, as CGI does, write `_`
  /// for each such byte (RFC 3875, section 4.1.18).
  var foldedInName: UInt8 { isLetterOrDigit ? lowercasedASCII : UInt8(ascii: "-") }
}
