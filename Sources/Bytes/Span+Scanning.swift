/// Scanning of text as bytes: what the parsers of this project share.
///
/// The loops count offsets, because a range's iterator checks for overflow at every step and keeps the compiler from
/// working on several bytes at once.
extension Span where Element == UInt8 {
  /// The offset of the first `byte` at or after `start`; `nil` without one.
  @inlinable
  public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    var index = start
    while index <= count &- 8 {
      let found = word(at: index).places(of: byte)
      if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
    while index < count {
      if self[index] == byte { return index }
      index &+= 1
    }
    return nil
  }

  /// True if `byte` occurs. It is looked for to the end, several bytes at once: for what mostly is not there.
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

  /// True if the text occurs.
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

  /// True if both hold the same bytes. For what is public: the time tells where they differ.
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
    // What is the same in case, too, eight bytes at a time.
    while index <= count &- 8, word(at: index) == other.word(at: index) { index &+= 8 }
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

  /// True if one is a control character of ASCII (RFC 5234, appendix B.1: `CTL`).
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

  /// True if all are visible characters of ASCII (RFC 5234, appendix B.1: `VCHAR`).
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

  /// True if all are in ASCII.
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

extension Span where Element == UInt8 {
  /// The eight bytes at `offset`, the first of them in the lowest place. The compiler makes one load of it.
  @inlinable @inline(__always)
  public func word(at offset: Int) -> UInt64 {
    // A sum that is not checked tells the compiler that there are eight; the range is checked.
    let part = extracting(offset..<offset &+ 8)
    let low = UInt64(part[0]) | UInt64(part[1]) << 8 | UInt64(part[2]) << 16 | UInt64(part[3]) << 24
    let high = UInt64(part[4]) << 32 | UInt64(part[5]) << 40 | UInt64(part[6]) << 48 | UInt64(part[7]) << 56
    return low | high
  }
}

/// Eight bytes as one number. A byte's place is told by its highest bit.
extension UInt64 {
  /// The places where `byte` stands. Exact up to the first.
  @inlinable @inline(__always)
  public func places(of byte: UInt8) -> UInt64 {
    // What differs in nothing is below 1, so that taking 1 away sets the highest bit.
    let others = self ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return (others &- 0x0101_0101_0101_0101) & ~others & 0x8080_8080_8080_8080
  }

  /// The places where `byte` stands, all of them.
  @inlinable @inline(__always)
  public func everyPlace(of byte: UInt8) -> UInt64 {
    // Sums of seven bits each do not run into the next byte.
    let others = self ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return ~((others & 0x7f7f_7f7f_7f7f_7f7f) &+ 0x7f7f_7f7f_7f7f_7f7f | others) & 0x8080_8080_8080_8080
  }

  /// The places of control characters of ASCII. Exact up to the first.
  @inlinable @inline(__always)
  public var controls: UInt64 {
    // Taking 0x20 away sets the highest bit of what is below and had it not set.
    let areLow = (self &- 0x2020_2020_2020_2020) & ~self & 0x8080_8080_8080_8080
    return areLow | places(of: 0x7f)
  }

  /// The places of bytes that no request target may have: all but the visible characters of ASCII, and `"`, `#`, `<`, `>`.
  /// Exact up to the first.
  @inlinable @inline(__always)
  public var unlikeTargets: UInt64 {
    let areLow = (self &- 0x2121_2121_2121_2121) & ~self
    // `"` differs from `#` in one bit, and `<` from `>` in another.
    let areQuotes = (self | 0x0101_0101_0101_0101).places(of: UInt8(ascii: "#"))
    let areBrackets = (self | 0x0202_0202_0202_0202).places(of: UInt8(ascii: ">"))
    return (areLow | self) & 0x8080_8080_8080_8080 | areQuotes | areBrackets | places(of: 0x7f)
  }

  /// The places of all but letters, digits and hyphens.
  @inlinable @inline(__always)
  public var unlikeNames: UInt64 {
    // Sums of seven bits each do not run into the next byte.
    let bytes = self & 0x7f7f_7f7f_7f7f_7f7f
    let folded = bytes | 0x2020_2020_2020_2020
    let areLetters = (folded &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(folded &+ 0x0505_0505_0505_0505)
    let areDigits = (bytes &+ 0x5050_5050_5050_5050) & ~(bytes &+ 0x4646_4646_4646_4646)
    let areHyphens = ~((bytes ^ 0x2d2d_2d2d_2d2d_2d2d) &+ 0x7f7f_7f7f_7f7f_7f7f)
    return (~(areLetters | areDigits | areHyphens) | self) & 0x8080_8080_8080_8080
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
