internal import ByteText

/// Writes JSON (RFC 8259).
enum JSONWriter {
  /// Returns a JSON object with the members sorted by the bytes of their names.
  static func text(of members: [String: JSONValue]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(max(512, size(of: .object(members))))
    write(.object(members), to: &text)
    return text
  }

  /// Returns the room to reserve for a value, so that the text never grows by much, which would need three times its memory.
  private static func size(of value: JSONValue) -> Int {
    switch value {
    case .null, .bool, .integer, .number: 8
    case .string(let text): room(for: text)
    case .array(let values): values.reduce(2) { $0 + size(of: $1) }
    case .object(let members): members.reduce(2) { $0 + room(for: $1.key) + 2 + size(of: $1.value) }
    }
  }

  /// Returns the room for a string, which is enough for nearly all. Only the escapes of a long one are counted.
  private static func room(for text: String) -> Int {
    text.utf8.count > longString ? size(of: text.utf8.span) : text.utf8.count + 3
  }

  /// The length in bytes from which a string is long.
  private static let longString = 2_048

  /// Returns the room for a string with its quotation marks.
  private static func size(of text: Span<UInt8>) -> Int {
    var size = text.count + 2
    guard !JSONReader.isPlain(text) else { return size }
    for index in text.indices where needsEscape(text[index]) {
      size += text[index] == UInt8(ascii: "\"") || text[index] == UInt8(ascii: "\\") ? 1 : lengthOfEscape - 1
    }
    return size
  }

  /// The length of an escape of a control character.
  private static let lengthOfEscape = 6

  private static func write(_ value: JSONValue, to text: inout [UInt8]) {
    switch value {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .integer(let value): text += String(value).utf8
    // JSON has no infinity. The reader returns none.
    case .number(let value): text += (value.isFinite ? String(value) : "null").utf8
    case .string(let value): write(value, to: &text)
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        write(value, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      var isFirst = true
      for member in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        write(member.key, to: &text)
        text.append(UInt8(ascii: ":"))
        write(member.value, to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    let bytes = string.utf8.span
    guard !JSONReader.isPlain(bytes) else {
      text.append(addingCapacity: bytes.count + 2) { output in
        output.append(UInt8(ascii: "\""))
        output.append(copying: bytes)
        output.append(UInt8(ascii: "\""))
      }
      return
    }
    text.append(addingCapacity: size(of: bytes)) { output in
      output.append(UInt8(ascii: "\""))
      for index in bytes.indices {
        if needsEscape(bytes[index]) { escape(bytes[index], to: &output) } else { output.append(bytes[index]) }
      }
      output.append(UInt8(ascii: "\""))
    }
  }

  /// True for a byte that must be escaped in a string (RFC 8259, section 7).
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Appends the escape of a byte, which has up to six bytes.
  private static func escape(_ byte: UInt8, to output: inout OutputSpan<UInt8>) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x09: output.append(UInt8(ascii: "t"))
    case 0x0a: output.append(UInt8(ascii: "n"))
    case 0x0c: output.append(UInt8(ascii: "f"))
    case 0x0d: output.append(UInt8(ascii: "r"))
    case 0..<0x20:
      output.append("u00")
      output.append(UInt8(hexadecimalDigit: byte >> 4))
      output.append(UInt8(hexadecimalDigit: byte & 15).lowercasedASCII)
    default: output.append(byte)
    }
  }
}
