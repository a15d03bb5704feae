/// Base 64 with the URL and filename safe alphabet and without padding (RFC 4648, section 5; RFC 7636, appendix A).
///
/// Decoding takes the canonical form only: four spellings of a last character would otherwise mean one value, and a
/// sealed value could be altered without being noticed.
public enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Six bits for each byte that stands in the alphabet, 0xff for the others.
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xff, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    return table
  }()

  public static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = alphabet
    return unsafe String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { output in
      var written = 0
      var pending: UInt32 = 0
      var bits = 0
      for byte in bytes {
        pending = pending << 8 | UInt32(byte)
        bits += 8
        while bits >= 6 {
          bits -= 6
          // At most ceil(8 n / 6) characters are written, which is the capacity asked for; indices are checked.
          unsafe output[written] = alphabet[Int(pending >> UInt32(bits) & 0x3f)]
          written += 1
        }
      }
      if bits > 0 {
        unsafe output[written] = alphabet[Int(pending << UInt32(6 - bits) & 0x3f)]
        written += 1
      }
      return written
    }
  }

  /// The bytes that `text` stands for, or `nil` unless it is exactly what `encode` gives for them.
  ///
  /// Refused: padding, white space, other characters, a lone last character, and bits set in the part of the last
  /// character that carries nothing.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let values = values
    let length = text.utf8.count
    guard length % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length * 3 / 4)
    var pending: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      let value = values[Int(character)]
      guard value != 0xff else { return nil }
      pending = pending << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    guard pending & (1 << UInt32(bits) - 1) == 0 else { return nil }
    return bytes
  }
}
