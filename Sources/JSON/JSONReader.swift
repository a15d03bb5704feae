internal import ByteText

/// Reads JSON (RFC 8259) in UTF-8.
///
/// Foundation's decoder is not used: for each value it tries one type after the other, and each failure costs time in
/// proportion to the depth, so a short text could occupy a worker for seconds.
public enum JSONReader {
  /// The treatment of texts on which readers disagree: those with a byte order mark or bytes that are not UTF-8 (RFC 8259,
  /// section 8.1), and those with several members of the same name in an object (section 4).
  public enum Strictness: Sendable {
    /// The mark is ignored, U+FFFD replaces what is not UTF-8, and the first of the members counts.
    case lenient
    /// The text is refused, because another reader may refuse it or choose another member.
    case strict
  }

  /// The maximum depth of nested values. Token responses and metadata documents need less.
  public static let maximumDepth = 32
  /// The maximum number of digits that are read as a whole number. Each such number fits into 64 bits.
  private static let maximumDigits = 18
  /// The number of members for which an object has room at first: those of RFC 6749, section 5.1, and the ID token.
  private static let usualMemberCount = 6

  /// The maximum length of a text in bytes. The longest known metadata documents have about 16 KiB, and token responses are
  /// shorter.
  public static let maximumLength = 128 * 1024

  /// Returns the members of the JSON object in `bytes`; `nil` if the text is malformed, or too expensive (``JSONExtent``).
  static func members(of bytes: Span<UInt8>, _ strictness: Strictness) -> [String: JSONValue]? {
    JSONExtent.isWithinLimits(bytes) ? membersOfAnySize(of: bytes, strictness) : nil
  }

  /// Does the same for a text of the gateway itself, however expensive it is.
  static func membersOfAnySize(of bytes: Span<UInt8>, _ strictness: Strictness = .lenient) -> [String: JSONValue]? {
    var index = 0
    if strictness == .lenient { _ = skip("\u{feff}", bytes, &index) }
    skipSpace(bytes, &index)
    guard case .object(let members)? = value(bytes, &index, strictness, depth: 0) else { return nil }
    skipSpace(bytes, &index)
    return index == bytes.count ? members : nil
  }

  /// Reads the value that begins at the index, and moves the index behind it. Returns `nil` if the value is malformed or
  /// too deep. The functions for each type of value do the same.
  private static func value(
    _ bytes: Span<UInt8>, _ index: inout Int, _ strictness: Strictness, depth: Int
  ) -> JSONValue? {
    guard index < bytes.count, depth < maximumDepth else { return nil }
    switch bytes[index] {
    case UInt8(ascii: "\""): return string(bytes, &index, strictness).map(JSONValue.string)
    case UInt8(ascii: "{"): return object(bytes, &index, strictness, depth: depth)
    case UInt8(ascii: "["): return array(bytes, &index, strictness, depth: depth)
    case UInt8(ascii: "t"): return skip("true", bytes, &index) ? .bool(true) : nil
    case UInt8(ascii: "f"): return skip("false", bytes, &index) ? .bool(false) : nil
    case UInt8(ascii: "n"): return skip("null", bytes, &index) ? .null : nil
    default: return number(bytes, &index)
    }
  }

  private static func object(
    _ bytes: Span<UInt8>, _ index: inout Int, _ strictness: Strictness, depth: Int
  ) -> JSONValue? {
    index += 1
    skipSpace(bytes, &index)
    if skip("}", bytes, &index) { return .object([:]) }
    var members = [String: JSONValue](minimumCapacity: usualMemberCount)
    while true {
      guard let name = string(bytes, &index, strictness) else { return nil }
      skipSpace(bytes, &index)
      guard skip(":", bytes, &index) else { return nil }
      skipSpace(bytes, &index)
      guard let value = value(bytes, &index, strictness, depth: depth + 1) else { return nil }
      if let first = members.updateValue(value, forKey: name) {
        guard strictness == .lenient else { return nil }
        members[name] = first
      }
      skipSpace(bytes, &index)
      if skip("}", bytes, &index) { return .object(members) }
      guard skip(",", bytes, &index) else { return nil }
      skipSpace(bytes, &index)
    }
  }

  private static func array(
    _ bytes: Span<UInt8>, _ index: inout Int, _ strictness: Strictness, depth: Int
  ) -> JSONValue? {
    var values: [JSONValue] = []
    index += 1
    skipSpace(bytes, &index)
    if skip("]", bytes, &index) { return .array(values) }
    while true {
      guard let value = value(bytes, &index, strictness, depth: depth + 1) else { return nil }
      values.append(value)
      skipSpace(bytes, &index)
      if skip("]", bytes, &index) { return .array(values) }
      guard skip(",", bytes, &index) else { return nil }
      skipSpace(bytes, &index)
    }
  }

