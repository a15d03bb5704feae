extension String {
  /// The text that the bytes are in UTF-8; `nil` when they are not.
  @inlinable
  public init?(validating bytes: Span<UInt8>) {
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: text)
  }

  /// True if the text is `other` without regard to ASCII case, as names of fields and schemes are compared.
  @inlinable
  public func isEqualIgnoringCase(to other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.span.isEqualIgnoringCase(to: other.utf8.span)
  }
}
