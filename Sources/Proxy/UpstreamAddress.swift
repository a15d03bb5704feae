public import Reactor
import Synchronization
import Time

/// One address of the upstream, and its state, shared by all workers of a process.
///
/// An address that failed is out of service for a while: it is used only if all addresses are. Then one connection
/// tests it, and it returns to service if the connection is established (docs/adr/0042). With active checks it can also be
/// out of service because of them, until enough of them succeed (docs/adr/0048).
public final class UpstreamAddress: Sendable {
  /// The place of the server.
  public enum Place: Hashable, Sendable {
    /// An IP address and port.
    case socket(Address)
    /// The path of a Unix-domain socket, as in `ServerLocation`.
    case unixSocket(path: String)

    /// The address as text, such as `127.0.0.1:9000` or `unix:/run/legacy.sock`.
    public var name: String {
      switch self {
      case .socket(let address): address.description
      case .unixSocket(let path): "unix:\(path)"
      }
    }
  }

  /// The time for which an address is out of service after its first failure. Each further failure doubles it.
  static let firstOutage: Milliseconds = 10_000
  /// The maximum of this time: a server that returns gets requests again after at most five minutes.
  static let longestOutage: Milliseconds = 300_000

  private struct Outage {
    /// The number of outages in succession, without a time of service between them that was as long as the outage.
    var count = 0
    var duration: Milliseconds = 0
    /// The time at which the address returned to service.
    var end: MonotonicTime = 0
    /// True if the current outage began with a connection that could not be opened.
    var isOfConnect = false
  }

  /// The place of the server.
  public let place: Place
  /// The address as text, made once, because each line of the access log has it.
  public let name: String
  /// A short id of the address for cookies and sealed values. It follows from the address, so that all replicas give an
  /// address the same id. It is too short to reveal the address.
  public let id: UInt16
  /// A hash of the address, the same in each process.
  let hash: UInt64
  /// The time at which the address may return to service; 0 in service. `failsChecks` is added while active checks keep the
  /// address out of service.
  private let outUntil = Atomic<UInt64>(0)
  private static let failsChecks: UInt64 = 1 << 63
  /// The number of failures since the last success that do not take the address out of service by themselves.
  private let failures = Atomic<Int>(0)
  private let outage = Mutex(Outage())
  private let checks = Mutex(HealthCheckResults())
  private let counters = Mutex<[UpstreamAddressCounters]>([])

  init(_ place: Place, id: UInt16) {
    self.place = place
    self.id = id
    name = place.name
    hash = UpstreamAddress.hash(name.utf8)
  }

  /// Returns a hash of the bytes that is the same in each process and version (FNV-1a with 64 bits).
  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  // MARK: State

  /// True while the address is out of service.
  public var isOut: Bool { outUntil.load(ordering: .relaxed) != 0 }

  /// The time at which the address may return to service.
  var returnTime: UInt64 { outUntil.load(ordering: .relaxed) & ~UpstreamAddress.failsChecks }

  /// True after failures that did not take the address out of service.
  var hasFailures: Bool { failures.load(ordering: .relaxed) != 0 }

  /// True during an outage that requests have caused.
  var hasOutage: Bool { outUntil.load(ordering: .relaxed) & ~UpstreamAddress.failsChecks != 0 }

  /// Takes the address out of service. Does nothing during an outage: several requests may notice the same failure.
  ///
  /// - Parameter isOfConnect: true if a connection could not be opened.
  func takeOut(now: MonotonicTime, isOfConnect: Bool = false) {
    outage.withLock { outage in
      guard !hasOutage else { return }
      beginOutage(&outage, now)
      outage.isOfConnect = isOfConnect
    }
  }

  /// Prolongs the outage, because the address has failed a test.
  func stayOut(now: MonotonicTime) {
    outage.withLock { outage in
      beginOutage(&outage, now)
      outage.isOfConnect = true
    }
  }

  private func beginOutage(_ outage: inout Outage, _ now: MonotonicTime) {
    if now > outage.end + outage.duration, !hasOutage { outage.count = 0 }
    outage.duration = min(
      UpstreamAddress.longestOutage, Milliseconds(UpstreamAddress.firstOutage.count << min(outage.count, 10)))
    outage.count += 1
    let kept = outUntil.load(ordering: .relaxed) & UpstreamAddress.failsChecks
    outUntil.store(max(1, (now + outage.duration).milliseconds) | kept, ordering: .relaxed)
    failures.store(0, ordering: .relaxed)
  }

