import Testing
import Time

struct CalendarTests {
  /// Days since 1970, with their dates: the ends of years, leap days, and a century without one.
  private static let days = [
    (0, 1970, 1, 1), (11_015, 2000, 2, 28), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (19_782, 2024, 2, 29),
    (20_818, 2026, 12, 31), (47_540, 2100, 2, 28), (47_541, 2100, 3, 1), (2_932_896, 9999, 12, 31),
  ]

  @Test("A day has a date, and a date has a day", arguments: days)
  func dates(_ days: Int, _ year: Int, _ month: Int, _ day: Int) {
    let date = GregorianDate(daysSince1970: days)
    #expect(date == GregorianDate(year: year, month: month, day: day))
    #expect(date.daysSince1970 == days)
  }

  @Test("Each day has the date after that of the day in front of it")
  func order() {
    for days in 1..<150_000 {
      let (before, date) = (GregorianDate(daysSince1970: days - 1), GregorianDate(daysSince1970: days))
      let isNext =
        date.day == before.day + 1 && date.month == before.month && date.year == before.year
        || date.day == 1 && date.month == before.month % 12 + 1
          && date.year == before.year + (before.month == 12 ? 1 : 0)
      guard isNext, date.daysSince1970 == days else {
        Issue.record("\(before) is followed by \(date)")
        return
      }
    }
  }

  @Test(
    "A day that the month does not have is no date",
    arguments: [(2023, 2, 29), (2100, 2, 29), (2024, 4, 31), (2024, 1, 32), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0)])
  func missing(_ year: Int, _ month: Int, _ day: Int) {
    #expect(GregorianDate(year: year, month: month, day: day) == nil)
  }

  @Test("A time is written as RFC 3339 requires, and read back")
  func text() {
    #expect(UnixTime(seconds: 0).text == "1970-01-01T00:00:00Z")
    #expect(UnixTime(seconds: 1_709_251_199).text == "2024-02-29T23:59:59Z")
    #expect(UnixTime(parsing: "2024-02-29T23:59:59Z") == 1_709_251_199)
    #expect(Timestamp(milliseconds: 1_709_251_199_007).text == "2024-02-29T23:59:59.007Z")
  }

  @Test(
    "A time before 1970 is written as the start of 1970",
    arguments: [-1, -7_200, -86_400, -62_167_219_200, .min / 1_000, .min])
  func early(_ seconds: Int64) {
    #expect(UnixTime(seconds: seconds).text == "1970-01-01T00:00:00Z")
    for milliseconds in [seconds, seconds / 1_000] {
      #expect(Timestamp(milliseconds: min(-1, milliseconds)).text.hasPrefix("1970-01-01T00:00:00."))
    }
  }

  @Test("The latest time is written with a year of four digits", arguments: [253_402_300_800, Int64.max / 1_000, .max])
  func late(_ seconds: Int64) {
    #expect(UnixTime(seconds: seconds).text.utf8.count == 20)
  }

  @Test(
    "Another notation is no time",
    arguments: [
      "", "2024-02-29T23:59:59", "2024-02-29 23:59:59Z", "2024-02-29T23:59:59z", "2024-02-29T24:00:00Z",
      "2024-02-29T23:60:00Z", "2024-02-29T23:59:60Z", "2023-02-29T00:00:00Z", "1969-12-31T23:59:59Z",
      "2024-02-29T23:59:5éZ",
    ])
  func otherNotations(_ text: String) {
    #expect(UnixTime(parsing: text) == nil)
  }
}
