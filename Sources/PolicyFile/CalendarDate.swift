/// A day of the Gregorian calendar in UTC, written as `full-date` of RFC 3339: `2027-03-31`.
struct CalendarDate: Equatable {
  let text: String
  /// The end of the day, in seconds since 1970.
  let endsAt: Int64

  /// Parses a date. The result is `nil` for any other notation, for a day that the month does not have, and for a year
  /// before 1970.
  init?(parsing text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } }),
      let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2]), year >= 1970,
      (1...12).contains(month), day >= 1, day <= CalendarDate.length(of: month, in: year)
    else { return nil }
    self.text = text
    // The calculation lets a year begin in March, so that the leap day is the last day of a year. There are 719,468
    // days from 1 March of year 0 to 1 January 1970.
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    endsAt = (days + 1) * 86_400
  }

  private static func length(of month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
