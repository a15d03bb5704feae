/// The time format of log lines: RFC 3339, in UTC with milliseconds.
enum Timestamp {
  /// Returns the text of a time, e.g. `2026-08-25T12:00:00.000Z`.
  ///
  /// - Parameter milliseconds: milliseconds since 1970, not negative.
  static func text(_ milliseconds: Int64) -> String {
    let (days, inDay) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    let (year, month, day) = date(days)
    let second = inDay / 1000
    var text: [UInt8] = []
    text.reserveCapacity(24)
    append(year, 4, "-", to: &text)
    append(month, 2, "-", to: &text)
    append(day, 2, "T", to: &text)
    append(second / 3600, 2, ":", to: &text)
    append(second / 60 % 60, 2, ":", to: &text)
    append(second % 60, 2, ".", to: &text)
    append(inDay % 1000, 3, "Z", to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the Gregorian date of a day counted from 1970-01-01. Here a year begins in March, so that the leap day is
  /// its last day; 400 years have 146,097 days.
  private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = shifted / 146_097 * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
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