  /// Ends an outage that requests have caused. The address stays out of service while it fails active checks.
  func putBack(now: MonotonicTime) {
    outage.withLock { endOutage(&$0, now) }
  }

  private func endOutage(_ outage: inout Outage, _ now: MonotonicTime) {
    guard hasOutage else { return }
    outage.end = now
    outUntil.bitwiseAnd(UpstreamAddress.failsChecks, ordering: .relaxed)
  }

  /// Returns true if the outage is over, active checks do not keep the address out, and the caller shall test the address;
  /// no other caller then tests it at the same time.
  func beginTest(now: MonotonicTime, atMost duration: Milliseconds) -> Bool {
    let time = outUntil.load(ordering: .relaxed)
    guard time != 0, time <= now.milliseconds else { return false }
    return outUntil.compareExchange(
      expected: time, desired: (now + duration).milliseconds, ordering: .relaxed
    ).exchanged
  }

  /// Counts a failure that does not take the address out of service by itself. Returns the number since the last
  /// success.
  func addFailure() -> Int { failures.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Forgets the failures after a success.
  func clearFailures() { failures.store(0, ordering: .relaxed) }

  // MARK: Active checks

  /// The results of the active checks.
  public var checkResults: HealthCheckResults { checks.withLock { $0 } }

  /// Records the result of an active check, and returns the change of the state that it has caused.
  ///
  /// Successes also end an outage that began with a failed connect. They do not end one that failed responses have caused:
  /// the checked path may work while others do not.
  ///
  /// - Parameter failure: the reason of a failure; `nil` for a success.
  func noteCheck(_ failure: String?, _ check: HealthCheck, now: MonotonicTime) -> HealthCheckResults.Change? {
    checks.withLock { results in
      guard results.add(failure, check, isOut: isOut) else { return nil }
      if let failure {
        guard results.problem == nil else { return nil }
        results.problem = failure
        outage.withLock { _ in _ = outUntil.bitwiseOr(UpstreamAddress.failsChecks, ordering: .relaxed) }
        return .out
      }
      outage.withLock { outage in
        if outage.isOfConnect { endOutage(&outage, now) }
        outUntil.bitwiseAnd(~UpstreamAddress.failsChecks, ordering: .relaxed)
      }
      guard results.problem != nil else { return nil }
      results.problem = nil
      return .back
    }
  }

  /// Forgets the results, because there are no active checks any more.
  func endChecks() {
    checks.withLock { results in
      results = HealthCheckResults()
      outage.withLock { _ in _ = outUntil.bitwiseAnd(~UpstreamAddress.failsChecks, ordering: .relaxed) }
    }
  }

  // MARK: Counters

  /// Returns new counters for one worker.
  func makeCounters() -> UpstreamAddressCounters {
    let made = UpstreamAddressCounters()
    counters.withLock { $0.append(made) }
    return made
  }

  /// The counts of all workers.
  public var counts: UpstreamAddressCounts {
    counters.withLock { $0 }.reduce(into: UpstreamAddressCounts()) { $1.add(to: &$0) }
  }
}

/// The counts of an address.
public struct UpstreamAddressCounts: Equatable, Sendable {
  /// The number of requests that were assigned a connection to the address.
  public var requests: UInt64 = 0
  /// The number of failures: connections that could not be opened in time, ends of a connection before a response, and
  /// responses that count as failures.
  public var failures: UInt64 = 0
  /// The number of open connections.
  public var connections: UInt64 = 0

  /// All counts zero.
  public init() {}
}

/// The counts of an address by one worker. Only this worker changes them, so no atomic addition is needed.
final class UpstreamAddressCounters: Sendable {
  private let requests = Atomic<UInt64>(0)
  private let failures = Atomic<UInt64>(0)
  private let opened = Atomic<UInt64>(0)
  private let closed = Atomic<UInt64>(0)

  func countRequest() { UpstreamAddressCounters.increment(requests) }
  func countFailure() { UpstreamAddressCounters.increment(failures) }
  func countOpened() { UpstreamAddressCounters.increment(opened) }
  func countClosed() { UpstreamAddressCounters.increment(closed) }

  private static func increment(_ counter: borrowing Atomic<UInt64>) {
    counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  func add(to counts: inout UpstreamAddressCounts) {
    // The two counters belong to another thread, and some processors show their changes in another order.
    let closedCount = closed.load(ordering: .relaxed)
    counts.connections += opened.load(ordering: .relaxed).saturatingDifference(closedCount)
    counts.requests += requests.load(ordering: .relaxed)
    counts.failures += failures.load(ordering: .relaxed)
  }
}
