extension String {
  /// The text that the bytes are in UTF-8; `nil` when they are not.
  @inlinable
  public init?(validating bytes: Span<UInt8>) {
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: text)
  }

  /// Whether the text is `other` without regard to ASCII case, as names of fields and schemes are compared.
  @inlinable
  public func isEqualIgnoringCase(to other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.span.isEqualIgnoringCase(to: other.utf8.span)
  }
}

extension [UInt8] {
  /// Not by an initialiser that takes a capacity: those look the array's type up, for three times the instructions.
  @inlinable
  public init(copying bytes: Span<UInt8>) {
    self.init()
    append(copying: bytes)
  }

  /// Appends the text in UTF-8, for two thirds of what appending its `utf8` takes, whose code counts references.
  @inlinable
  public mutating func append(_ text: String) { append(copying: text.utf8.span) }

  @inlinable
  public mutating func append(copying bytes: Span<UInt8>) {
    append(addingCapacity: bytes.count) { output in
      var index = 0
      while index < bytes.count {
        output.append(bytes[index])
        index &+= 1
      }
    }
  }
}
