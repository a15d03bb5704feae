import Time

/// A point in time on the status page, which is encoded as text of RFC 3339 in UTC.
struct StatusTime: Encodable, Equatable, Sendable {
  let time: UnixTime

  init(_ time: UnixTime) { self.time = time }

  init(_ timestamp: Timestamp) { time = UnixTime(seconds: timestamp.milliseconds / 1_000) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(time.text)
  }
}
