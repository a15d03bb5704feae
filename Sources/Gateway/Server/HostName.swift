internal import Bytes

/// The name that a request's `Host` is compared with.
struct HostName: Sendable {
  /// In lower case.
  let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.lowercased().utf8)
  }

  /// True if the bytes are this name, without regard to case.
  func isEqual(_ other: Span<UInt8>, _ range: Range<Int>) -> Bool {
    bytes.span.isEqualIgnoringCase(to: other.extracting(range))
  }
}