  private static func string(_ bytes: Span<UInt8>, _ index: inout Int, _ strictness: Strictness) -> String? {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "\""),
      let end = bytes.firstIndex(of: UInt8(ascii: "\""), from: index + 1)
    else { return nil }
    let content = bytes.extracting(index + 1..<end)
    guard isPlain(content) else { return stringWithEscapes(bytes, &index, strictness) }
    index = end + 1
    return text(of: content, strictness)
  }

  /// Returns the text of bytes in UTF-8. A lenient reader replaces what is not UTF-8, so that a name in another encoding
  /// does not lose the other members.
  private static func text(of bytes: Span<UInt8>, _ strictness: Strictness) -> String? {
    if let text = String(validating: bytes) { return text }
    return strictness == .lenient ? String(decoding: [UInt8](copying: bytes), as: UTF8.self) : nil
  }

  private static func stringWithEscapes(
    _ bytes: Span<UInt8>, _ index: inout Int, _ strictness: Strictness
  ) -> String? {
    index += 1
    let end = JSONExtent.endOfString(in: bytes, from: index)
    guard end < bytes.count else { return nil }
    var text: [UInt8] = []
    var isValid = true
    // No escape is shorter than its character.
    text.append(addingCapacity: end - index) { output in
      while index < end, isValid {
        let byte = bytes[index]
        index += 1
        if byte == UInt8(ascii: "\\") {
          guard let scalar = escape(bytes, &index), let units = UTF8.encode(scalar) else {
            isValid = false
            return
          }
          for unit in units { output.append(unit) }
        } else {
          isValid = byte >= 0x20
          output.append(byte)
        }
      }
    }
    guard isValid else { return nil }
    index = end + 1
    return self.text(of: text.span, strictness)
  }

  /// Reads the rest of an escape, behind its backslash. Returns `nil` for a surrogate without its partner.
  private static func escape(_ bytes: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
    guard index < bytes.count else { return nil }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = codeUnit(bytes, &index) else { return nil }
      guard (0xd800...0xdbff).contains(unit) else { return Unicode.Scalar(unit) }
      guard skip("\\u", bytes, &index), let low = codeUnit(bytes, &index), (0xdc00...0xdfff).contains(low) else {
        return nil
      }
      return Unicode.Scalar(0x10000 + (unit &- 0xd800) << 10 + (low &- 0xdc00))
    default: return nil
    }
  }

  /// Reads four hexadecimal digits.
  private static func codeUnit(_ bytes: Span<UInt8>, _ index: inout Int) -> UInt32? {
    guard index + 4 <= bytes.count else { return nil }
    var unit: UInt32 = 0
    for position in index..<index + 4 {
      guard let digit = bytes[position].hexadecimalValue else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    index += 4
    return unit
  }

  /// Reads `number = [ "-" ] int [ frac ] [ exp ]`. A number that is whole and fits into 64 bits becomes an integer, also
  /// if it is written with a fraction or an exponent. Returns `nil` for a number that is too large for `Double`.
  private static func number(_ bytes: Span<UInt8>, _ index: inout Int) -> JSONValue? {
    let start = index
    let isNegative = skip("-", bytes, &index)
    let first = index
    guard skipDigits(bytes, &index), bytes[first] != UInt8(ascii: "0") || index == first + 1 else { return nil }
    let end = index
    if skip(".", bytes, &index), !skipDigits(bytes, &index) { return nil }
    if skip("e", bytes, &index) || skip("E", bytes, &index) {
      if !skip("+", bytes, &index) { _ = skip("-", bytes, &index) }
      guard skipDigits(bytes, &index) else { return nil }
    }
    if index == end, end - first <= maximumDigits {
      var value: Int64 = 0
      for position in first..<end { value = value * 10 + Int64(bytes[position] &- 0x30) }
      return .integer(isNegative ? -value : value)
    }
    guard let text = String(validating: bytes.extracting(start..<index)) else { return nil }
    if let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else { return nil }
    return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
  }

  /// Moves the index behind all digits that follow. Returns false if there is none.
  private static func skipDigits(_ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    let start = index
    while index < bytes.count, bytes[index].isDigit { index += 1 }
    return index > start
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

  /// Returns true if the text has no control character, quotation mark or backslash, so that it needs no escapes.
  static func isPlain(_ bytes: Span<UInt8>) -> Bool {
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
