internal import ByteText

/// Reads the two framing fields, Transfer-Encoding and Content-Length (RFC 9112, sections 6.1 to 6.3). Rejects every
/// form that two servers could read differently.
enum Framing {
  /// Returns the value of Content-Length in bytes; `nil` if the field is absent. Rejects repeated fields, and values
  /// that do not consist of 1 to 18 digits.
  static func contentLength(_ bytes: Span<UInt8>, _ index: HeadIndex) throws(MessageError) -> Int? {
    guard index.has(.contentLength) else { return nil }
    var found: Int?
    for number in 0..<index.count where index[number].known == .contentLength {
      guard found == nil else { throw .malformed("more than one Content-Length field") }
      let value = index[number].value
      // A number of 18 digits cannot overflow.
      guard !value.isEmpty, value.count <= 18 else { throw .malformed("an invalid Content-Length") }
      var length = 0
      for position in value {
        guard bytes[position].isDigit else { throw .malformed("an invalid Content-Length") }
        length = length * 10 + Int(bytes[position] &- 0x30)
      }
      found = length
    }
    return found
  }

  /// Returns true if the body is chunked. Rejects repeated fields, and every Transfer-Encoding except `chunked` (in any
  /// letter case). Also rejects a field whose name some servers read as the name of a framing field, e.g.
  /// `Content_Length`. The kind of such a field is `KnownField.disguised`.
  static func isChunked(_ bytes: Span<UInt8>, _ index: HeadIndex) throws(MessageError) -> Bool {
    guard index.has(.transferEncoding) || index.has(.disguised) else { return false }
    var found = false
    for number in 0..<index.count where index[number].known == .transferEncoding {
      guard !found else { throw .malformed("more than one Transfer-Encoding field") }
      guard HeadIndex.equalIgnoringCase(bytes, index[number].value, "chunked") else {
        throw .malformed("a Transfer-Encoding other than `chunked`")
      }
      found = true
    }
    for number in 0..<index.count where index[number].known == .disguised {
      let name = index[number].name
      if HeadIndex.equalAfterFolding(bytes, name, "content-length")
        || HeadIndex.equalAfterFolding(bytes, name, "transfer-encoding")
      {
        throw .malformed("a framing field in another spelling")
      }
    }
    return found
  }
}
