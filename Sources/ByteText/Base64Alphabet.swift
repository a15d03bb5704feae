/// The 64 characters of an encoding of RFC 4648, sections 4 and 5.
struct Base64Alphabet: Sendable {
  /// The compiler knows the number of characters, so it omits the bounds check for an index of six bits.
  let characters: InlineArray<64, UInt8>

  /// Creates the alphabet of letters, digits and two more characters.
  init(lastTwo: String) {
    let text = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
    characters = InlineArray { text[$0] }
  }

  /// Returns the number of characters, without padding, for a number of bytes.
  static func encodedCount(of bytes: Int) -> Int { (bytes * 4 + 2) / 3 }

  /// Writes the characters of `bytes` to the start of `output`, without padding: three bytes become four characters, and
  /// one or two last bytes become two or three. `output` must have room for ``encodedCount(of:)`` characters.
  func encode(_ bytes: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
    let characters = characters
    var written = 0
    var index = 0
    let whole = bytes.count - bytes.count % 3
    while index < whole {
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
    guard whole < bytes.count else { return }
    let second = whole + 1 < bytes.count ? Int(bytes[whole + 1]) : nil
    let group = Int(bytes[whole]) << 16 | (second ?? 0) << 8
    output[written] = characters[group >> 18]
    output[written + 1] = characters[group >> 12 & 0x3f]
    if second != nil { output[written + 2] = characters[group >> 6 & 0x3f] }
  }
}
