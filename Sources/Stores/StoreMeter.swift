public import OAuth
internal import Synchronization

/// Counts the operations of a store, and keeps the reason of its present outage. All functions may be called on any
/// thread.
public final class StoreMeter: Sendable {
  private static let bucketCount = 21

  private let engine: String
  private let buckets = InlineArray<21, Cell> { _ in Cell() }
  private let sum = Cell()
  private let failures = InlineArray<3, Cell> { _ in Cell() }
  private let outage = Mutex<String?>(nil)

  private struct Cell: ~Copyable, Sendable {
    private let value = Atomic<UInt64>(0)

    func add(_ amount: UInt64) { value.wrappingAdd(amount, ordering: .relaxed) }
    var count: UInt64 { value.load(ordering: .relaxed) }
  }

  /// Creates a meter whose counts are 0.
  ///
  /// - Parameter engine: the label of the engine in metrics.
  public init(engine: String) {
    self.engine = engine
  }

  /// Counts an operation that has ended, with its duration.
  public func observe(nanoseconds: UInt64) {
    let bucket = StoreActivity.bounds.firstIndex { nanoseconds <= $0 } ?? StoreMeter.bucketCount - 1
    buckets[bucket].add(1)
    sum.add(nanoseconds)
  }

  /// Counts an operation that failed.
  public func failed(_ failure: StoreFailure) {
    failures[StoreMeter.index(failure)].add(1)
  }

  /// Sets the reason why the store does not answer; `nil` if it answers again. Returns true if an outage began or
  /// ended.
  public func setOutage(_ reason: String?) -> Bool {
    outage.withLock { outage in
      defer { outage = reason }
      return (outage == nil) != (reason == nil)
    }
  }

  /// Returns the current counts.
  public func activity(epoch: EpochID) -> StoreActivity {
    var failed: [StoreFailure: UInt64] = [:]
    for failure in StoreFailure.allCases { failed[failure] = failures[StoreMeter.index(failure)].count }
    return StoreActivity(
      engine: engine, epoch: epoch.rawValue, outage: outage.withLock { $0 },
      durations: (0..<StoreMeter.bucketCount).map { buckets[$0].count }, nanoseconds: sum.count, failures: failed)
  }

  private static func index(_ failure: StoreFailure) -> Int {
    switch failure {
    case .timeout: 0
    case .unavailable: 1
    case .misconfigured: 2
    }
  }
}
