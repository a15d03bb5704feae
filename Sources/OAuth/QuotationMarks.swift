/// The characters that look like quotation marks. A page puts the name that an app gave itself between such marks, so a
/// name with one could seem to end before its end.
public enum QuotationMarks {
  /// Primes, accents and ornaments that look like quotation marks, but do not have this property in Unicode.
  private static let lookalikes: [ClosedRange<Unicode.Scalar>] = [
    "\u{2ba}"..."\u{2ba}", "\u{2dd}"..."\u{2dd}", "\u{2ee}"..."\u{2ee}", "\u{2f5}"..."\u{2f6}", "\u{5f4}"..."\u{5f4}",
    "\u{2033}"..."\u{2037}", "\u{2057}"..."\u{2057}", "\u{275b}"..."\u{2760}", "\u{3003}"..."\u{3003}",
    "\u{1f676}"..."\u{1f678}",
  ]
  /// Apostrophes and what looks like one: ASCII, accents, modifier letters such as the okina, and the Hebrew geresh.
  private static let apostrophes: Set<Unicode.Scalar> = [
    "'", "`", "\u{b4}", "\u{2b9}", "\u{2bb}", "\u{2bc}", "\u{2bd}", "\u{2c8}", "\u{2ca}", "\u{2cb}", "\u{374}",
    "\u{384}", "\u{55a}", "\u{5f3}", "\u{1fbd}", "\u{1fbf}", "\u{1ffe}", "\u{2019}", "\u{2032}", "\u{a78b}", "\u{a78c}",
    "\u{ff07}", "\u{ff40}",
  ]

  /// Returns true for an apostrophe, which names may have. Two in a row look like a quotation mark.
  public static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool { apostrophes.contains(scalar) }

  /// Returns true for a quotation mark of any script, and for its look-alikes. An apostrophe may also be one.
  public static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .initialPunctuation, .finalPunctuation: true
    default: scalar.properties.isQuotationMark || lookalikes.contains { $0.contains(scalar) }
    }
  }
}
