import ByteText
import Testing

/// Compares functions that read eight bytes at once with the same functions byte by byte.
struct WordTests {
  /// The bytes around the tested byte: below, at and above the limits of each class, and those that would carry into
  /// their neighbours.
  private static let surroundings: [UInt8] = [
    0x00, 0x0a, 0x0b, 0x1f, 0x20, 0x2d, 0x2f, 0x39, 0x41, 0x5b, 0x61, 0x7a, 0x7f, 0x80, 0xff,
  ]

  /// Every byte at every place, between equal bytes of each kind.
  private static func words(_ body: ([UInt8], UInt64) -> Bool) -> Bool {
    for around in surroundings {
      for place in 0..<8 {
        for byte in UInt8.min...UInt8.max {
          var bytes = [UInt8](repeating: around, count: 8)
          bytes[place] = byte
          guard body(bytes, bytes.span.word(at: 0)) else {
            Issue.record("\(bytes)")
            return false
          }
        }
      }
    }
    return true
  }

  /// The index of the first marked byte.
  private static func first(_ places: UInt64) -> Int? {
    places == 0 ? nil : places.trailingZeroBitCount / 8
  }

  @Test("A word has its first byte lowest, at any offset")
  func order() {
    let bytes: [UInt8] = Array(1...12)
    for offset in 0...4 {
      let expected = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
      let word = bytes.span.word(at: offset)
      #expect(word == expected)
    }
  }

  @Test("The first control character is found, if there is one")
  func controlPositions() {
    let areAllFound = WordTests.words { bytes, word in
      WordTests.first(word.controlPositions) == bytes.firstIndex { $0 < 0x20 || $0 == 0x7f }
    }
    #expect(areAllFound)
  }

  @Test("The first occurrence of any byte is found, if there is one")
  func approximatePositions() {
    for byte: UInt8 in [0x00, 0x0a, 0x3a, 0x7f, 0x80, 0xff] {
      let areAllFound = WordTests.words { bytes, word in
        WordTests.first(word.approximatePositions(of: byte)) == bytes.firstIndex(of: byte)
      }
      #expect(areAllFound)
    }
  }

  @Test("Every occurrence of a byte is marked, and no other byte")
  func positions() {
    for byte: UInt8 in [0x00, 0x0a, 0x3a, 0x7f, 0x80, 0xff] {
      let areAllFound = WordTests.words { bytes, word in
        word.positions(of: byte) == (0..<8).reduce(0) { bytes[$1] == byte ? $0 | 0x80 << UInt64(8 * $1) : $0 }
      }
      #expect(areAllFound)
    }
  }

  @Test("All bytes except letters, digits and hyphens are marked")
  func positionsOutsideFieldName() {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-".utf8)
    let areAllFound = WordTests.words { bytes, word in
      word.positionsOutsideFieldName
        == (0..<8).reduce(0) { plain.contains(bytes[$1]) ? $0 : $0 | 0x80 << UInt64(8 * $1) }
    }
    #expect(areAllFound)
  }

  @Test("A byte is found from the given offset to the last byte", arguments: 0...20)
  func search(count: Int) {
    var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: count)
    let finds = { (from: Int) -> Int? in bytes.span.firstIndex(of: 0x0a, from: from) }
    #expect((0...count).allSatisfy { finds($0) == nil })
    for place in 0..<count {
      bytes[place] = 0x0a
      #expect((0...place).allSatisfy { finds($0) == place })
      #expect(finds(place + 1) == nil)
      bytes[place] = UInt8(ascii: "x")
    }
  }

  @Test("Texts are compared without regard to case, at every index", arguments: 1...20)
  func equality(count: Int) {
    let text = [UInt8]("Authorization-Server".utf8.prefix(count))
    for place in 0..<count {
      var other = text
      if other[place] | 0x20 >= 0x61 { other[place] ^= 0x20 }
      let isEqual = text.span.isEqualIgnoringCase(to: other.span)
      other[place] = UInt8(ascii: "_")
      let isStillEqual = text.span.isEqualIgnoringCase(to: other.span)
      #expect(isEqual && !isStillEqual)
    }
  }
}
