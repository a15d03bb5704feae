import Time

/// Numbers, durations, sizes and times as the status page writes them.
enum StatusFigures {
  /// Returns the number with a comma after each group of three digits.
  static func number(_ value: UInt64) -> String {
    var digits = String(value)
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
      place -= 3
    }
    return digits
  }

  static func number(_ value: Int) -> String { number(UInt64(clamping: value)) }

  /// Returns the number with a noun, which gets its plural form.
  static func counted(_ count: Int, _ noun: String) -> String { "\(number(count)) \(noun)\(count == 1 ? "" : "s")" }

  static func requests(_ count: Int) -> String { counted(count, "request") }

  /// Returns the part of a whole in percent.
  static func percent(_ part: UInt64, of whole: UInt64) -> String {
    guard part > 0, whole > 0 else { return "0 %" }
    let tenths = (part * 1_000 + whole / 2) / whole
    return switch tenths {
    case 0: "< 0.1 %"
    case 100...: "\((tenths + 5) / 10) %"
    default: "\(tenths / 10).\(tenths % 10) %"
    }
  }

  /// Returns a duration in milliseconds with up to three significant digits.
  static func milliseconds(_ value: Double?) -> String {
    guard let value else { return "–" }
    return switch value {
    case ..<1: "\(decimal(value, digits: 2)) ms"
    case ..<10: "\(decimal(value, digits: 1)) ms"
    case ..<1_000: "\(decimal(value, digits: 0)) ms"
    default: "\(decimal(value / 1_000, digits: 1)) s"
    }
  }

  private static func decimal(_ value: Double, digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded())
    guard digits > 0 else { return String(scaled) }
    let fraction = String(scaled % scale)
    return "\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }

  /// Returns a number of bytes with a binary unit.
  static func bytes(_ count: Int) -> String {
    switch count {
    case ..<1_024: "\(count) B"
    case ..<(1_024 * 1_024): "\(decimal(Double(count) / 1_024, digits: 1)) KiB"
    default: "\(decimal(Double(count) / 1_024 / 1_024, digits: 1)) MiB"
    }
  }

  /// Returns a duration with its two largest units.
  static func duration(_ time: Seconds) -> String {
    let seconds = time.count
    return switch seconds {
    case ..<60: "\(max(0, seconds)) s"
    case ..<3_600: "\(seconds / 60) min"
    case ..<86_400: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    default: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
    }
  }

  /// Returns the age of a point in time.
  static func age(of time: UnixTime, at now: UnixTime) -> String {
    let age = now - time
    return age < 60 ? "just now" : "\(duration(age)) ago"
  }

  /// Returns the date and the minute in UTC, e.g. `2026-11-26 15:04 UTC`.
  static func minute(_ time: UnixTime) -> String {
    let text = time.text
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }

  /// Returns the hour and the minute in UTC, e.g. `15:04`.
  static func clock(_ time: UnixTime) -> String { String(time.text.dropFirst(11).prefix(5)) }
}
