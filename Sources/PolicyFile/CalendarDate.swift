import Time

/// A day of the Gregorian calendar in UTC, written as `full-date` of RFC 3339: `2027-03-31`.
struct CalendarDate: Equatable {
  let text: String
  /// The end of the day: the first second of the next day.
  let endsAt: UnixTime

  /// Parses a date. The result is `nil` if the notation is different, if the month has no such day, or if the year is
  /// before 1970.
  init?(parsing text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      let date = GregorianDate(year: year, month: month, day: day)
    else { return nil }
    self.text = text
    endsAt = UnixTime(seconds: Int64((date.daysSince1970 + 1) * 86_400))
  }
}
