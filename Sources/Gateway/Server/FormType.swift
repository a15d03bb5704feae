import HTTP1

/// The types of request bodies from which servers read parameters.
enum FormType {
  case urlEncoded
  case multipart

  /// Reads the first `Content-Type` field that names one of the two types; `nil` if no field does.
  init?(_ bytes: Span<UInt8>, _ fields: HeadIndex) {
    guard fields.has(.contentType) else { return nil }
    for field in fields where field.known == .contentType {
      // Only the beginning of the value is compared, and every field counts: some servers ignore the text after the
      // type or use any one of several `Content-Type` fields.
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

  /// Returns true if the value begins with `type`, in any letter case.
  private static func begins(_ bytes: Span<UInt8>, _ value: Range<Int>, _ type: String) -> Bool {
    HeadIndex.equalIgnoringCase(bytes, value.prefix(type.utf8.count), type)
  }
}
