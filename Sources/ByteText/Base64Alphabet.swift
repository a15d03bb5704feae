/// The 64 characters of base64 (RFC 4648, section 4) or base64url (section 5).
struct Base64Alphabet: Sendable {
  /// The characters. Their number is part of the type, so the compiler omits the bounds check for an index of six bits.
  let characters: InlineArray<64, UInt8>

  /// Creates an alphabet of the letters, the digits, and the two characters of `lastTwo`.
  init(lastTwo: String) {
    let text = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
    characters = InlineArray { text[$0] }
  }

  /// Returns the number of characters, without padding, for a number of bytes.
  static func encodedCount(of bytes: Int) -> Int { (bytes * 4 + 2) / 3 }

  /// Writes the characters of `bytes` to the start of `output`, without padding. Every three bytes become four
  /// characters. If one byte remains, it becomes two characters; if two remain, they become three. `output` must have
  /// room for ``encodedCount(of:)`` characters.
  func encode(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
    let characters = characters
    var written = 0
    var index = 0
    // Six bytes at a time, which are the highest ones of a word, become eight characters. There is one bounds check for
    // the bytes, and one for the characters.
    while index <= bytes.count &- 8 {
      let word = bytes.word(at: index).byteSwapped
      var text = output._mutatingExtracting(written..<written &+ 8)
      text[0] = characters[Int(truncatingIfNeeded: word >> 58)]
      text[1] = characters[Int(truncatingIfNeeded: word >> 52 & 0x3f)]
      text[2] = characters[Int(truncatingIfNeeded: word >> 46 & 0x3f)]
      text[3] = characters[Int(truncatingIfNeeded: word >> 40 & 0x3f)]
      text[4] = characters[Int(truncatingIfNeeded: word >> 34 & 0x3f)]
      text[5] = characters[Int(truncatingIfNeeded: word >> 28 & 0x3f)]
      text[6] = characters[Int(truncatingIfNeeded: word >> 22 & 0x3f)]
      text[7] = characters[Int(truncatingIfNeeded: word >> 16 & 0x3f)]
      written &+= 8
      index &+= 6
    }
    let completeLength = bytes.count - bytes.count % 3
    while index < completeLength {
      // One bounds check for all three bytes.
      let part = bytes.extracting(index..<index &+ 3)
      let group = Int(part[0]) << 16 | Int(part[1]) << 8 | Int(part[2])
      output[written] = characters[group >> 18]
      output[written &+ 1] = characters[group >> 12 & 0x3f]
      output[written &+ 2] = characters[group >> 6 & 0x3f]
      output[written &+ 3] = characters[group & 0x3f]
      written &+= 4
      index &+= 3
    }
    guard completeLength < bytes.count else { return }
    let second = completeLength + 1 < bytes.count ? Int(bytes[completeLength + 1]) : nil
    let group = Int(bytes[completeLength]) << 16 | (second ?? 0) << 8
    output[written] = characters[group >> 18]
    output[written + 1] = characters[group >> 12 & 0x3f]
    if second != nil { output[written + 2] = characters[group >> 6 & 0x3f] }
  }
}
