internal import ByteText

/// The lossless conversion of field values to text and back. A value may contain any byte from 0x80 up (`obs-text`, RFC
/// 9110, section 5.5), and the gateway must forward a value that is not UTF-8 without change.
///
/// In a value that is not UTF-8, each byte from 0x80 up becomes the code point `U+F700` plus the byte. To these 128 code
/// points, of the private use area, no standard assigns characters. If a value is UTF-8 but contains one of these code
/// points, its bytes are converted like those of a value that is not UTF-8. So different values always become different
/// texts. A text has at most three times as many bytes as its value.
public enum FieldText {
  /// The number of UTF-8 bytes of each of the code points.
  private static let escapeLength = 3

  /// Returns the text of a field value.
  public static func decode(_ bytes: Span<UInt8>) -> String {
    if let valid = try? UTF8Span(validating: bytes) {
      let text = String(copying: valid)
      if valid.isKnownASCII || !containsEscapeCodePoint(text) { return text }
    }
    var count = bytes.count
    for index in bytes.indices where bytes[index] >= 0x80 { count &+= escapeLength &- 1 }
    return String(utf8Count: count) { text in
      var end = 0
      for index in bytes.indices {
        let byte = bytes[index]
        guard byte >= 0x80 else {
          text[end] = byte
          end &+= 1
          continue
        }
        // The code points U+F780 to U+F7FF are EF 9E 80 to EF 9F BF in UTF-8.
        text[end] = 0xef
        text[end &+ 1] = 0x9e | byte >> 6 & 1
        text[end &+ 2] = 0x80 | byte & 0x3f
        end &+= escapeLength
      }
    }
  }

  /// Returns the text of a field value.
  public static func decode(_ bytes: [UInt8]) -> String { decode(bytes.span) }

  /// Returns the field value for a text from `decode`.
  public static func encode(_ text: String) -> [UInt8] { encode(text.utf8.span) }

  /// Returns the field value for a text from `decode`, or for a part of one, in UTF-8.
  public static func encode(_ text: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    encode(text, onto: &bytes)
    return bytes
  }

  /// Appends the field value for a text from `decode`.
  public static func encode(_ text: String, onto bytes: inout [UInt8]) { encode(text.utf8.span, onto: &bytes) }

  private static func encode(_ text: Span<UInt8>, onto bytes: inout [UInt8]) {
    let escapes = escapeCount(text)
    guard escapes > 0 else { return bytes.append(copying: text) }
    bytes.append(addingCapacity: text.count - escapes * (escapeLength - 1)) { output in
      var index = 0
      while index < text.count {
        if isEscape(text, at: index) {
          output.append(0x80 | text[index + 1] << 6 | text[index + 2] & 0x3f)
          index += escapeLength
        } else {
          output.append(text[index])
          index += 1
        }
      }
    }
  }

  /// Returns the number of the code points in the text.
  private static func escapeCount(_ text: Span<UInt8>) -> Int {
    var count = 0
    var next = text.firstIndex(of: 0xef)
    while let index = next {
      let isEscape = isEscape(text, at: index)
      if isEscape { count += 1 }
      next = text.firstIndex(of: 0xef, from: index + (isEscape ? escapeLength : 1))
    }
    return count
  }

  /// Returns true if the UTF-8 form of one of the code points begins at the index.
  private static func isEscape(_ text: Span<UInt8>, at index: Int) -> Bool {
    text[index] == 0xef && index + 2 < text.count && text[index + 1] & 0xfe == 0x9e
  }

  private static func containsEscapeCodePoint(_ text: String) -> Bool {
    let span = text.utf8.span
    var next = span.firstIndex(of: 0xef)
    while let index = next {
      if isEscape(span, at: index) { return true }
      next = span.firstIndex(of: 0xef, from: index + 1)
    }
    return false
  }
}
