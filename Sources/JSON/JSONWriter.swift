internal import ByteText

/// Writes JSON (RFC 8259).
enum JSONWriter {
  /// Returns a JSON object with the members sorted by the bytes of their names.
  static func text(of members: [String: JSONValue]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(512)
    write(.object(members), to: &text)
    return text
  }

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
    text.append(UInt8(ascii: "\""))
    for index in bytes.indices { escape(bytes[index], to: &text) }
    text.append(UInt8(ascii: "\""))
  }

  /// Appends the byte of a string, escaped if it must be (RFC 8259, section 7).
  private static func escape(_ byte: UInt8, to text: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): text += "\\\"".utf8
    case UInt8(ascii: "\\"): text += "\\\\".utf8
    case 0x08: text += "\\b".utf8
    case 0x09: text += "\\t".utf8
    case 0x0a: text += "\\n".utf8
    case 0x0c: text += "\\f".utf8
    case 0x0d: text += "\\r".utf8
    case 0..<0x20: text += "\\u00".utf8 + Array(Hex.encode([byte]).utf8)
    default: text.append(byte)
    }
  }
}
