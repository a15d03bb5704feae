import Time

/// The notation of numbers with a unit. A number has no sign, fraction or leading zero, and no space in front of the
/// unit.
enum UnitNotation {
  /// Returns a duration such as `250ms` or `10m`; `nil` if the text is not a duration or the number is too large.
  static func milliseconds(parsing text: String) -> Milliseconds? {
    scaled(text, by: [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]).map { Milliseconds($0) }
  }

  /// Returns the number of bytes of a size such as `64KiB` or `512`; `nil` if the text is not a size or the number is
  /// too large.
  static func bytes(parsing text: String) -> Int? {
    scaled(text, by: [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1), ("", 1)])
  }

  /// Returns the text of a duration, with the largest unit that gives a whole number.
  static func format(_ time: Milliseconds) -> String {
    for (unit, factor) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
    where time > 0 && time.count.isMultiple(of: factor) {
      return "\(time.count / factor)\(unit)"
    }
    return time == 0 ? "0s" : "\(time.count)ms"
  }

  private static func scaled(_ text: String, by units: [(String, Int)]) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard AddressText.isCanonicalNumber(digits), let number = Int(digits),
      let factor = units.first(where: { $0.0 == unit })?.1
    else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : value
  }
}
