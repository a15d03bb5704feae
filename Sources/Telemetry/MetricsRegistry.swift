internal import Synchronization

/// The metrics of the process: one `WorkerMetrics` per worker, and what happens outside of workers.
public final class MetricsRegistry: Sendable {
  private struct PolicyState: Sendable {
    var version: String
    var reloads: UInt64 = 0
    var failures: UInt64 = 0
  }

  /// In the workers' order.
  public let workers: [WorkerMetrics]
  private let policy: Mutex<PolicyState>
  private let certificates = Mutex<[CertificateExpiry]>([])
  private let store = Mutex<@Sendable () -> [StoreSeries]>({ [] })
  private let dropped = Atomic<UInt64>(0)
  private let writeFailures = Atomic<UInt64>(0)

  public init(workers count: Int, policyVersion: String) {
    let clients = ClientSeries()
    workers = (0..<count).map { _ in WorkerMetrics(clients: clients) }
    policy = Mutex(PolicyState(version: policyVersion))
  }

  /// A reload took effect.
  public func policyReloaded(version: String) {
    policy.withLock {
      $0.version = version
      $0.reloads += 1
    }
  }

  /// A reload was refused; the old policy stays.
  public func policyReloadFailed() {
    policy.withLock { $0.failures += 1 }
  }

  /// These certificates are shown from now on; one that is named twice counts once.
  public func certificatesServed(_ served: [CertificateExpiry]) {
    var seen: Set<CertificateExpiry> = []
    let unique = served.filter { seen.insert($0).inserted }
    certificates.withLock { $0 = unique }
  }

  /// Names the function that measures the store when metrics are collected.
  public func measureStore(_ measure: @escaping @Sendable () -> [StoreSeries]) {
    store.withLock { $0 = measure }
  }

  func logLinesDropped(_ count: UInt64) { dropped.add(count, ordering: .relaxed) }
  func logWriteFailed() { writeFailures.add(1, ordering: .relaxed) }

  /// The numbers of now. May be called from any thread.
  public func snapshot() -> MetricsSnapshot {
    var snapshot = MetricsSnapshot()
    for worker in workers { worker.add(to: &snapshot) }
    let policy = policy.withLock { $0 }
    snapshot.policyVersion = policy.version
    snapshot.policyReloads = policy.reloads
    snapshot.policyReloadFailures = policy.failures
    let measure = store.withLock { $0 }
    snapshot.store = measure()
    snapshot.certificates = certificates.withLock { $0 }
    snapshot.logLinesDropped = dropped.load(ordering: .relaxed)
    snapshot.logWriteFailures = writeFailures.load(ordering: .relaxed)
    return snapshot
  }
}
