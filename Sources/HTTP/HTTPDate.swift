/// The date format of header fields: IMF-fixdate (RFC 9110, section 5.6.7).
public enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the text of a time, e.g. `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter seconds: The time in seconds since 1970, not negative.
  public static func format(_ seconds: Int) -> String {
    let (year, month, day) = gregorianDate(seconds / 86400)
    let time = seconds % 86400
    let weekday = days[(seconds / 86400 + 4) % 7]
    let clock = "\(twoDigits(time / 3600)):\(twoDigits(time / 60 % 60)):\(twoDigits(time % 60))"
    return "\(weekday), \(twoDigits(day)) \(months[month - 1]) \(year) \(clock) GMT"
  }

  /// Returns the Gregorian date of a day. Day 0 is 1970-01-01.
  ///
  /// The calculation uses years that begin in March, so that the leap day is the last day of a year. An era of 400
  /// years has 146,097 days.
  private static func gregorianDate(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let daysSinceYear0 = day + 719_468
    let era = daysSinceYear0 / 146_097
    let dayOfEra = daysSinceYear0 - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthsSinceMarch = (5 * dayOfYear + 2) / 153
    let month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthsSinceMarch + 2) / 5 + 1)
  }

  private static func twoDigits(_ value: Int) -> String {
    value < 10 ? "0\(value)" : "\(value)"
  }
}
