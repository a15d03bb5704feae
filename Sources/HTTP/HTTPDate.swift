public import Time

/// The date format of header fields: IMF-fixdate (RFC 9110, section 5.6.7).
public enum HTTPDate {
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the text of a time, e.g. `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter time: A time that is not before 1970.
  public static func format(_ time: UnixTime) -> String {
    let (daysSince1970, second) = Int(time.seconds).quotientAndRemainder(dividingBy: 86_400)
    let date = GregorianDate(daysSince1970: daysSince1970)
    // 1 January 1970 was a Thursday.
    let weekday = weekdays[(daysSince1970 + 4) % 7]
    let clock = "\(twoDigits(second / 3_600)):\(twoDigits(second / 60 % 60)):\(twoDigits(second % 60))"
    return "\(weekday), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
  }

  private static func twoDigits(_ value: Int) -> String {
    value < 10 ? "0\(value)" : "\(value)"
  }
}
