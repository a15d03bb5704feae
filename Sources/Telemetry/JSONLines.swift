internal import ByteText
package import Time

/// A buffer of text lines, each of which is a flat JSON object (RFC 8259).
///
/// Control characters, including the delete character, and the line and paragraph separators of Unicode are escaped. So
/// no value can end a line and add another (RFC 6749, section 10.14).
package struct JSONLines: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var isFirstMember = true

  /// Creates an empty buffer.
  package init() {}

  /// Begins a line.
  package mutating func beginLine() {
    bytes.append(UInt8(ascii: "{"))
    isFirstMember = true
  }

  /// Ends a line.
  package mutating func endLine() {
    bytes.append("}\n")
  }

  /// Removes all lines and keeps the storage.
  package mutating func clear() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Appends a member to the line.
  ///
  /// - Parameter name: Must be ASCII letters, digits and `_`, because it is not escaped.
  package mutating func appendMember(_ name: String, _ value: String) {
    let text = value.utf8.span
    guard !JSONLines.isPlain(text) else { return appendMember(name, plain: text) }
    appendName(name)
    appendString(value)
  }

  /// Appends a member whose value is UTF-8 text. Invalid parts become the replacement character.
  ///
  /// - Parameter name: As above.
  package mutating func appendMember(_ name: String, _ value: Span<UInt8>) {
    guard !JSONLines.isPlain(value) else { return appendMember(name, plain: value) }
    appendName(name)
    appendString(String(decoding: [UInt8](copying: value), as: UTF8.self))
  }

  package mutating func appendMember(_ name: String, _ value: Int) {
    let name = name.utf8.span
    let isFirst = isFirstMember
    isFirstMember = false
    bytes.append(addingCapacity: name.count + OutputSpan<UInt8>.maximumDecimalLength + 4) { output in
      JSONLines.write(name, isFirst: isFirst, to: &output)
      output.append(decimal: value)
    }
  }

  package mutating func appendMember(_ name: String, _ time: Timestamp) {
    let name = name.utf8.span
    let isFirst = isFirstMember
    isFirstMember = false
    bytes.append(addingCapacity: name.count + Timestamp.textLength + 6) { output in
      JSONLines.write(name, isFirst: isFirst, to: &output)
      output.append(UInt8(ascii: "\""))
      time.write(to: &output)
      output.append(UInt8(ascii: "\""))
    }
  }

  package mutating func appendMember(_ name: String, _ value: Bool) {
    appendName(name)
    bytes.append(value ? "true" : "false")
  }

  package mutating func appendMember(_ name: String, _ values: [String]) {
    appendName(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      appendString(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Appends a member whose text needs no escape.
  private mutating func appendMember(_ name: String, plain text: Span<UInt8>) {
    let name = name.utf8.span
    let isFirst = isFirstMember
    isFirstMember = false
    bytes.append(addingCapacity: name.count + text.count + 6) { output in
      JSONLines.write(name, isFirst: isFirst, to: &output)
      output.append(UInt8(ascii: "\""))
      output.append(copying: text)
      output.append(UInt8(ascii: "\""))
    }
  }

  private mutating func appendName(_ name: String) {
    let name = name.utf8.span
    let isFirst = isFirstMember
    isFirstMember = false
    bytes.append(addingCapacity: name.count + 4) { JSONLines.write(name, isFirst: isFirst, to: &$0) }
  }

  /// Writes a name with its quotes and the colon, and a comma in front of it if it is not the first of the line: up to
  /// four bytes more than the name has.
  @inline(__always)
  private static func write(_ name: Span<UInt8>, isFirst: Bool, to output: inout OutputSpan<UInt8>) {
    if !isFirst { output.append(UInt8(ascii: ",")) }
    output.append(UInt8(ascii: "\""))
    output.append(copying: name)
    output.append(UInt8(ascii: "\""))
    output.append(UInt8(ascii: ":"))
  }

  /// Appends a JSON string with its quotes.
  private mutating func appendString(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    guard !JSONLines.isPlain(text.utf8.span) else {
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

  /// Returns true if all characters are ASCII and need no escape. This is so for nearly all values.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    !text.containsAny { bytes in
      bytes.controlPositions | bytes & 0x8080_8080_8080_8080 | bytes.approximatePositions(of: UInt8(ascii: "\""))
        | bytes.approximatePositions(of: UInt8(ascii: "\\"))
    }
  }

  /// Appends a `\u` escape. The caller passes only code points up to U+FFFF.
  private mutating func appendEscape(_ scalar: Unicode.Scalar) {
    let digits = String(scalar.value, radix: 16)
    bytes.append("\\u")
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
    bytes.append(digits)
  }
}
