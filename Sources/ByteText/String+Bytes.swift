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
    return String(asciiReading: utf8.span)
  }

  /// Creates a text with U+007F in place of each byte from 0x80 up.
  public init(asciiReading bytes: Span<UInt8>) {
    self.init(utf8Count: bytes.count) { output in
      for index in bytes.indices { output[index] = bytes[index] < 0x80 ? bytes[index] : 0x7f }
    }
  }

  /// Returns true if both texts are equal without regard to ASCII case, as names of header fields and URI schemes are
  /// compared.
  @inlinable
  public func isEqualIgnoringCase(to other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.span.isEqualIgnoringCase(to: other.utf8.span)
  }
}
