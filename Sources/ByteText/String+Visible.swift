extension Unicode.Scalar {
  /// The scalar, or U+FFFD if a terminal would interpret it, or not show it: a control, a format character such as one that
  /// changes the direction of the text, a line separator, a surrogate, or one without a meaning.
  public var visible: Unicode.Scalar {
    if value >= 0x20, value < 0x7f { return self }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return "\u{fffd}"
    default: return self
    }
  }
}

extension String {
  /// The text with `Unicode.Scalar.visible` in place of each scalar. It has one line.
  public var visible: String { replacingScalars { $0.visible } }

  /// The text for a terminal: as `visible`, but with its line ends and tabs.
  public var visibleLines: String { replacingScalars { $0 == "\n" || $0 == "\t" ? $0 : $0.visible } }

  /// The JSON text with an escape in place of each scalar that `visible` replaces, except line ends and tabs (RFC 8259,
  /// section 7). Outside of strings, JSON has no such scalar.
  public var visibleJSON: String {
    var result = ""
    result.reserveCapacity(utf8.count)
    for scalar in unicodeScalars {
      guard scalar != "\n", scalar != "\t", scalar.visible != scalar else {
        result.unicodeScalars.append(scalar)
        continue
      }
      for unit in UTF16.encode(scalar) ?? .init() {
        let digits = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return result
  }

  private func replacingScalars(_ replacement: (Unicode.Scalar) -> Unicode.Scalar) -> String {
    var result = String.UnicodeScalarView()
    result.reserveCapacity(utf8.count)
    for scalar in unicodeScalars { result.append(replacement(scalar)) }
    return String(result)
  }
}
