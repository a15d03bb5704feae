import Time

/// Numbers, durations, sizes and times as the status page writes them in a language.
struct StatusFigures {
  let language: StatusLanguage

  static let english = StatusFigures(language: .english)

  /// Returns the number with a mark after each group of three digits.
  func number(_ value: UInt64) -> String {
    let mark = language.template(.thousands)
    var digits = String(value)
    var place = digits.count - 3
    while place > 0 {
      digits.insert(contentsOf: mark, at: digits.index(digits.startIndex, offsetBy: place))
      place -= 3
    }
    return digits
  }

  func number(_ value: Int) -> String { number(UInt64(clamping: value)) }

  /// Returns the number of requests with the noun.
  func requests(_ count: Int) -> String {
    language.text(count == 1 ? .oneRequest : .requests, ["count": number(count)])
  }

  /// Returns the part of a whole in percent.
  func percent(_ part: UInt64, of whole: UInt64) -> String {
    guard part > 0, whole > 0 else { return "0 %" }
    let tenths = (part * 1_000 + whole / 2) / whole
    return switch tenths {
    case 0: "< 0\(language.template(.decimalPoint))1 %"
    case 100...: "\((tenths + 5) / 10) %"
    default: "\(tenths / 10)\(language.template(.decimalPoint))\(tenths % 10) %"
    }
  }

  /// Returns a duration in milliseconds with up to three significant digits.
  func milliseconds(_ value: Double?) -> String {
    guard let value else { return "–" }
    return switch value {
    case ..<1: "\(decimal(value, digits: 2)) ms"
    case ..<10: "\(decimal(value, digits: 1)) ms"
    case ..<1_000: "\(decimal(value, digits: 0)) ms"
    default: "\(decimal(value / 1_000, digits: 1)) s"
    }
  }

  private func decimal(_ value: Double, digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded())
    guard digits > 0 else { return String(scaled) }
    let fraction = String(scaled % scale)
    return
      "\(scaled / scale)\(language.template(.decimalPoint))\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }

  /// Returns a number of bytes with a binary unit.
  func bytes(_ count: Int) -> String {
    switch count {
    case ..<1_024: "\(count) B"
    case ..<(1_024 * 1_024): "\(decimal(Double(count) / 1_024, digits: 1)) KiB"
    default: "\(decimal(Double(count) / 1_024 / 1_024, digits: 1)) MiB"
    }
  }

  /// Returns a duration with its two largest units. The time of a report is that of its minute, so seconds are not shown.
  static func duration(_ time: Seconds) -> String {
    let seconds = time.count
    return switch seconds {
    case ..<60: "< 1 min"
    case ..<3_600: "\(seconds / 60) min"
    case ..<86_400: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    default: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
    }
  }

  /// Returns the age of a point in time.
  func age(of time: UnixTime, at now: UnixTime) -> String {
    let age = now - time
    return age < 60
      ? language.text(.justNow) : language.text(.ago, ["duration": StatusFigures.duration(age)])
  }

  /// Returns the date and the minute in UTC, e.g. `2026-11-26 15:04 UTC`.
  static func minute(_ time: UnixTime) -> String {
    let text = time.text
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }

  /// Returns the hour and the minute in UTC, e.g. `15:04`.
  static func clock(_ time: UnixTime) -> String { String(time.text.dropFirst(11).prefix(5)) }
}
