/// Scanning of text as bytes: what the parsers of this project share.
///
/// The loops count offsets, because a range's iterator checks for overflow at every step and keeps the compiler from
/// working on several bytes at once.
extension Span where Element == UInt8 {
  /// The offset of the first `byte` at or after `start`; `nil` without one.
  @inlinable
  public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    var index = start
    while index < count {
      if self[index] == byte { return index }
      index &+= 1
    }
    return nil
  }

  /// Whether `byte` occurs. It is looked for to the end, several bytes at once: for what mostly is not there.
  @inlinable
  public func contains(_ byte: UInt8) -> Bool {
    var found: UInt8 = 0
    var index = 0
    while index < count {
      found |= self[index] == byte ? 1 : 0
      index &+= 1
    }
    return found != 0
  }

  /// Whether the text occurs.
  @inlinable
  public func contains(_ text: String) -> Bool {
    let text = text.utf8.span
    guard !text.isEmpty else { return true }
    var start = 0
    while let found = firstIndex(of: text[0], from: start), found + text.count <= count {
      if extracting(found..<found + text.count).isEqual(to: text) { return true }
      start = found + 1
    }
    return false
  }

  /// Whether both hold the same bytes. For what is public: the time tells where they differ.
  @inlinable
  public func isEqual(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    var difference: UInt8 = 0
    var index = 0
    while index < count {
      difference |= self[index] ^ other[index]
      index &+= 1
    }
    return difference == 0
  }

  /// The same, without regard to ASCII case.
  @inlinable
  public func isEqualIgnoringCase(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index < count {
      guard self[index].lowercasedASCII == other[index].lowercasedASCII else { return false }
      index &+= 1
    }
    return true
  }

  @inlinable
  public func starts(with other: Span<UInt8>) -> Bool {
    count >= other.count && extracting(0..<other.count).isEqual(to: other)
  }

  /// Whether one is a control character of ASCII (RFC 5234, appendix B.1: `CTL`).
  @inlinable
  public var hasControl: Bool {
    var found: UInt8 = 0
    var index = 0
    while index < count {
      let byte = self[index]
      found |= byte < 0x20 || byte == 0x7f ? 1 : 0
      index &+= 1
    }
    return found != 0
  }

  /// Whether all are visible characters of ASCII (RFC 5234, appendix B.1: `VCHAR`).
  @inlinable
  public var isVisible: Bool {
    var other: UInt8 = 0
    var index = 0
    while index < count {
      other |= self[index] &- 0x21 < 0x5e ? 0 : 1
      index &+= 1
    }
    return other == 0
  }

  /// Whether all are in ASCII.
  @inlinable
  public var isASCII: Bool {
    var all: UInt8 = 0
    var index = 0
    while index < count {
      all |= self[index]
      index &+= 1
    }
    return all < 0x80
  }
}

extension UInt8 {
  /// The letter in lower case; every other byte as it is.
  @inlinable
  public var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  /// What a hexadecimal digit of either case stands for; `nil` for every other byte.
  @inlinable
  public var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x37
    case 0x61...0x66: self - 0x57
    default: nil
    }
  }
}
