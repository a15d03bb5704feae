import HTTP1
import PathReading

extension ParameterBody {
  /// Reads the first `Content-Type` field that names a type from which servers read parameters; `nil` if no field does.
  /// Every field counts, because some servers use any one of several. Some servers read the body of a POST without the
  /// field as a form, if it is not longer than one.
  init?(of head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, formLimit: Int) {
    guard fields.has(.contentType) else {
      if case .length(let count) = head.body, count > formLimit { return nil }
      guard head.method == .post else { return nil }
      self = .urlEncoded
      return
    }
    for field in fields where field.known == .contentType {
      if let type = ParameterBody(mediaType: bytes.extracting(field.value)) {
        self = type
        return
      }
    }
    return nil
  }
}
