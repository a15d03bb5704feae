public import Time

/// The active check of the addresses of the upstream: a request for a path to each address, at an interval.
public struct HealthCheck: Equatable, Sendable {
  /// The path that is requested, which contains only visible ASCII characters.
  public var path: String
  /// The time between two requests to an address.
  public var interval: Milliseconds
  /// The maximum time of a request, from the connect to the end of the response head.
  public var timeout: Milliseconds
  /// The statuses of a healthy server; empty for 200 to 399.
  public var statuses: Set<Int> = []
  /// The number of failures in succession that take an address out of service.
  public var failures = 3
  /// The number of successes in succession that return an address to service.
  public var successes = 2

  /// Creates a check with the default statuses and numbers.
  public init(path: String, interval: Milliseconds, timeout: Milliseconds) {
    self.path = path
    self.interval = interval
    self.timeout = timeout
  }

  /// True if a response with this status shows a healthy server.
  func isHealthy(_ status: Int) -> Bool {
    statuses.isEmpty ? (200...399).contains(status) : statuses.contains(status)
  }
}

/// The results of the checks of an address.
public struct HealthCheckResults: Equatable, Sendable {
  /// The number of successful checks.
  public var passed: UInt64 = 0
  /// The number of failed checks.
  public var failed: UInt64 = 0
  /// The reason of the last failure while the address is out of service because of the checks; otherwise `nil`.
  public var problem: String?
  /// The number of failures in succession.
  var failures = 0
  /// The number of successes in succession while the address is out of service.
  var successes = 0

  /// No results.
  public init() {}

  /// A change of the state of an address by a check.
  enum Change: Equatable {
    /// The address has left service.
    case out
    /// The address has returned to service.
    case back
  }

  /// Counts a result. Returns true if the results ask for a change: after a failure, to leave service; after a success,
  /// to return.
  ///
  /// - Parameters:
  ///   - failure: the reason of a failure; `nil` for a success.
  ///   - isOut: true while the address is out of service for any reason.
  mutating func add(_ failure: String?, _ check: HealthCheck, isOut: Bool) -> Bool {
    guard let failure else {
      passed += 1
      failures = 0
      successes = isOut ? successes + 1 : 0
      return isOut && successes >= check.successes
    }
    failed += 1
    successes = 0
    failures += 1
    if problem != nil { problem = failure }
    return failures >= check.failures
  }
}
