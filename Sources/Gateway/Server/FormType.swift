import HTTP1

/// The two content types from which servers read parameters.
enum FormType {
  case urlEncoded
  case multipart

  /// Returns the type of a request's body; `nil` for any other type.
  init?(_ bytes: Span<UInt8>, _ fields: HeadIndex) {
    guard fields.has(.contentType) else { return nil }
    for field in fields where field.known == .contentType {
      // A server may read parameters regardless of the text after the type, and regardless of further `Content-Type`
      // fields.
      if FormType.begins(bytes, field.value, "application/x-www-form-urlencoded") {
        self = .urlEncoded
        return
      }
      if FormType.begins(bytes, field.value, "multipart/") {
        self = .multipart
        return
      }
    }
    return nil
  }

  private static func begins(_ bytes: Span<UInt8>, _ value: Range<Int>, _ type: String) -> Bool {
    HeadIndex.equal(bytes, value.prefix(type.utf8.count), type)
  }
}
