internal import Reactor
internal import Stores
internal import Time

/// One operation that a worker sends to the store's thread.
struct StoreRequest: Sendable {
  enum Operation: Sendable {
    case put([UInt8], holder: StoreHolder, expiry: UnixTime)
    case reserve(bytes: Int, holder: StoreHolder, expiry: UnixTime)
    case replace([UInt8], with: [UInt8], expiry: UnixTime)
    case get
    /// Removes the entry if its value is `expected`; `nil` for any value.
    case take(expected: [UInt8]?)
  }

  enum Answer: Sendable {
    /// The value of the entry, before a change by `take`; for `put`, the existing value that it did not replace.
    case value([UInt8]?)
    /// True if `replace` or `reserve` has changed the entry.
    case flag(Bool)
  }

  /// True if no caller waits for the change. It is repeated until a transaction has made it.
  var isForLater = false
  let key: StoreKey
  let operation: Operation
  /// The time of the caller.
  let now: UnixTime
  /// The start of the operation, in monotonic nanoseconds.
  let began: MonotonicInstant
  let reply: AwaitedValue<Result<Answer, StoreError>>

  /// True unless the operation only reads.
  var isChange: Bool { if case .get = operation { false } else { true } }
}
