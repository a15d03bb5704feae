internal import Synchronization

/// The metrics of the process: one `WorkerMetrics` for each worker, and values that belong to no worker.
public final class MetricsRegistry: Sendable {
  private struct PolicyState: Sendable {
    var version: String
    var reloads: UInt64 = 0
    var failures: UInt64 = 0
  }

  /// The functions that measure the store. They are members of a structure, because a `Mutex` whose value is itself a
  /// function wraps it into one more function at each access, so that it grows without limit.
  private struct Measurements: Sendable {
    var store: @Sendable () -> [StoreSeries] = { [] }
    var storeCount: @Sendable () -> StoreCountSeries? = { nil }
    var storeActivity: @Sendable () -> StoreActivitySeries? = { nil }
  }

  /// The metrics of each worker, in the order of the workers.
  public let workers: [WorkerMetrics]
  private let clients: ClientUses
  private let policy: Mutex<PolicyState>
  private let certificates = Mutex<[CertificateExpiry]>([])
  private let measurements = Mutex(Measurements())
  private let dropped = Atomic<UInt64>(0)
  private let writeFailures = Atomic<UInt64>(0)
  private let accessLinesDropped = Atomic<UInt64>(0)

  /// Creates the metrics of `count` workers.
  public init(workers count: Int, policyVersion: String) {
    let clients = ClientUses()
    self.clients = clients
    workers = (0..<count).map { _ in WorkerMetrics(clients: clients) }
    policy = Mutex(PolicyState(version: policyVersion))
  }

  /// Counts a reload that took effect.
  public func policyReloaded(version: String) {
    policy.withLock {
      $0.version = version
      $0.reloads += 1
    }
  }

  /// Counts a reload that failed. The old policy stays in force.
  public func policyReloadFailed() {
    policy.withLock { $0.failures += 1 }
  }

  /// Replaces the list of certificates that the gateway presents. Equal entries are listed only once.
  public func setCertificates(_ certificates: [CertificateExpiry]) {
    var listed: Set<CertificateExpiry> = []
    let unique = certificates.filter { listed.insert($0).inserted }
    self.certificates.withLock { $0 = unique }
  }

  /// Sets the function that measures the memory use of the store. The function is called whenever metrics are
  /// collected.
  public func setStoreMeasurement(_ measure: @escaping @Sendable () -> [StoreSeries]) {
    measurements.withLock { $0.store = measure }
  }

  /// Sets the function that returns the state of the count of entries; it returns `nil` for a store that does not count
  /// in the background. It is called whenever metrics are collected.
  public func setStoreCountMeasurement(_ measure: @escaping @Sendable () -> StoreCountSeries?) {
    measurements.withLock { $0.storeCount = measure }
  }

  /// Sets the function that returns the operations of the store; it returns `nil` for a store in memory. It is called
  /// whenever metrics are collected or `/readyz` is requested.
  public func setStoreActivityMeasurement(_ measure: @escaping @Sendable () -> StoreActivitySeries?) {
    measurements.withLock { $0.storeActivity = measure }
  }

  /// The operations of the store until now; `nil` for a store in memory.
  public var currentStoreActivity: StoreActivitySeries? {
    measurements.withLock { $0 }.storeActivity()
  }

  func logLinesDropped(_ count: UInt64) { dropped.add(count, ordering: .relaxed) }
  /// Counts lines of the access log that were dropped. May be called on any thread.
  public func accessLinesDropped(_ count: UInt64) { accessLinesDropped.add(count, ordering: .relaxed) }
  func logWriteFailed() { writeFailures.add(1, ordering: .relaxed) }

  /// Returns the current values of all metrics. May be called on any thread.
  public func snapshot() -> MetricsSnapshot {
    var snapshot = MetricsSnapshot()
    for worker in workers { worker.add(to: &snapshot) }
    let policy = policy.withLock { $0 }
    snapshot.policyVersion = policy.version
    snapshot.policyReloads = policy.reloads
    snapshot.policyReloadFailures = policy.failures
    let measurements = measurements.withLock { $0 }
    snapshot.store = measurements.store()
    snapshot.storeCount = measurements.storeCount()
    snapshot.storeActivity = measurements.storeActivity()
    snapshot.certificates = certificates.withLock { $0 }
    snapshot.logLinesDropped = dropped.load(ordering: .relaxed)
    snapshot.logWriteFailures = writeFailures.load(ordering: .relaxed)
    snapshot.accessLinesDropped = accessLinesDropped.load(ordering: .relaxed)
    return snapshot
  }

  /// Returns the decisions over time and by client. May be called on any thread.
  public func activity() -> DecisionActivity {
    var activity = DecisionActivity()
    for worker in workers { worker.add(to: &activity) }
    (activity.clients, activity.omittedRequests) = clients.current
    return activity
  }
}
