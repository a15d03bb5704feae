/// Base64 with the URL and filename safe alphabet and without padding (RFC 4648, section 5; RFC 7636, appendix A).
///
/// Decoding accepts only the canonical form. Otherwise up to 16 different last characters would decode to the same
/// bytes, and the text of an encrypted value could be changed without detection.
public enum Base64URL {
  private static let alphabet = Base64Alphabet(lastTwo: "-_")

  /// The decoding table: six bits for each character of the alphabet, and 0xff for all other bytes.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xff, count: 256)
    for value in alphabet.characters.indices {
      table[Int(alphabet.characters[value])] = UInt8(truncatingIfNeeded: value)
    }
    return table
  }()

  /// Returns the canonical text of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    let bytes = bytes.span
    return String(utf8Count: Base64Alphabet.encodedCount(of: bytes.count)) { alphabet.encode(bytes, into: &$0) }
  }

  /// Returns the encoding of `bytes` without padding, as bytes.
  public static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
    var encoded = [UInt8](repeating: 0, count: Base64Alphabet.encodedCount(of: bytes.count))
    var output = encoded.mutableSpan
    alphabet.encode(bytes.span, into: &output)
    return encoded
  }

  /// Returns the bytes that `text` encodes, or `nil` if `text` is not the exact text that `encode` produces for those
  /// bytes.
  ///
  /// So the result is `nil` if the text contains padding, white space or other characters outside the alphabet, if its
  /// length is one more than a multiple of four, or if unused bits of the last character are not zero.
  public static func decode(_ text: String) -> [UInt8]? {
    let input = text.utf8.span
    guard input.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var isCanonical = false
    bytes.append(addingCapacity: input.count / 4 * 3 + 2) { isCanonical = decode(input, to: &$0) }
    return isCanonical ? bytes : nil
  }

  /// Appends the bytes that `input` encodes. Returns false if `input` is not canonical.
  private static func decode(_ input: Span<UInt8>, to output: inout OutputSpan<UInt8>) -> Bool {
    // The compiler sees that each byte is an index of this table, and omits the bounds checks.
    let values = values.span.extracting(0..<256)
    let completeLength = input.count & ~3
    // Valid values are below 0x40 and invalid ones are 0xff, so the bitwise OR of all values is 0xff if any character
    // is invalid.
    var combinedValues: UInt8 = 0
    var index = 0
    while index < completeLength {
      // One bounds check for all four characters.
      let text = input.extracting(index..<index &+ 4)
      let first = values[Int(text[0])]
      let second = values[Int(text[1])]
      let third = values[Int(text[2])]
      let fourth = values[Int(text[3])]
      combinedValues |= first | second | third | fourth
      output.append(first << 2 | second >> 4)
      output.append(second << 4 | third >> 2)
      output.append(third << 6 | fourth)
      index &+= 4
    }
    if completeLength < input.count {
      let first = values[Int(input[completeLength])]
      let second = values[Int(input[completeLength + 1])]
      let third = completeLength + 2 < input.count ? values[Int(input[completeLength + 2])] : nil
      combinedValues |= first | second | (third ?? 0)
      output.append(first << 2 | second >> 4)
      if let third { output.append(second << 4 | third >> 2) }
      // The unused bits of the last character must be zero.
      guard (third.map { $0 & 0x03 } ?? second & 0x0f) == 0 else { return false }
    }
    return combinedValues < 0x40
  }
}
