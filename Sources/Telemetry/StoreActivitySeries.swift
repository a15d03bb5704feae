/// The operations of a store that is in another process or on a disk, for the metrics and `/readyz`.
public struct StoreActivitySeries: Equatable, Sendable {
  /// The engine, as a metric label: `file` or `redis`.
  public let engine: String
  /// The epoch of the entries, as a metric label.
  public let epoch: String
  /// The reason why the store does not answer at present; `nil` if it does.
  public let outage: String?
  /// The durations of all operations, including those that failed.
  public let durations: HistogramSnapshot
  /// The operations that failed, by reason, in the order of the metrics.
  public let failures: [Failure]

  /// The number of operations that failed for one reason.
  public struct Failure: Equatable, Sendable {
    /// The reason, as a metric label.
    public let reason: String
    /// The number of operations.
    public let count: UInt64

    /// Creates the number of one reason.
    public init(reason: String, count: UInt64) {
      self.reason = reason
      self.count = count
    }
  }

  /// Creates the numbers of a store.
  ///
  /// - Parameters:
  ///   - buckets: the number of operations in each bucket, not cumulative. The bounds of the buckets must be those of
  ///     `LatencyHistogram.bounds`.
  ///   - nanoseconds: the sum of all durations.
  public init(
    engine: String, epoch: String, outage: String?, buckets: [UInt64], nanoseconds: UInt64, failures: [Failure]
  ) {
    precondition(buckets.count == LatencyHistogram.bounds.count + 1, "a histogram with other buckets")
    self.engine = engine
    self.epoch = epoch
    self.outage = outage
    self.failures = failures
    durations = HistogramSnapshot(buckets: buckets, nanoseconds: nanoseconds)
  }
}
