public import Time

/// The date format of HTTP fields: IMF-fixdate (RFC 9110, section 5.6.7).
public enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the text of a time, e.g. `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter time: a time that is not before 1970.
  public static func format(_ time: UnixTime) -> String {
    let (day, second) = Int(time.seconds).quotientAndRemainder(dividingBy: 86_400)
    let date = GregorianDate(daysSince1970: day)
    return
      "\(days[(day + 4) % 7]), \(two(date.day)) \(months[date.month - 1]) \(date.year) "
      + "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  private static func two(_ value: Int) -> String {
    value < 10 ? "0\(value)" : "\(value)"
  }
}
