/// The name that a request's `Host` is compared with.
struct HostName: Sendable {
  /// In lower case.
  let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.lowercased().utf8)
  }

  /// Whether the bytes are this name, without regard to case.
  func isEqual(_ other: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard bytes.count == range.count else { return false }
    for offset in 0..<bytes.count {
      let byte = other[range.lowerBound + offset]
      guard (byte &- 0x41 < 26 ? byte | 0x20 : byte) == bytes[offset] else { return false }
    }
    return true
  }
}
