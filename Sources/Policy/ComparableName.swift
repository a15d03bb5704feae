@_spi(_Unicode) internal import Swift

/// The form in which names of clients are compared: two names with this form in common look alike to a user.
enum ComparableName {
  /// Returns the scalars of the canonical decomposition of a name (Unicode Standard, section 3.7), without marks such
  /// as accents, without letter case, and with the usual characters in place of those of full width.
  static func scalars(of name: String) -> [Unicode.Scalar] {
    let folded = name._nfd.filter { !isMark($0) }.flatMap { letter in
      // Some letters, such as the long s, are lower case, but differ from the lower case of their upper case.
      String(usualWidth(letter)).uppercased().lowercased()._nfd
    }
    return folded.filter { !isMark($0) }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }

  /// Returns the ASCII character for a character of the block of full-width forms (U+FF01 to U+FF5E).
  private static func usualWidth(_ scalar: Unicode.Scalar) -> Character {
    guard (0xff01...0xff5e).contains(scalar.value), let ascii = Unicode.Scalar(scalar.value - 0xff00 + 0x20) else {
      return Character(scalar)
    }
    return Character(ascii)
  }
}
