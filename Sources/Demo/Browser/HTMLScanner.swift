/// Splits HTML into tags and text. Decodes character references.
struct HTMLScanner {
  enum Token {
    /// A start tag: its name in lower case, and its attributes.
    case start(String, [String: String])
    /// An end tag: its name in lower case.
    case end(String)
    case text(String)
  }

  private let bytes: [UInt8]
  private var index = 0

  init(_ html: String) {
    bytes = Array(html.utf8)
  }

  /// Returns the next tag or text; `nil` at the end. Skips comments and declarations.
  mutating func next() -> Token? {
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "<") else {
        return .text(HTMLScanner.decoded(takeUntil { $0 == UInt8(ascii: "<") }))
      }
      index += 1
      switch current {
      case UInt8(ascii: "!"), UInt8(ascii: "?"):
        skipUntil { $0 == UInt8(ascii: ">") }
        index += 1
      case UInt8(ascii: "/"):
        index += 1
        let name = HTMLScanner.text(takeUntil { $0 == UInt8(ascii: ">") || HTMLScanner.isSpace($0) }).lowercased()
        skipUntil { $0 == UInt8(ascii: ">") }
        index += 1
        return .end(name)
      default:
        return readTag()
      }
    }
    return nil
  }

  /// Reads a start tag whose `<` has been read.
  private mutating func readTag() -> Token {
    let name = HTMLScanner.text(takeUntil { $0 == UInt8(ascii: ">") || HTMLScanner.isSpace($0) }).lowercased()
    var attributes: [String: String] = [:]
    while let byte = current, byte != UInt8(ascii: ">") {
      if HTMLScanner.isSpace(byte) || byte == UInt8(ascii: "/") {
        index += 1
        continue
      }
      let key = HTMLScanner.text(
        takeUntil { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") || HTMLScanner.isSpace($0) }
      ).lowercased()
      var value: [UInt8] = []
      if current == UInt8(ascii: "=") {
        index += 1
        if let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
          index += 1
          value = takeUntil { $0 == quote }
          index += 1
        } else {
          value = takeUntil { $0 == UInt8(ascii: ">") || HTMLScanner.isSpace($0) }
        }
      }
      // If an attribute occurs twice, the first counts (HTML, section 13.2.5.33).
      if attributes[key] == nil { attributes[key] = HTMLScanner.decoded(value) }
    }
    index += 1
    if name == "style" || name == "script" { skipRawText(of: name) }
    return .start(name, attributes)
  }

  /// Skips the content of a style or script element, which is not markup, up to the end tag.
  private mutating func skipRawText(of name: String) {
    let end = Array("</\(name)".utf8)
    while index < bytes.count, !bytes[index...].starts(with: end) { index += 1 }
  }

  private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Returns the bytes in front of the first byte for which `stop` is true, and moves to that byte.
  private mutating func takeUntil(_ stop: (UInt8) -> Bool) -> [UInt8] {
    let start = index
    skipUntil(stop)
    return Array(bytes[start..<index])
  }

  private mutating func skipUntil(_ stop: (UInt8) -> Bool) {
    while index < bytes.count, !stop(bytes[index]) { index += 1 }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes the character references that servers often use. Does not change others.
  private static func decoded(_ bytes: [UInt8]) -> String {
    let text = text(bytes)
    guard bytes.contains(UInt8(ascii: "&")) else { return text }
    var result = ""
    var rest = text[...]
    while let ampersand = rest.firstIndex(of: "&") {
      result += rest[..<ampersand]
      rest = rest[rest.index(after: ampersand)...]
      guard let end = rest.prefix(10).firstIndex(of: ";"), let scalar = character(named: rest[..<end]) else {
        result += "&"
        continue
      }
      result.unicodeScalars.append(scalar)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(named name: Substring) -> Unicode.Scalar? {
    switch name {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    case "nbsp": "\u{a0}"
    case "copy": "\u{a9}"
    default:
      if name.hasPrefix("#x") || name.hasPrefix("#X") {
        UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
      } else if name.hasPrefix("#") {
        UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
      } else {
        nil
      }
    }
  }
}
