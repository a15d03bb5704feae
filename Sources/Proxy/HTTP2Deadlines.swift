import Reactor

/// The deadlines of an HTTP/2 connection. Each is `nil` if the connection does not wait for the event.
struct HTTP2Deadlines {
  /// The end of the wait for the rest of a field section.
  var fields: Deadline?
  /// The end of the wait for the next request.
  var idle: Deadline?
  /// The end of the wait for the client's reply to the shutdown notice.
  var notice: Deadline?

  /// The earliest deadline; `.never` if all are `nil`.
  var first: Deadline {
    min(fields ?? .never, idle ?? .never, notice ?? .never)
  }
}

extension Deadline {
  func hasPassed(at now: UInt64) -> Bool { milliseconds <= now }
}

extension Deadline? {
  /// Returns false for `nil`.
  func hasPassed(at now: UInt64) -> Bool { map { $0.hasPassed(at: now) } ?? false }
}
