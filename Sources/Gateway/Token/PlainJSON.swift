internal import ByteText

/// Reads and writes the subset of JSON (RFC 8259) that nearly all token responses use: objects and arrays of strings
/// without escapes, whole numbers, `true`, `false` and `null`.
///
/// For any other text or value the functions return `nil`, and the caller uses Foundation. Within the subset, the
/// result is the same as Foundation's, at about a tenth of the cost.
enum PlainJSON {
  /// The maximum depth of nested values. Token responses need less.
  private static let maximumDepth = 16
  /// The maximum number of digits of a number. Every number of 18 decimal digits fits into 64 bits.
  private static let maximumDigits = 18

  /// The number of members for which an object has room at first: those of RFC 6749, section 5.1, and the ID token.
  private static let usualMemberCount = 6

  // MARK: Reading

  /// Returns the members of the JSON object in `bytes`; `nil` if the text is outside the subset or malformed.
  static func members(of bytes: Span<UInt8>) -> [String: JSONValue]? {
    var index = 0
    skipSpace(bytes, &index)
    guard case .object(let members)? = value(bytes, &index, depth: 0) else { return nil }
    skipSpace(bytes, &index)
    return index == bytes.count ? members : nil
  }

  /// Reads the value that begins at the index, and moves the index behind it. Returns `nil` if the value is outside the
  /// subset. The functions for each type of value do the same.
  private static func value(_ bytes: Span<UInt8>, _ index: inout Int, depth: Int) -> JSONValue? {
    guard index < bytes.count, depth < maximumDepth else { return nil }
    switch bytes[index] {
    case UInt8(ascii: "\""): return string(bytes, &index).map(JSONValue.string)
    case UInt8(ascii: "{"): return object(bytes, &index, depth: depth)
    case UInt8(ascii: "["): return array(bytes, &index, depth: depth)
    case UInt8(ascii: "t"): return skip("true", bytes, &index) ? .bool(true) : nil
    case UInt8(ascii: "f"): return skip("false", bytes, &index) ? .bool(false) : nil
    case UInt8(ascii: "n"): return skip("null", bytes, &index) ? .null : nil
    default: return integer(bytes, &index).map(JSONValue.integer)
    }
  }

  private static func object(_ bytes: Span<UInt8>, _ index: inout Int, depth: Int) -> JSONValue? {
    index += 1
    skipSpace(bytes, &index)
    if skip("}", bytes, &index) { return .object([:]) }
    var members = [String: JSONValue](minimumCapacity: usualMemberCount)
    while true {
      guard let name = string(bytes, &index) else { return nil }
      skipSpace(bytes, &index)
      guard skip(":", bytes, &index) else { return nil }
      skipSpace(bytes, &index)
      guard let value = value(bytes, &index, depth: depth + 1) else { return nil }
      // If several members have the same name, the first counts, as in Foundation.
      if let first = members.updateValue(value, forKey: name) { members[name] = first }
      skipSpace(bytes, &index)
      if skip("}", bytes, &index) { return .object(members) }
      guard skip(",", bytes, &index) else { return nil }
      skipSpace(bytes, &index)
    }
  }

  private static func array(_ bytes: Span<UInt8>, _ index: inout Int, depth: Int) -> JSONValue? {
    var values: [JSONValue] = []
    index += 1
    skipSpace(bytes, &index)
    if skip("]", bytes, &index) { return .array(values) }
    while true {
      guard let value = value(bytes, &index, depth: depth + 1) else { return nil }
      values.append(value)
      skipSpace(bytes, &index)
      if skip("]", bytes, &index) { return .array(values) }
      guard skip(",", bytes, &index) else { return nil }
      skipSpace(bytes, &index)
    }
  }

  private static func string(_ bytes: Span<UInt8>, _ index: inout Int) -> String? {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "\""),
      let end = bytes.firstIndex(of: UInt8(ascii: "\""), from: index + 1)
    else { return nil }
    let content = bytes.extracting(index + 1..<end)
    guard isPlain(content) else { return nil }
    index = end + 1
    return String(validating: content)
  }

  private static func integer(_ bytes: Span<UInt8>, _ index: inout Int) -> Int64? {
    let isNegative = skip("-", bytes, &index)
    let start = index
    var value: Int64 = 0
    while index < bytes.count, bytes[index].isDigit, index - start < maximumDigits {
      value = value * 10 + Int64(bytes[index] - 0x30)
      index += 1
    }
    guard index > start, bytes[start] != UInt8(ascii: "0") || index == start + 1 else { return nil }
    return isNegative ? -value : value
  }

  /// Moves the index behind `text`. Returns false if the bytes at the index are different.
  private static func skip(_ text: String, _ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    let end = index + text.utf8.count
    guard end <= bytes.count, bytes.extracting(index..<end).isEqual(to: text.utf8.span) else { return false }
    index = end
    return true
  }

  private static func skipSpace(_ bytes: Span<UInt8>, _ index: inout Int) {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0a, 0x0d: index += 1
      default: return
      }
    }
  }

  // MARK: Writing

  /// Returns a JSON object with the members sorted by the bytes of their names; `nil` if a value is outside the subset.
  static func text(of members: [String: JSONValue]) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(512)
    return write(.object(members), to: &text, depth: 0) ? text : nil
  }

  /// Appends the JSON text of the value. Returns false if the value is outside the subset.
  private static func write(_ value: JSONValue, to text: inout [UInt8], depth: Int) -> Bool {
    guard depth < maximumDepth else { return false }
    switch value {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .integer(let value): text += String(value).utf8
    // Only Foundation writes fractions, because it chooses their number of digits.
    case .number: return false
    case .string(let value): return write(value, to: &text)
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        guard write(value, to: &text, depth: depth + 1) else { return false }
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      var isFirst = true
      for member in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        guard write(member.key, to: &text) else { return false }
        text.append(UInt8(ascii: ":"))
        guard write(member.value, to: &text, depth: depth + 1) else { return false }
      }
      text.append(UInt8(ascii: "}"))
    }
    return true
  }

  private static func write(_ string: String, to text: inout [UInt8]) -> Bool {
    let bytes = string.utf8.span
    guard isPlain(bytes) else { return false }
    text.append(UInt8(ascii: "\""))
    text.append(string)
    text.append(UInt8(ascii: "\""))
    return true
  }

  /// Returns true if the text needs no escapes, because it has no control character, quotation mark or backslash.
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    var found: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let isMark = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
      found |= isMark || byte < 0x20 || byte == 0x7f ? 1 : 0
      index &+= 1
    }
    return found == 0
  }
}
