/// Byte scanning that the parsers of this project share.
///
/// The loops increment an offset with `&+=`. The iterator of a range would check for overflow at every step, and this
/// check prevents the compiler from vectorising the loop.
extension Span where Element == UInt8 {
  /// Returns the offset of the first `byte` at or after `start`, or `nil` if there is no such byte.
  @inlinable
  public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    var index = start
    while index <= count &- 8 {
      let found = word(at: index).approximatePositions(of: byte)
      if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
    while index < count {
      if self[index] == byte { return index }
      index &+= 1
    }
    return nil
  }

  /// Returns the offset of the first byte at or after `start` that must not occur in a request target, or the number of
  /// bytes if there is no such byte.
  ///
  /// The gateway accepts every visible ASCII character except `"`, `<`, `>` and `#`. Browsers always encode these four,
  /// and some servers never answer a request that contains one of them. RFC 3986 also excludes `[ ] { } | \ ^` and the
  /// backtick, but browsers send those without encoding.
  @inlinable
  public func endOfTarget(from start: Int) -> Int {
    var index = start
    while index <= count &- 8 {
      let others = word(at: index).positionsOutsideTarget
      if others != 0 { return index &+ others.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
    // The masks contain the accepted characters, see `isMember(low:high:)`.
    while index < count, self[index].isMember(low: 0xafff_fff2_0000_0000, high: 0x7fff_ffff_ffff_ffff) { index &+= 1 }
    return index
  }

  /// Returns true if `byte` occurs. The loop does not stop at the first occurrence, so that the compiler can vectorise
  /// it. This is fastest for a byte that rarely occurs.
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

  /// Returns true if the UTF-8 bytes of `text` occur.
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

  /// Returns true if there is a byte that `positions` finds. `positions` gets eight bytes at a time as one little-endian
  /// number and returns 0 if it finds none of them.
  ///
  /// For short texts, such as values of header fields, this takes half the time of a vectorised loop, which tests up to
  /// 15 bytes one by one.
  @inlinable @inline(__always)
  public func containsAny(at positions: (UInt64) -> UInt64) -> Bool {
    var found: UInt64 = 0
    guard count >= 8 else {
      // The word is filled with a letter, which no caller looks for.
      var word: UInt64 = 0x6161_6161_6161_6161
      var index = 0
      while index < count {
        word = word << 8 | UInt64(self[index])
        index &+= 1
      }
      return positions(word) != 0
    }
    var index = 0
    while index <= count &- 8 {
      found |= positions(word(at: index))
      index &+= 8
    }
    // The last eight bytes include some that were already tested.
    if index < count { found |= positions(word(at: count &- 8)) }
    return found != 0
  }

  /// Returns true if both spans contain the same bytes. Do not use it for secrets, because its time may depend on the
  /// bytes.
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

  /// Returns true if both spans contain the same bytes without regard to ASCII case.
  @inlinable
  public func isEqualIgnoringCase(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    // Skips bytes that are equal even in case, eight at a time.
    while index <= count &- 8, word(at: index) == other.word(at: index) { index &+= 8 }
    // If the span has at least eight bytes, and fewer than eight are left, one comparison of the last eight bytes
    // covers those that are left. It repeats some bytes that were already compared.
    if index > 0, index > count &- 8, word(at: count &- 8) == other.word(at: count &- 8) { return true }
    while index < count {
      guard self[index].lowercasedASCII == other[index].lowercasedASCII else { return false }
      index &+= 1
    }
    return true
  }

  /// Returns true if the span begins with the bytes of `other`. Do not use it for secrets.
  @inlinable
  public func starts(with other: Span<UInt8>) -> Bool {
    count >= other.count && extracting(0..<other.count).isEqual(to: other)
  }

  /// Returns true if the condition is true for each byte.
  @inlinable @inline(__always)
  public func allSatisfy(_ isAllowed: (UInt8) -> Bool) -> Bool {
    var index = 0
    while index < count {
      guard isAllowed(self[index]) else { return false }
      index &+= 1
    }
    return true
  }

  /// True if there is an ASCII control character (RFC 5234, appendix B.1: `CTL`).
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

  /// True if all bytes are visible ASCII characters (RFC 5234, appendix B.1: `VCHAR`).
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

  /// True if all bytes are ASCII.
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
  /// Returns the eight bytes at `offset` as one little-endian number. Compiles to one load.
  @inlinable @inline(__always)
  public func word(at offset: Int) -> UInt64 {
    // `&+` lets the compiler see that the range has eight bytes. An overflow check is not needed, because `extracting`
    // checks that the range is within the span.
    let part = extracting(offset..<offset &+ 8)
    let low = UInt64(part[0]) | UInt64(part[1]) << 8 | UInt64(part[2]) << 16 | UInt64(part[3]) << 24
    let high = UInt64(part[4]) << 32 | UInt64(part[5]) << 40 | UInt64(part[6]) << 48 | UInt64(part[7]) << 56
    return low | high
  }
}

/// Scanning of eight bytes that are stored in one number. In each result, the highest bit of a byte is set if the byte
/// matches.
extension UInt64 {
  /// Returns the positions of `byte`. Only the lowest bit that is set is reliable: higher bits may be set for other
  /// bytes.
  @inlinable @inline(__always)
  public func approximatePositions(of byte: UInt8) -> UInt64 {
    // A byte that equals `byte` becomes 0, and subtracting 1 from 0 sets its highest bit.
    let differences = self ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return (differences &- 0x0101_0101_0101_0101) & ~differences & 0x8080_8080_8080_8080
  }

  /// Returns the positions of `byte`. All bits are reliable.
  @inlinable @inline(__always)
  public func positions(of byte: UInt8) -> UInt64 {
    // The sum of two 7-bit values does not carry into the next byte.
    let differences = self ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return ~((differences & 0x7f7f_7f7f_7f7f_7f7f) &+ 0x7f7f_7f7f_7f7f_7f7f | differences) & 0x8080_8080_8080_8080
  }

  /// The positions of ASCII control characters. Only the lowest bit that is set is reliable.
  @inlinable @inline(__always)
  public var controlPositions: UInt64 {
    // Subtracting 0x20 sets the highest bit of bytes below 0x20. Bytes that already had this bit are excluded.
    let areLow = (self &- 0x2020_2020_2020_2020) & ~self & 0x8080_8080_8080_8080
    return areLow | approximatePositions(of: 0x7f)
  }

  /// The positions of bytes that a request target must not contain: bytes that are not visible ASCII characters, and
  /// `"`, `#`, `<`, `>`. Only the lowest bit that is set is reliable.
  @inlinable @inline(__always)
  public var positionsOutsideTarget: UInt64 {
    let areLow = (self &- 0x2121_2121_2121_2121) & ~self
    // `"` differs from `#` only in the lowest bit, and `<` from `>` only in the next one.
    let areQuotes = (self | 0x0101_0101_0101_0101).approximatePositions(of: UInt8(ascii: "#"))
    let areBrackets = (self | 0x0202_0202_0202_0202).approximatePositions(of: UInt8(ascii: ">"))
    return (areLow | self) & 0x8080_8080_8080_8080 | areQuotes | areBrackets | approximatePositions(of: 0x7f)
  }

  /// The positions of all bytes except ASCII letters, digits and hyphens. All bits are reliable.
  @inlinable @inline(__always)
  public var positionsOutsideFieldName: UInt64 {
    // The sum of two 7-bit values does not carry into the next byte.
    let bytes = self & 0x7f7f_7f7f_7f7f_7f7f
    let folded = bytes | 0x2020_2020_2020_2020
    let areLetters = (folded &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(folded &+ 0x0505_0505_0505_0505)
    let areDigits = (bytes &+ 0x5050_5050_5050_5050) & ~(bytes &+ 0x4646_4646_4646_4646)
    let areHyphens = ~((bytes ^ 0x2d2d_2d2d_2d2d_2d2d) &+ 0x7f7f_7f7f_7f7f_7f7f)
    return (~(areLetters | areDigits | areHyphens) | self) & 0x8080_8080_8080_8080
  }
}
