extension String {
  /// Creates a text from UTF-8 bytes; `nil` if they are not valid UTF-8.
  @inlinable
  public init?(validating bytes: Span<UInt8>) {
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: text)
  }

  /// The text with U+007F in place of each byte from 0x80 up: for a value whose grammar has only visible ASCII characters, so
  /// that no reading changes. Other characters would cost the gateway up to some thousand instructions each, because
  /// comparison and hashing normalise them and iteration finds their clusters.
  public var asciiReading: String {
    if utf8.span.isASCII { return self }
    return String(decoding: utf8.map { $0 < 0x80 ? $0 : 0x7f }, as: UTF8.self)
  }

  /// Returns true if both texts are equal without regard to ASCII case, as names of header fields and URI schemes are
  /// compared.
  @inlinable
  public func isEqualIgnoringCase(to other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.span.isEqualIgnoringCase(to: other.utf8.span)
  }
}
