/// A piece of HTML that is safe to send: what is written in the source is markup, what is interpolated is text.
///
/// Only string literals of the program become markup (the literal type is `StaticString`, so no value that was made at run
/// time can get there); every interpolated value is escaped for text and for quoted attribute values alike. Attribute
/// values are therefore always quoted. A URL in an attribute goes through ``StringInterpolation/appendInterpolation(url:)``.
public struct HTML: Sendable, ExpressibleByStringInterpolation {
  /// The markup.
  public private(set) var text: String

  public init(stringLiteral value: StaticString) {
    text = value.description
  }

  public init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
  }

  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    public mutating func appendLiteral(_ literal: StaticString) {
      text += literal.description
    }

    /// Escapes `value`.
    public mutating func appendInterpolation(_ value: String) {
      text += HTML.escaped(value)
    }

    public mutating func appendInterpolation(_ value: Int) {
      text += String(value)
    }

    public mutating func appendInterpolation(_ html: HTML) {
      text += html.text
    }

    /// Nothing for `nil`.
    public mutating func appendInterpolation(_ html: HTML?) {
      text += html?.text ?? ""
    }

    public mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }

    /// Escapes `value` for people to read: characters that would hide, reorder or break it become visible.
    public mutating func appendInterpolation(shown value: String) {
      text += HTML.escaped(HTML.visible(value))
    }

    /// The value of `href` or `action`: escaped, and `#` in place of a URL that would run script in this page.
    public mutating func appendInterpolation(url: String) {
      text += HTML.isActive(url) ? "#" : HTML.escaped(url)
    }
  }
}

extension HTML {
  /// Escapes what ends text, a quoted attribute value or a character reference (HTML, section 13.1.2). Line breaks become
  /// references, because a parser would otherwise normalise a carriage return away.
  static func escaped(_ value: String) -> String {
    var result = ""
    result.reserveCapacity(value.utf8.count)
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\r": result += "&#13;"
      case "\n": result += "&#10;"
      // Not allowed in a document, not even as references.
      case "\0", "\u{1}"..."\u{8}", "\u{b}", "\u{e}"..."\u{1f}", "\u{7f}"..."\u{9f}": result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Replaces controls and what has no ink or changes the direction of its surroundings, so that a name shows as it is.
  static func visible(_ value: String) -> String {
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

  /// True if a browser would run or render `url` as content of this page's origin. Browsers skip controls and leading
  /// spaces in a scheme, so they are skipped here.
  private static func isActive(_ url: String) -> Bool {
    let kept = url.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7f }
    guard let colon = kept.firstIndex(of: ":") else { return false }
    var scheme = ""
    scheme.unicodeScalars.append(contentsOf: kept[..<colon])
    return ["javascript", "data", "vbscript", "blob", "filesystem", "view-source"].contains(scheme.lowercased())
  }
}
