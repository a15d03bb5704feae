extension String {
  /// Creates a text from UTF-8 bytes; `nil` if they are not valid UTF-8.
  @inlinable
  public init?(validating bytes: Span<UInt8>) {
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: text)
  }

  /// Returns true if both texts are equal without regard to ASCII case, as names of header fields and URI schemes are
  /// compared.
  @inlinable
  public func isEqualIgnoringCase(to other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.span.isEqualIgnoringCase(to: other.utf8.span)
  }
}
