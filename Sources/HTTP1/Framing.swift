/// The two framing fields, read so that no second interpretation exists (RFC 9112, sections 6.1 to 6.3).
enum Framing {
  /// Returns the length; `nil` if the field is absent. Rejects repeated fields, lists, signs, anything except digits,
  /// and overflow.
  static func contentLength(_ bytes: Span<UInt8>, _ index: HeadIndex) throws(MessageError) -> Int? {
    guard index.has(.contentLength) else { return nil }
    var found: Int?
    for number in 0..<index.count where index[number].known == .contentLength {
      guard found == nil else { throw .malformed("more than one Content-Length field") }
      let value = index[number].value
      // 18 digits cannot overflow 63 bits.
      guard !value.isEmpty, value.count <= 18 else { throw .malformed("an invalid Content-Length") }
      var length = 0
      for position in value {
        guard ASCII.isDigit(bytes[position]) else { throw .malformed("an invalid Content-Length") }
        length = length * 10 + Int(bytes[position] - 0x30)
      }
      found = length
    }
    return found
  }

  /// True if the body is chunked. Rejects every coding except exactly `chunked`, and repeated fields.
  static func chunkedCoding(_ bytes: Span<UInt8>, _ index: HeadIndex) throws(MessageError) -> Bool {
    guard index.has(.transferEncoding) || index.has(.disguised) else { return false }
    var found = false
    for number in 0..<index.count where index[number].known == .transferEncoding {
      guard !found else { throw .malformed("more than one Transfer-Encoding field") }
      guard HeadIndex.equal(bytes, index[number].value, "chunked") else {
        throw .malformed("a Transfer-Encoding other than `chunked`")
      }
      found = true
    }
    for number in 0..<index.count where index[number].known == .disguised {
      // Another spelling of a framing field is harmless only if the next server does not fold it to the real name.
      let name = index[number].name
      if HeadIndex.folds(bytes, name, to: "content-length") || HeadIndex.folds(bytes, name, to: "transfer-encoding") {
        throw .malformed("a framing field in another spelling")
      }
    }
    return found
  }
}
