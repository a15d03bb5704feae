/// A piece of HTML. The parts of a string literal are markup, and interpolated strings are escaped, so that they are
/// only text.
///
/// Only string literals in the source become markup, because the literal type is `StaticString`. The escaping is
/// sufficient for text and for quoted attribute values, so the markup must quote all attribute values. URLs in
/// attributes need ``StringInterpolation/appendInterpolation(url:)``.
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

  /// Collects the literal parts and the interpolated values.
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

    /// Appends markup without escaping it.
    public mutating func appendInterpolation(_ html: HTML) {
      text += html.text
    }

    /// Appends markup, or nothing for `nil`.
    public mutating func appendInterpolation(_ html: HTML?) {
      text += html?.text ?? ""
    }

    /// Appends the pieces of markup in order.
    public mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }

    /// Appends `value`, escaped, as text for people to read. Characters that would hide, reorder or break text are
    /// replaced by U+FFFD.
    public mutating func appendInterpolation(shown value: String) {
      text += HTML.escaped(HTML.visible(value))
    }

    /// Appends the value of `href` or `action`, escaped; `#` for a URL that would run script or show content as this
    /// origin.
    public mutating func appendInterpolation(url: String) {
      text += HTML.isActive(url) ? "#" : HTML.escaped(url)
    }
  }
}

extension HTML {
  /// Escapes the characters that could end text or a quoted attribute value or begin a character reference (HTML,
  /// section 13.1.2). Line breaks become character references, because a parser would otherwise change a carriage
  /// return.
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
      // HTML does not allow these characters, even as character references.
      case "\0", "\u{1}"..."\u{8}", "\u{b}", "\u{e}"..."\u{1f}", "\u{7f}"..."\u{9f}": result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Replaces control, invisible and direction-changing characters by U+FFFD, so that a name cannot look like another
  /// one.
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

  /// Returns true if the scheme of `url` makes a browser run script or render content that is not from a web server,
  /// such as `javascript` or `data`. Browsers ignore some control characters and leading spaces; this function ignores
  /// all of them.
  private static func isActive(_ url: String) -> Bool {
    let kept = url.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7f }
    guard let colon = kept.firstIndex(of: ":") else { return false }
    var scheme = ""
    scheme.unicodeScalars.append(contentsOf: kept[..<colon])
    return ["javascript", "data", "vbscript", "blob", "filesystem", "view-source"].contains(scheme.lowercased())
  }
}
