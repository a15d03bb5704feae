import ByteText

/// A piece of HTML, written as a string literal: the literal itself is markup, and strings that are interpolated in it
/// are escaped.
///
/// Only literals in the source can become markup, because the literal type is `StaticString`. The escaping is
/// sufficient for text and for quoted attribute values. The markup must therefore quote all attribute values, and
/// interpolate URLs with ``StringInterpolation/appendInterpolation(url:)``.
///
/// Markup consists of pieces of text. A long piece, such as a style sheet or a sealed value, is part of the markup that it
/// is interpolated in without a copy. ``utf8`` writes a page into one array, so a page is held once.
public struct HTML: Sendable, ExpressibleByStringInterpolation {
  /// The pieces of the markup in front of `last`.
  private var pieces: [String] = []
  /// The last piece, to which short pieces are appended.
  private var last = ""

  /// The length in bytes from which a piece is not copied.
  private static let longPiece = 512
  /// The length in bytes up to which short pieces are joined, so that no text grows to a long one by doubling.
  private static let longestJoined = 4_096

  /// Creates markup from a literal.
  public init(stringLiteral value: StaticString) {
    last = value.description
  }

  /// Creates markup from a literal with interpolated values.
  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.html
  }

  fileprivate init() {}

  /// The markup in UTF-8.
  public var utf8: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(pieces.reduce(last.utf8.count) { $0 + $1.utf8.count })
    for piece in pieces { bytes.append(piece) }
    bytes.append(last)
    return bytes
  }

  /// The markup.
  public var text: String { pieces.isEmpty ? last : String(decoding: utf8, as: UTF8.self) }

  fileprivate mutating func append(_ text: String) {
    let count = text.utf8.count
    if last.isEmpty {
      last = text
    } else if count < HTML.longPiece, last.utf8.count + count <= HTML.longestJoined {
      last += text
    } else {
      pieces.append(last)
      last = text
    }
  }

  fileprivate mutating func append(_ html: HTML) {
    for piece in html.pieces { append(piece) }
    append(html.last)
  }

  /// Collects the literal parts and the interpolated values.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var html = HTML()

    /// Creates markup without content.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Appends markup.
    public mutating func appendLiteral(_ literal: StaticString) {
      html.append(literal.description)
    }

    /// Appends `value`, escaped.
    public mutating func appendInterpolation(_ value: String) {
      html.append(HTML.escaped(value))
    }

    /// Appends a number.
    public mutating func appendInterpolation(_ value: Int) {
      html.append(String(value))
    }

    /// Appends markup without escaping it.
    public mutating func appendInterpolation(_ html: HTML) {
      self.html.append(html)
    }

    /// Appends markup, or nothing for `nil`.
    public mutating func appendInterpolation(_ html: HTML?) {
      if let html { self.html.append(html) }
    }

    /// Appends the pieces of markup in order.
    public mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { html.append(piece) }
    }

    /// Appends `value`, escaped, with U+FFFD in place of the characters that could hide, reorder or break text
    /// (`HTML.visible`). For text that users read.
    public mutating func appendInterpolation(visible value: String) {
      html.append(HTML.escaped(HTML.visible(value)))
    }

    /// Appends a URL, escaped, as the value of `href` or `action`. Appends `#` in place of a URL that could run a
    /// script.
    public mutating func appendInterpolation(url: String) {
      html.append(HTML.hasDangerousScheme(url) ? "#" : HTML.escaped(url))
    }
  }
}

extension HTML {
  private static let replacement = Array("\u{fffd}".utf8)

  /// Escapes the characters that could end text or a quoted attribute value, or begin a character reference (HTML,
  /// section 13.1.2). Line ends become character references, because a parser would change a literal carriage return.
  private static func escaped(_ value: String) -> String {
    guard !isPlain(value.utf8.span) else { return value }
    var result: [UInt8] = []
    result.reserveCapacity(value.utf8.count)
    var rest = value.utf8.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "&"): result += "&amp;".utf8
      case UInt8(ascii: "<"): result += "&lt;".utf8
      case UInt8(ascii: ">"): result += "&gt;".utf8
      case UInt8(ascii: "\""): result += "&quot;".utf8
      case UInt8(ascii: "'"): result += "&#39;".utf8
      case UInt8(ascii: "\r"): result += "&#13;".utf8
      case UInt8(ascii: "\n"): result += "&#10;".utf8
      // HTML does not allow these characters, even as character references.
      case 0x00...0x08, 0x0b, 0x0e...0x1f, 0x7f: result += replacement
      // U+0080 to U+00BF; the first half are control characters too.
      case 0xc2:
        let next = rest.next() ?? 0
        if next < 0xa0 { result += replacement } else { result += [byte, next] }
      default: result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns true if all bytes are letters, digits, or ASCII marks and spaces that need no escape.
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    bytes.allSatisfy { byte in
      byte >= 0x20 && byte < 0x7f && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">")
        && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "'")
    }
  }

  /// Replaces characters that are invisible, unassigned or private, or that control the text direction, by U+FFFD, so
  /// that a name cannot look like another one.
  private static func visible(_ value: String) -> String {
    // Visible ASCII characters and spaces.
    guard value.utf8.contains(where: { $0 < 0x20 || $0 > 0x7e }) else { return value }
    var result = ""
    for scalar in value.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
        result.unicodeScalars.append("\u{fffd}")
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns true if a browser would run a script for `url`, or show content that does not come from a web server,
  /// because of a scheme such as `javascript` or `data`. Browsers ignore leading spaces and some control characters.
  /// This function ignores all spaces and control characters.
  private static func hasDangerousScheme(_ url: String) -> Bool {
    guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let scheme = url.utf8[..<colon].lazy.filter { $0 > 0x20 && $0 != 0x7f }
      .map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    return ["javascript", "data", "vbscript", "blob", "filesystem", "view-source"].contains {
      scheme.elementsEqual($0.utf8)
    }
  }
}
