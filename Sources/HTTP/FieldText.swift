internal import ByteText

/// The lossless conversion of field values to text and back. A value may contain any byte from 0x80 up (`obs-text`, RFC
/// 9110, section 5.5), and the gateway must forward a value that is not UTF-8 without change.
///
/// In a value that is not UTF-8, each byte from 0x80 up becomes the code point `U+10FF00` plus the byte. These are the
/// last 128 code points of Unicode, to which no standard assigns characters. If a value is UTF-8 but contains one of
/// these code points, its bytes are converted like those of a value that is not UTF-8. So different values always
/// become different texts.
public enum FieldText {
  /// Returns the text of a field value.
  public static func decode(_ bytes: Span<UInt8>) -> String {
    if let valid = try? UTF8Span(validating: bytes) {
      let text = String(copying: valid)
      if valid.isKnownASCII || !containsEscapeCodePoint(text) { return text }
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 4)
    for index in bytes.indices {
      let byte = bytes[index]
      // The code points U+10FF80 to U+10FFFF are F4 8F BE 80 to F4 8F BF BF in UTF-8.
      if byte >= 0x80 {
        text.append(0xf4)
        text.append(0x8f)
        text.append(0xbc | byte >> 6)
        text.append(0x80 | byte & 0x3f)
      } else {
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
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
    let span = text.utf8.span
    var index = 0
    while index < span.count {
      if isEscape(span, at: index) {
        bytes.append(span[index + 2] << 6 | span[index + 3] & 0x3f)
        index += 4
      } else {
        bytes.append(span[index])
        index += 1
      }
    }
  }

  /// Returns true if the UTF-8 form of one of the last 128 code points of Unicode begins at the index.
  private static func isEscape(_ text: Span<UInt8>, at index: Int) -> Bool {
    text[index] == 0xf4 && index + 3 < text.count && text[index + 1] == 0x8f && text[index + 2] >= 0xbe
  }

  private static func containsEscapeCodePoint(_ text: String) -> Bool {
    let span = text.utf8.span
    var next = span.firstIndex(of: 0xf4)
    while let index = next {
      if isEscape(span, at: index) { return true }
      next = span.firstIndex(of: 0xf4, from: index + 1)
    }
    return false
  }
}
