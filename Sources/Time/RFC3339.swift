/// Converts a point in time to text in UTC (RFC 3339, section 5.6), e.g. `2026-11-21T08:30:00Z`, and back.
enum RFC3339 {
  /// The length of a text with milliseconds.
  static let maximumLength = 24

  /// Returns the text of a time; that of an earlier one than 1970 is `1970-01-01T00:00:00Z`, and a year has four digits.
  static func text(_ time: UnixTime, milliseconds: Int? = nil) -> String {
    var text: [UInt8] = []
    text.append(addingCapacity: maximumLength) { write(time, milliseconds: milliseconds, to: &$0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the text of a time, as `text` does.
  ///
  /// - Parameter milliseconds: The milliseconds since the start of the second; `nil` for a text without them.
  static func write(_ time: UnixTime, milliseconds: Int?, to text: inout OutputSpan<UInt8>) {
    // A clock that was never set, and the end of a certificate, may be earlier.
    let (days, second) = Int(max(0, time.seconds)).quotientAndRemainder(dividingBy: 86_400)
    let date = GregorianDate(daysSince1970: days)
    append(date.year, width: 4, separator: "-", to: &text)
    append(date.month, width: 2, separator: "-", to: &text)
    append(date.day, width: 2, separator: "T", to: &text)
    append(second / 3_600, width: 2, separator: ":", to: &text)
    append(second / 60 % 60, width: 2, separator: ":", to: &text)
    if let milliseconds {
      append(second % 60, width: 2, separator: ".", to: &text)
      append(max(0, milliseconds), width: 3, separator: "Z", to: &text)
    } else {
      append(second % 60, width: 2, separator: "Z", to: &text)
    }
  }

  /// Parses the text of a time without milliseconds; `nil` for each text that `text` would not return.
  static func parse(_ text: some StringProtocol) -> UnixTime? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20, let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
      let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
      let second = number(bytes[17..<19]), let date = GregorianDate(year: year, month: month, day: day), hour < 24,
      minute < 60, second < 60
    else { return nil }
    let time = UnixTime(seconds: Int64(date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second))
    // The comparison with the correct text detects wrong punctuation.
    return self.text(time).utf8.elementsEqual(bytes) ? time : nil
  }

  /// Appends the last `width` digits of a number and the separator that follows them.
  private static func append(_ value: Int, width: Int, separator: Unicode.Scalar, to text: inout OutputSpan<UInt8>) {
    var scale = 1
    for _ in 1..<width { scale *= 10 }
    while scale > 0 {
      text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / scale % 10))
      scale /= 10
    }
    text.append(UInt8(ascii: separator))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int(digit &- UInt8(ascii: "0"))
    }
    return value
  }
}

extension UnixTime {
  /// The time in UTC as RFC 3339 writes it, e.g. `2026-11-21T08:30:00Z`; for a time before 1970, the start of 1970.
  public var text: String { RFC3339.text(self) }

  /// Parses the text of a time; `nil` for each text that ``text`` would not return.
  public init?(parsing text: some StringProtocol) {
    guard let time = RFC3339.parse(text) else { return nil }
    self = time
  }
}

extension Timestamp {
  /// The time in UTC as RFC 3339 writes it, with milliseconds, e.g. `2026-08-25T12:00:00.000Z`; for a time before 1970,
  /// the start of 1970.
  public var text: String {
    let (seconds, milliseconds) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    return RFC3339.text(UnixTime(seconds: seconds), milliseconds: Int(milliseconds))
  }

  /// The length of ``text`` in bytes.
  public static var textLength: Int { RFC3339.maximumLength }

  /// Appends ``text``.
  public func write(to output: inout OutputSpan<UInt8>) {
    let (seconds, milliseconds) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    RFC3339.write(UnixTime(seconds: seconds), milliseconds: Int(milliseconds), to: &output)
  }
}
