/// Base64 with the URL and filename safe alphabet and without padding (RFC 4648, section 5; RFC 7636, appendix A).
///
/// Decoding accepts only the canonical form. Otherwise up to 16 spellings of the last character would have the same
/// value, and a sealed value could be altered without being noticed.
public enum Base64URL {
  /// The 64 characters. The compiler knows the length, so an index of six bits needs no check.
  private static let alphabet: InlineArray<64, UInt8> = {
    let text = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    return InlineArray { text[$0] }
  }()

  /// The six bits of each byte that is in the alphabet; 0xff for all other bytes.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xff, count: 256)
    for value in alphabet.indices { table[Int(alphabet[value])] = UInt8(value) }
    return table
  }()

  /// Returns the canonical text of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = alphabet
    let bytes = bytes.span
    // One character for each group of up to six bits. The output has room for exactly those: four for each group of
    // three bytes, and two or three for the rest. Indices are checked.
    return unsafe String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { output in
      var written = 0
      var index = 0
      let whole = bytes.count - bytes.count % 3
      while index < whole {
        // One bounds check for all three bytes.
        let part = bytes.extracting(index..<index &+ 3)
        let group = Int(part[0]) << 16 | Int(part[1]) << 8 | Int(part[2])
        unsafe output[written] = alphabet[group >> 18]
        unsafe output[written + 1] = alphabet[group >> 12 & 0x3f]
        unsafe output[written + 2] = alphabet[group >> 6 & 0x3f]
        unsafe output[written + 3] = alphabet[group & 0x3f]
        written += 4
        index &+= 3
      }
      guard whole < bytes.count else { return written }
      let second = whole + 1 < bytes.count ? Int(bytes[whole + 1]) : nil
      let group = Int(bytes[whole]) << 16 | (second ?? 0) << 8
      unsafe output[written] = alphabet[group >> 18]
      unsafe output[written + 1] = alphabet[group >> 12 & 0x3f]
      guard second != nil else { return written + 2 }
      unsafe output[written + 2] = alphabet[group >> 6 & 0x3f]
      return written + 3
    }
  }

  /// Returns the bytes that `text` encodes, or `nil` if `text` differs from the result of `encode` for them.
  ///
  /// Refused are padding, white space, characters outside the alphabet, a single last character, and non-zero unused
  /// bits in the last character.
  public static func decode(_ text: String) -> [UInt8]? {
    let input = text.utf8.span
    let values = values.span
    guard input.count % 4 != 1 else { return nil }
    let whole = input.count & ~3
    // Valid values are below 0x40 and invalid ones are 0xff, so the disjunction of all values shows an invalid
    // character.
    var seen: UInt8 = 0
    var bytes = [UInt8](repeating: 0, count: whole / 4 * 3)
    var output = bytes.mutableSpan
    var index = 0
    var written = 0
    while index < whole {
      let first = values[Int(input[index])]
      let second = values[Int(input[index &+ 1])]
      let third = values[Int(input[index &+ 2])]
      let fourth = values[Int(input[index &+ 3])]
      seen |= first | second | third | fourth
      output[written] = first << 2 | second >> 4
      output[written &+ 1] = second << 4 | third >> 2
      output[written &+ 2] = third << 6 | fourth
      index &+= 4
      written &+= 3
    }
    if whole < input.count {
      let first = values[Int(input[whole])]
      let second = values[Int(input[whole + 1])]
      let third = whole + 2 < input.count ? values[Int(input[whole + 2])] : nil
      seen |= first | second | (third ?? 0)
      bytes.append(first << 2 | second >> 4)
      if let third { bytes.append(second << 4 | third >> 2) }
      // The unused bits of the last character must be zero.
      guard (third.map { $0 & 0x03 } ?? second & 0x0f) == 0 else { return nil }
    }
    return seen < 0x40 ? bytes : nil
  }
}
