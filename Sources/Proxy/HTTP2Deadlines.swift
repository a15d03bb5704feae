import Reactor
import Time

/// The deadlines of an HTTP/2 connection: for the next request, and for the rest of a field section.
struct HTTP2Deadlines {
  private enum Fields {
    case complete
    /// The rest of a field section is awaited.
    case awaited(until: Deadline)
    /// The client took too long to send the rest of its fields, and gets an error.
    case missed
  }

  private var fields = Fields.complete
  /// The deadline for the next request; `nil` while there are streams.
  var idle: Deadline?

  /// The earliest deadline; `.never` without one.
  var first: Deadline {
    if case .awaited(let deadline) = fields { min(deadline, idle ?? .never) } else { idle ?? .never }
  }

  var awaitsFields: Bool {
    if case .awaited = fields { true } else { false }
  }

  /// Records whether the rest of a field section is awaited. Keeps the deadline of a wait that has already begun.
  mutating func update(awaitsFields: Bool, until deadline: Deadline) {
    switch fields {
    case .complete: if awaitsFields { fields = .awaited(until: deadline) }
    case .awaited: if !awaitsFields { fields = .complete }
    case .missed: break
    }
  }

  /// Returns true once if the rest of a field section has not arrived in time.
  mutating func fieldsTimedOut(at now: MonotonicTime) -> Bool {
    guard case .awaited(let deadline) = fields, deadline.hasPassed(at: now) else { return false }
    fields = .missed
    return true
  }
}

extension Deadline {
  func hasPassed(at now: MonotonicTime) -> Bool { self <= now }

  /// The time from `now` to the deadline; 0 if it has passed.
  func remainingTime(at now: MonotonicTime) -> Milliseconds { hasPassed(at: now) ? 0 : self - now }
}

extension Deadline? {
  /// Returns false for `nil`.
  func hasPassed(at now: MonotonicTime) -> Bool { map { $0.hasPassed(at: now) } ?? false }
}
