internal import ByteText

/// A buffer of JSON lines (RFC 8259), each of them one flat object.
///
/// Control characters, the delete character and the line and paragraph separators of Unicode are escaped, so no text
/// can end a line (RFC 6749, section 10.14).
struct JSONLine: Sendable {
  private(set) var bytes: [UInt8] = []
  private var isFirstMember = true

  /// Begins a line.
  mutating func open() {
    bytes.append(UInt8(ascii: "{"))
    isFirstMember = true
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
  mutating func appendMember(_ name: String, _ value: String) {
    appendName(name)
    appendString(value)
  }

  mutating func appendMember(_ name: String, _ value: Int) {
    appendName(name)
    bytes.append(String(value))
  }

  mutating func appendMember(_ name: String, _ value: Bool) {
    appendName(name)
    bytes.append(value ? "true" : "false")
  }

  mutating func appendMember(_ name: String, _ values: [String]) {
    appendName(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      appendString(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func appendName(_ name: String) {
    if !isFirstMember { bytes.append(UInt8(ascii: ",")) }
    isFirstMember = false
    bytes.append(UInt8(ascii: "\""))
    bytes.append(name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Appends a JSON string with its quotes.
  private mutating func appendString(_ text: String) {
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
      case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}": appendEscape(scalar)
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns true if all characters are ASCII and need no escape, as in nearly all values.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    var needsEscape: UInt8 = 0
    var index = 0
    while index < text.count {
      let byte = text[index]
      needsEscape |= byte < 0x20 || byte >= 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
      index &+= 1
    }
    return needsEscape == 0
  }

  /// Appends a `\u` escape. The caller passes only scalars of up to four hexadecimal digits.
  private mutating func appendEscape(_ scalar: Unicode.Scalar) {
    let digits = String(scalar.value, radix: 16)
    bytes.append("\\u")
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
    bytes.append(digits)
  }
}
