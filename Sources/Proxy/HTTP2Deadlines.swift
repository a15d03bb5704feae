import Reactor

/// Points at which an HTTP/2 connection does not wait any longer; `nil` for what is not waited for.
struct HTTP2Deadlines {
  /// The rest of a field section.
  var fields: Deadline?
  /// The next request.
  var idle: Deadline?
  /// The client has heard that nothing new is served.
  var notice: Deadline?

  /// The next of them.
  var first: Deadline {
    min(fields ?? .never, idle ?? .never, notice ?? .never)
  }
}

extension Deadline {
  func hasPassed(at now: UInt64) -> Bool { milliseconds <= now }
}

extension Deadline? {
  /// A deadline for which nothing waits has not passed.
  func hasPassed(at now: UInt64) -> Bool { map { $0.hasPassed(at: now) } ?? false }
}
