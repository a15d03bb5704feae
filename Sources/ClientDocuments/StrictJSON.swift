internal import ByteText

/// A JSON value (RFC 8259), as far as client metadata need it: the members of other types are only skipped.
enum StrictJSON: Equatable, Sendable {
  case string(String)
  case array([StrictJSON])
  case object([String: StrictJSON])
  /// A number, `true`, `false` or `null`.
  case other

  /// Parses the members of an object. Returns `nil` for any other text, for invalid UTF-8, for nesting deeper than 16,
  /// and if an object has two members with the same name: two readers could choose different ones (RFC 8259, section 4).
  static func members(of bytes: [UInt8]) -> [String: StrictJSON]? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var parser = Parser(bytes: bytes)
    parser.skipSpace()
    guard case .object(let members)? = parser.value(depth: 0) else { return nil }
    parser.skipSpace()
    return parser.index == bytes.count ? members : nil
  }

  private struct Parser {
    private static let maximumDepth = 16

    let bytes: [UInt8]
    var index = 0

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func skipSpace() {
      while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { index += 1 }
    }

    private mutating func skip(_ text: String) -> Bool {
      guard bytes[index...].starts(with: text.utf8) else { return false }
      index += text.utf8.count
      return true
    }

    mutating func value(depth: Int) -> StrictJSON? {
      guard depth < Parser.maximumDepth, let byte = next else { return nil }
      switch byte {
      case UInt8(ascii: "\""): return string().map(StrictJSON.string)
      case UInt8(ascii: "{"): return object(depth: depth)
      case UInt8(ascii: "["): return array(depth: depth)
      case UInt8(ascii: "t"): return skip("true") ? .other : nil
      case UInt8(ascii: "f"): return skip("false") ? .other : nil
      case UInt8(ascii: "n"): return skip("null") ? .other : nil
      default: return number() ? .other : nil
      }
    }

    private mutating func object(depth: Int) -> StrictJSON? {
      index += 1
      skipSpace()
      var members: [String: StrictJSON] = [:]
      if skip("}") { return .object(members) }
      while true {
        skipSpace()
        guard let name = string() else { return nil }
        skipSpace()
        guard skip(":") else { return nil }
        skipSpace()
        guard let value = value(depth: depth + 1), members.updateValue(value, forKey: name) == nil else { return nil }
        skipSpace()
        if skip("}") { return .object(members) }
        guard skip(",") else { return nil }
      }
    }

    private mutating func array(depth: Int) -> StrictJSON? {
      index += 1
      skipSpace()
      var values: [StrictJSON] = []
      if skip("]") { return .array(values) }
      while true {
        skipSpace()
        guard let value = value(depth: depth + 1) else { return nil }
        values.append(value)
        skipSpace()
        if skip("]") { return .array(values) }
        guard skip(",") else { return nil }
      }
    }

    /// Parses `number = [ "-" ] int [ frac ] [ exp ]`.
    private mutating func number() -> Bool {
      _ = skip("-")
      if !skip("0"), !digits() { return false }
      if skip("."), !digits() { return false }
      if skip("e") || skip("E") {
        if !skip("+") { _ = skip("-") }
        return digits()
      }
      return true
    }

    private mutating func digits() -> Bool {
      let start = index
      while let byte = next, byte.isDigit { index += 1 }
      return index > start
    }

    private mutating func string() -> String? {
      guard skip("\"") else { return nil }
      var text: [UInt8] = []
      while let byte = next {
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard let scalar = escape() else { return nil }
          text += Array(String(Character(scalar)).utf8)
        case 0..<0x20: return nil
        default: text.append(byte)
        }
      }
      return nil
    }

    /// Parses the rest of an escape, behind its backslash. Refuses a surrogate without its partner.
    private mutating func escape() -> Unicode.Scalar? {
      guard let byte = next else { return nil }
      index += 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
      case UInt8(ascii: "b"): return "\u{8}"
      case UInt8(ascii: "f"): return "\u{c}"
      case UInt8(ascii: "n"): return "\n"
      case UInt8(ascii: "r"): return "\r"
      case UInt8(ascii: "t"): return "\t"
      case UInt8(ascii: "u"):
        guard let unit = hexadecimal() else { return nil }
        guard (0xd800...0xdbff).contains(unit) else { return Unicode.Scalar(unit) }
        guard skip("\\u"), let low = hexadecimal(), (0xdc00...0xdfff).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
      default: return nil
      }
    }

    private mutating func hexadecimal() -> UInt32? {
      guard index + 4 <= bytes.count else { return nil }
      let digits = bytes[index..<index + 4]
      guard digits.allSatisfy(\.isHexadecimalDigit) else { return nil }
      index += 4
      return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
  }
}
