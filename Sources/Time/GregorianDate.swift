/// A day of the Gregorian calendar.
///
/// In the calculations a year begins in March, so that the leap day is the last day of a year. An era has 400 years, or
/// 146,097 days. From 1 March of year 0 to 1 January 1970 there are 719,468 days.
public struct GregorianDate: Hashable, Sendable {
  /// The year.
  public let year: Int
  /// The month, from 1 to 12.
  public let month: Int
  /// The day of the month, from 1.
  public let day: Int

  /// Creates a date; `nil` if there is no such day, or if the year is before 1970.
  public init?(year: Int, month: Int, day: Int) {
    guard year >= 1970, (1...12).contains(month), day >= 1, day <= GregorianDate.length(of: month, in: year) else {
      return nil
    }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the date that is a number of days after 1970-01-01. The number must not be negative.
  public init(daysSince1970 days: Int) {
    let daysSinceYear0 = days + 719_468
    let era = daysSinceYear0 / 146_097
    let dayOfEra = daysSinceYear0 % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthsSinceMarch = (5 * dayOfYear + 2) / 153
    month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * monthsSinceMarch + 2) / 5 + 1
  }

  /// The number of days from 1970-01-01 to this day.
  public var daysSince1970: Int {
    let yearFromMarch = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return yearFromMarch * 365 + yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400 + dayOfYear - 719_468
  }

  private static func length(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
