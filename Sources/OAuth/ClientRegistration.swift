public import Time

/// The content of a `client_id` that the gateway issued (RFC 7591): the metadata in force, and the quarter of issue.
///
/// The gateway keeps no list of registered clients. The same metadata gives the same id within a quarter, so a public
/// client that registers again and again has one id.
public struct ClientRegistration: Hashable, Sendable {
  /// The metadata in force.
  public let metadata: ClientMetadata
  /// The quarter in which the id was issued.
  public let quarter: CalendarQuarter
  /// Random bytes that only this registration has; `nil` for a public client. A client with a secret has them, so that
  /// the same metadata never gives the same id and secret to two programs.
  public let instance: [UInt8]?

  /// The length of `instance` in bytes.
  public static let instanceLength = 16

  /// Creates a registration.
  public init(metadata: ClientMetadata, quarter: CalendarQuarter, instance: [UInt8]? = nil) {
    self.metadata = metadata
    self.quarter = quarter
    self.instance = instance
  }
}

/// A quarter of a year, as the number of quarters since the first one of 1970 (UTC).
public struct CalendarQuarter: Hashable, Comparable, Sendable {
  /// The number of quarters since the first one of 1970.
  public let number: Int

  /// Creates the quarter with a number.
  public init(number: Int) {
    self.number = number
  }

  /// Creates the quarter that contains a time. Times before 1970 are in the first quarter.
  public init(containing time: UnixTime) {
    let date = GregorianDate(daysSince1970: Int(max(0, time.seconds) / 86_400))
    number = (date.year - 1970) * 4 + (date.month - 1) / 3
  }

  /// Returns true if the first quarter is earlier.
  public static func < (first: CalendarQuarter, second: CalendarQuarter) -> Bool { first.number < second.number }
}
