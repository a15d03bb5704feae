internal import Bytes

/// Field values as text without loss: a value may hold any byte from 0x80 up (`obs-text`, RFC 9110, section 5.5), and
/// what is not UTF-8 has to leave the gateway as it came.
///
/// A value that is not UTF-8 is read with each byte from 0x80 up as the scalar `U+10FF00` plus the byte, which nothing
/// else uses: those are the last private-use characters. A value that holds such characters itself is read the same way,
/// so every value has one text and every text one value.
public enum FieldText {
  private static let first: UInt32 = 0x10_ff80
  private static let base: UInt32 = 0x10_ff00

  /// The text of a field value.
  public static func decode(_ bytes: Span<UInt8>) -> String {
    if let text = String(validating: bytes), !isEscaped(text) { return text }
    var text = ""
    for index in bytes.indices {
      let byte = bytes[index]
      let code = byte < 0x80 ? UInt32(byte) : base + UInt32(byte)
      if let scalar = Unicode.Scalar(code) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  public static func decode(_ bytes: [UInt8]) -> String { decode(bytes.span) }

  /// The bytes that stand for a text.
  public static func encode(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    encode(text, onto: &bytes)
    return bytes
  }

  /// Appends the bytes that stand for a text.
  public static func encode(_ text: String, onto bytes: inout [UInt8]) {
    guard isEscaped(text) else {
      bytes.append(text)
      return
    }
    for scalar in text.unicodeScalars {
      if scalar.value >= first {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value - base))
      } else {
        bytes += UTF8.encode(scalar).map { Array($0) } ?? []
      }
    }
  }

  /// True if one of the last 128 characters of Unicode occurs. All others are told from them by their first byte.
  private static func isEscaped(_ text: String) -> Bool {
    guard text.utf8.span.contains(0xf4) else { return false }
    return text.unicodeScalars.contains { $0.value >= first }
  }
}
