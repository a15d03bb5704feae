internal import Bytes

/// A buffer of JSON lines (RFC 8259), each of them one flat object.
///
/// Control characters, the delete character and the line separators of Unicode are escaped, so no text can end a line
/// (RFC 6749, section 10.14).
struct JSONLine: Sendable {
  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  /// Begins a line.
  mutating func open() {
    bytes.append(UInt8(ascii: "{"))
    isFirst = true
  }

  /// Ends a line.
  mutating func close() {
    bytes.append("}\n")
  }

  /// Removes all lines and keeps the storage.
  mutating func clear() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Appends a member to the open line.
  ///
  /// - Parameter name: plain ASCII, because it is not escaped.
  mutating func field(_ name: String, _ value: String) {
    key(name)
    string(value)
  }

  mutating func field(_ name: String, _ value: Int) {
    key(name)
    bytes.append(String(value))
  }

  mutating func field(_ name: String, _ value: Bool) {
    key(name)
    bytes.append(value ? "true" : "false")
  }

  mutating func field(_ name: String, _ values: [String]) {
    key(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      string(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func key(_ name: String) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    bytes.append(UInt8(ascii: "\""))
    bytes.append(name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Appends a JSON string with its quotes.
  private mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    guard !JSONLine.isPlain(text.utf8.span) else {
      bytes.append(text)
      bytes.append(UInt8(ascii: "\""))
      return
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes.append("\\\"")
      case "\\": bytes.append("\\\\")
      case "\n": bytes.append("\\n")
      case "\r": bytes.append("\\r")
      case "\t": bytes.append("\\t")
      case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}": escape(scalar)
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// True if no character needs an escape, as in nearly all values.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    var other: UInt8 = 0
    var index = 0
    while index < text.count {
      let byte = text[index]
      other |= byte < 0x20 || byte >= 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
      index &+= 1
    }
    return other == 0
  }

  /// Appends a `\u` escape. The caller passes only scalars of up to four hexadecimal digits.
  private mutating func escape(_ scalar: Unicode.Scalar) {
    let digits = String(scalar.value, radix: 16)
    bytes.append("\\u")
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
    bytes.append(digits)
  }
}
