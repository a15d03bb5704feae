/// Base64 with the URL and filename safe alphabet and without padding (RFC 4648, section 5; RFC 7636, appendix A).
///
/// Decoding accepts only the canonical form. Otherwise up to 16 different last characters would decode to the same
/// bytes, and the text of a sealed value could be changed without detection.
public enum Base64URL {
  /// The 64 characters. The compiler knows their number, so it omits the bounds check for an index of six bits.
  private static let alphabet: InlineArray<64, UInt8> = {
    let text = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    return InlineArray { text[$0] }
  }()

  /// The decoding table: the six bits for each byte of the alphabet, and 0xff for all other bytes.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xff, count: 256)
    for value in alphabet.indices { table[Int(alphabet[value])] = UInt8(value) }
    return table
  }()

  /// Returns the canonical text of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = alphabet
    let bytes = bytes.span
    // Three bytes become four characters; one or two last bytes become two or three characters. The capacity is exactly
    // the number of characters. Release builds do not check the indices of `output`, so this number must be correct.
    return unsafe String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { output in
      var written = 0
      var index = 0
      let completeLength = bytes.count - bytes.count % 3
      while index < completeLength {
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
      guard completeLength < bytes.count else { return written }
      let second = completeLength + 1 < bytes.count ? Int(bytes[completeLength + 1]) : nil
      let group = Int(bytes[completeLength]) << 16 | (second ?? 0) << 8
      unsafe output[written] = alphabet[group >> 18]
      unsafe output[written + 1] = alphabet[group >> 12 & 0x3f]
      guard second != nil else { return written + 2 }
      unsafe output[written + 2] = alphabet[group >> 6 & 0x3f]
      return written + 3
    }
  }

  /// Returns the bytes that `text` encodes, or `nil` if `text` is not the exact text that `encode` produces for those
  /// bytes.
  ///
  /// So the result is `nil` for padding, white space, other characters outside the alphabet, a length of one more than
  /// a multiple of four, and unused bits of the last character that are not zero.
  public static func decode(_ text: String) -> [UInt8]? {
    let input = text.utf8.span
    let values = values.span
    guard input.count % 4 != 1 else { return nil }
    let completeLength = input.count & ~3
    // Valid values are below 0x40 and invalid ones are 0xff, so the bitwise OR of all values is 0xff if any character
    // is invalid.
    var combinedValues: UInt8 = 0
    var bytes = [UInt8](repeating: 0, count: completeLength / 4 * 3)
    var output = bytes.mutableSpan
    var index = 0
    var written = 0
    while index < completeLength {
      let first = values[Int(input[index])]
      let second = values[Int(input[index &+ 1])]
      let third = values[Int(input[index &+ 2])]
      let fourth = values[Int(input[index &+ 3])]
      combinedValues |= first | second | third | fourth
      output[written] = first << 2 | second >> 4
      output[written &+ 1] = second << 4 | third >> 2
      output[written &+ 2] = third << 6 | fourth
      index &+= 4
      written &+= 3
    }
    if completeLength < input.count {
      let first = values[Int(input[completeLength])]
      let second = values[Int(input[completeLength + 1])]
      let third = completeLength + 2 < input.count ? values[Int(input[completeLength + 2])] : nil
      combinedValues |= first | second | (third ?? 0)
      bytes.append(first << 2 | second >> 4)
      if let third { bytes.append(second << 4 | third >> 2) }
      // The unused bits of the last character must be zero.
      guard (third.map { $0 & 0x03 } ?? second & 0x0f) == 0 else { return nil }
    }
    return combinedValues < 0x40 ? bytes : nil
  }
}
