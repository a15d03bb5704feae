internal import ByteText

/// A host, with or without a port, with which the `Host` of a request is compared.
struct HostName: Sendable {
  /// The name in lower case.
  let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.lowercased().utf8)
  }

  /// Returns true if the bytes in `range` of `other` are this name, without regard to case.
  func isEqual(_ other: Span<UInt8>, _ range: Range<Int>) -> Bool {
    bytes.span.isEqualIgnoringCase(to: other.extracting(range))
  }
}
