internal import OAuth
@_spi(_Unicode) internal import Swift

/// The form in which names of clients are compared: two names with this form in common look alike to a user.
enum ComparableName {
  /// Returns the scalars of the canonical decomposition of a name (Unicode Standard, section 3.7), without marks such
  /// as accents, without letter case, and with the usual characters in place of those of full width. Quotation marks,
  /// apostrophes and invisible characters are left out, and spaces and dashes in a row become one space.
  static func scalars(of name: String) -> [Unicode.Scalar] {
    let folded = name._nfd.filter { !isMark($0) }.flatMap { letter in
      // Some letters, such as the long s, are lower case, but differ from the lower case of their upper case.
      String(usualWidth(letter)).uppercased().lowercased()._nfd
    }
    var scalars: [Unicode.Scalar] = []
    for scalar in folded where !isMark(scalar) && !isUnread(scalar) {
      if !isSeparator(scalar) {
        scalars.append(scalar)
      } else if scalars.last != " " {
        scalars.append(" ")
      }
    }
    return scalars
  }

  /// Returns true for a character that a reader of a name skips.
  private static func isUnread(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isDefaultIgnorableCodePoint || QuotationMarks.isApostrophe(scalar)
      || QuotationMarks.contains(scalar)
  }

  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .dashPunctuation, .connectorPunctuation: true
    default: dashLookalikes.contains(scalar)
    }
  }

  /// Characters that look like a dash, but have another category: a modifier letter, the Arabic full stop, the hyphen
  /// bullet, minus signs, and horizontal lines.
  private static let dashLookalikes: Set<Unicode.Scalar> = [
    "\u{2d7}", "\u{6d4}", "\u{2043}", "\u{2212}", "\u{23af}", "\u{2500}", "\u{2501}", "\u{2796}",
  ]

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }

  /// Returns the ASCII character for a character of the block of full-width forms (U+FF01 to U+FF5E).
  private static func usualWidth(_ scalar: Unicode.Scalar) -> Character {
    guard (0xff01...0xff5e).contains(scalar.value), let ascii = Unicode.Scalar(scalar.value &- 0xfee0) else {
      return Character(scalar)
    }
    return Character(ascii)
  }
}
