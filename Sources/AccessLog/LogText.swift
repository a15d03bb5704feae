internal import ByteText

/// Text of a request in a line of a log.
public enum LogText {
  /// Appends the text as nginx does: quotes, backslashes, control characters and bytes outside of ASCII become `\xHH`, so
  /// the text cannot end its field or its line.
  static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    var start = 0
    for index in text.indices {
      let byte = text[index]
      if byte >= 0x20, byte < 0x7f, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
      bytes.append(copying: text.extracting(start..<index))
      bytes.append("\\x")
      bytes.append(UInt8(hexadecimalDigit: byte >> 4))
      bytes.append(UInt8(hexadecimalDigit: byte & 15))
      start = index + 1
    }
    bytes.append(copying: text.extracting(start..<text.count))
  }

  /// Returns the text in that form.
  public static func escaped(_ text: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
