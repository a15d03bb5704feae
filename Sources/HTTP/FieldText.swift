internal import ByteText

/// The lossless conversion of field values to text and back. A value may contain any byte from 0x80 up (`obs-text`, RFC
/// 9110, section 5.5), and the gateway must forward a value that is not UTF-8 without change.
///
/// In a value that is not UTF-8, each byte from 0x80 up becomes the code point `U+10FF00` plus the byte. These are the
/// last 128 code points of Unicode, to which no standard assigns characters. If a value is UTF-8 but contains one of
/// these code points, its bytes are converted like those of a value that is not UTF-8. So different values always
/// become different texts.
public enum FieldText {
  private static let firstEscapeCodePoint: UInt32 = 0x10_ff80
  private static let escapeBase: UInt32 = 0x10_ff00

  /// Returns the text of a field value.
  public static func decode(_ bytes: Span<UInt8>) -> String {
    if let valid = try? UTF8Span(validating: bytes) {
      let text = String(copying: valid)
      if valid.isKnownASCII || !containsEscapeCodePoint(text) { return text }
    }
    var text = ""
    for index in bytes.indices {
      let byte = bytes[index]
      let code = byte < 0x80 ? UInt32(byte) : escapeBase + UInt32(byte)
      if let scalar = Unicode.Scalar(code) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  /// Returns the text of a field value.
  public static func decode(_ bytes: [UInt8]) -> String { decode(bytes.span) }

  /// Returns the field value for a text from `decode`.
  public static func encode(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    encode(text, onto: &bytes)
    return bytes
  }

  /// Appends the field value for a text from `decode`.
  public static func encode(_ text: String, onto bytes: inout [UInt8]) {
    guard containsEscapeCodePoint(text) else {
      bytes.append(text)
      return
    }
    for scalar in text.unicodeScalars {
      if scalar.value >= firstEscapeCodePoint {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value &- escapeBase))
      } else {
        bytes += UTF8.encode(scalar).map { Array($0) } ?? []
      }
    }
  }

  /// Returns true if the text contains one of the last 128 code points of Unicode. Their UTF-8 form begins with 0xf4,
  /// so a text without this byte needs no further check.
  private static func containsEscapeCodePoint(_ text: String) -> Bool {
    guard text.utf8.span.contains(0xf4) else { return false }
    return text.unicodeScalars.contains { $0.value >= firstEscapeCodePoint }
  }
}
