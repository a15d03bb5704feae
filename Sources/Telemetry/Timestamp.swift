/// The time format of log lines: that of RFC 3339 with milliseconds, in UTC.
enum Timestamp {
  /// Returns the text of a time, e.g. `2026-08-25T12:00:00.000Z`.
  ///
  /// - Parameter milliseconds: The time in milliseconds since 1970, not negative.
  static func text(_ milliseconds: Int64) -> String {
    let (days, millisecondOfDay) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    let (year, month, day) = gregorianDate(days)
    let secondOfDay = millisecondOfDay / 1000
    var text: [UInt8] = []
    text.reserveCapacity(24)
    append(year, 4, "-", to: &text)
    append(month, 2, "-", to: &text)
    append(day, 2, "T", to: &text)
    append(secondOfDay / 3600, 2, ":", to: &text)
    append(secondOfDay / 60 % 60, 2, ":", to: &text)
    append(secondOfDay % 60, 2, ".", to: &text)
    append(millisecondOfDay % 1000, 3, "Z", to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the Gregorian date of a day. Day 0 is 1970-01-01.
  ///
  /// The calculation uses years that begin in March, so that the leap day is the last day of a year. An era of 400
  /// years has 146,097 days.
  private static func gregorianDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let daysSinceYear0 = days + 719_468
    let dayOfEra = daysSinceYear0 % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthsSinceMarch = (5 * dayOfYear + 2) / 153
    let month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9
    let year = daysSinceYear0 / 146_097 * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthsSinceMarch + 2) / 5 + 1)
  }

  /// Appends the last `width` digits of a number and the separator that follows them.
  private static func append(_ value: Int64, _ width: Int, _ end: Unicode.Scalar, to text: inout [UInt8]) {
    var scale: Int64 = 1
    for _ in 1..<width { scale *= 10 }
    while scale > 0 {
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / scale % 10))
      scale /= 10
    }
    text.append(UInt8(ascii: end))
  }
}
