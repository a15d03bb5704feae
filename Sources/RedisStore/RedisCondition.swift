internal import OAuth
internal import Policy
internal import Stores
internal import Synchronization
internal import Time

/// The state of the store that all workers share: the epoch, outages, and the counts of operations and failures. Also
/// informs the operator of outages, new epochs and wrong settings of the server.
final class RedisCondition: Sendable {
  private struct Shared {
    var hasConnected = false
    var hasWarnedOfEviction = false
    var hasWarnedOfMemory = false
    /// The time of the last report of each problem (`RedisFailure.reportKey`).
    var reportTimes: [String: MonotonicTime] = [:]
    /// The function that informs the operator; `nil` until the program has set it.
    var report: (@Sendable (String) -> Void)?
    /// The sentences for the operator until `report` is set.
    var unreported: [String] = []

    /// Returns true, and records a report of the problem, if the problem was not reported recently.
    mutating func beginReport(of name: String, _ now: MonotonicTime) -> Bool {
      if let last = reportTimes[name], now < last + Milliseconds(RedisLimits.reportInterval) { return false }
      reportTimes[name] = now
      return true
    }
  }

  private let endpointName: String
  private let settings: RedisSettings
  private let shared = Mutex(Shared())
  private let currentEpoch = Atomic<UInt64>(0)
  private let meter = StoreMeter(engine: "redis")

  /// Creates the state of a store without a connection.
  ///
  /// - Parameter settings: the settings of the store, which contain its name in notices.
  init(_ settings: RedisSettings) {
    self.settings = settings
    endpointName = settings.endpointName
    _ = meter.setOutage("not connected yet")
  }

  /// The epoch of the latest connection; `none` before the first.
  var epoch: EpochID { EpochID(rawValue: currentEpoch.load(ordering: .acquiring)) }

  var activity: StoreActivity { meter.activity(epoch: epoch) }

  /// Sets the function that informs the operator, and passes it the sentences that waited for it.
  func reportOutages(to report: @escaping @Sendable (String) -> Void) {
    let waiting = shared.withLock { shared in
      shared.report = report
      defer { shared.unreported = [] }
      return shared.unreported
    }
    for text in waiting { report(text) }
  }

  private func informOperator(_ text: String) {
    let report = shared.withLock { shared in
      // Sentences beyond the first 16 are dropped, to limit the memory. Few occur before the program sets `report`.
      if shared.report == nil, shared.unreported.count < 16 { shared.unreported.append(text) }
      return shared.report
    }
    report?(text)
  }

  /// Records that a worker has a connection that is ready for use.
  func recordConnection(_ greeting: RedisHandshake.Greeting) {
    let id = greeting.epoch.id
    let before = EpochID(rawValue: currentEpoch.exchange(id.rawValue, ordering: .acquiringAndReleasing))
    // True if this ends an outage.
    let isBack = meter.setOutage(nil)
    // The first connection after the start is reported only if the operator knows of an earlier failure.
    let maximum = greeting.maximumMemory
    let isTooSmall = maximum.map { $0 < settings.leastServerMemory } ?? false
    let (reportsReturn, warnsOfEviction, warnsOfMemory) = shared.withLock { shared in
      defer {
        shared.hasConnected = true
        if greeting.evictionPolicy != nil { shared.hasWarnedOfEviction = true }
        if isTooSmall { shared.hasWarnedOfMemory = true }
        if isBack { shared.reportTimes = [:] }
      }
      return (
        shared.hasConnected || !shared.reportTimes.isEmpty, !shared.hasWarnedOfEviction, !shared.hasWarnedOfMemory
      )
    }
    if isBack, reportsReturn { informOperator("the store at \(endpointName) is available") }
    if before != id, before != .none {
      informOperator(
        "the store at \(endpointName) has begun a new epoch: its primary changed or its data was lost; "
          + "earlier codes get 503"
      )
    }
    if let policy = greeting.evictionPolicy, warnsOfEviction {
      informOperator(
        "the store at \(endpointName) may evict claims, with which a code could be used twice: its "
          + "`maxmemory-policy` is `\(policy)`; set it to `noeviction`")
    }
    if let maximum, isTooSmall, warnsOfMemory {
      informOperator(
        "the memory of the store at \(endpointName) can run out, and then it refuses all writes: its `maxmemory` is "
          + "\(maximum) bytes, and \(settings.gateways) gateways with a `store_size` of \(settings.size) bytes need "
          + "\(settings.leastServerMemory); raise `maxmemory` or lower `store_size`")
    }
  }

  /// Records that a worker cannot connect.
  func recordConnectFailure(_ failure: RedisFailure, now: MonotonicTime) {
    _ = meter.setOutage(failure.text)
    // All workers lose the store at about the same time, but one report is enough.
    if shared.withLock({ $0.beginReport(of: failure.reportKey, now) }) { informOperator(sentence(failure)) }
  }

  /// Records the end of an operation.
  func recordOperation(_ failure: RedisFailure?, nanoseconds: UInt64, now: MonotonicTime) {
    meter.observe(nanoseconds: nanoseconds)
    guard let failure else { return }
    meter.failed(failure.kind)
    guard failure.kind == .misconfigured else { return }
    if shared.withLock({ $0.beginReport(of: failure.reportKey, now) }) { informOperator(sentence(failure)) }
  }

  private func sentence(_ failure: RedisFailure) -> String {
    failure.kind == .misconfigured
      ? "the store at \(endpointName) refuses: \(failure.text)"
      : "the store at \(endpointName) is away: \(failure.text)"
  }
}
