/// A piece of HTML that is safe to send: the literal parts in the source are markup, and the interpolated values are
/// text.
///
/// Only string literals of the program become markup: the literal type is `StaticString`, so a value that is made at
/// run time cannot become markup. Every interpolated value is escaped for text and for quoted attribute values alike, so
/// attribute values are always quoted. A URL in an attribute goes through
/// ``StringInterpolation/appendInterpolation(url:)``.
public struct HTML: Sendable, ExpressibleByStringInterpolation {
  /// The markup.
  public private(set) var text: String

  /// Creates markup from a literal.
  public init(stringLiteral value: StaticString) {
    text = value.description
  }

  /// Creates markup from a literal with interpolated values.
  public init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
  }

  /// Collects the literal parts as markup and the interpolated values as text.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// Reserves memory for the literal parts and for 16 bytes per value.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    /// Appends markup.
    public mutating func appendLiteral(_ literal: StaticString) {
      text += literal.description
    }

    /// Appends `value`, escaped.
    public mutating func appendInterpolation(_ value: String) {
      text += HTML.escaped(value)
    }

    /// Appends a number.
    public mutating func appendInterpolation(_ value: Int) {
      text += String(value)
    }

    /// Appends markup that was made before.
    public mutating func appendInterpolation(_ html: HTML) {
      text += html.text
    }

    /// Appends markup, or nothing for `nil`.
    public mutating func appendInterpolation(_ html: HTML?) {
      text += html?.text ?? ""
    }

    /// Appends markup one after the other.
    public mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }

    /// Appends `value`, escaped, for people to read: characters that would hide, reorder or break text become visible.
    public mutating func appendInterpolation(shown value: String) {
      text += HTML.escaped(HTML.visible(value))
    }

    /// Appends the value of `href` or `action`: escaped, or `#` in place of a URL that would run script in this page.
    public mutating func appendInterpolation(url: String) {
      text += HTML.isActive(url) ? "#" : HTML.escaped(url)
    }
  }
}

extension HTML {
  /// Escapes the characters that end text, a quoted attribute value or a character reference (HTML, section 13.1.2).
  /// Line breaks become references, because a parser would otherwise normalise a carriage return away.
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
      // Not allowed in a document, even as references.
      case "\0", "\u{1}"..."\u{8}", "\u{b}", "\u{e}"..."\u{1f}", "\u{7f}"..."\u{9f}": result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Replaces control characters and invisible or direction-changing ones, so that a name is displayed as it is.
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

  /// Returns true if a browser would run or render `url` as content of this page's origin. Browsers ignore controls and
  /// leading spaces in a scheme, so this function ignores them, too.
  private static func isActive(_ url: String) -> Bool {
    let kept = url.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7f }
    guard let colon = kept.firstIndex(of: ":") else { return false }
    var scheme = ""
    scheme.unicodeScalars.append(contentsOf: kept[..<colon])
    return ["javascript", "data", "vbscript", "blob", "filesystem", "view-source"].contains(scheme.lowercased())
  }
}
