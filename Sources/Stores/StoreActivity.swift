/// The operations of a store that is in another process or on a disk, since the start of this process, and the present
/// outage of the store.
public struct StoreActivity: Hashable, Sendable {
  /// The upper bounds of the buckets of `durations`, in nanoseconds. One more bucket has no bound.
  public static let bounds: [UInt64] = [
    100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
    250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    30_000_000_000, 60_000_000_000, 120_000_000_000, 300_000_000_000,
  ]

  /// The label of the engine in metrics: `file` or `redis`.
  public let engine: String
  /// The epoch of the entries; 0 as long as it is unknown.
  public let epoch: UInt64
  /// The reason why the store does not answer at present; `nil` if it does.
  public let outage: String?
  /// The number of operations in each bucket, not cumulative. Operations that failed are included.
  public let durations: [UInt64]
  /// The sum of all durations, in nanoseconds.
  public let nanoseconds: UInt64
  /// The number of operations that failed, by reason.
  public let failures: [StoreFailure: UInt64]
}

/// The reason why an operation of a store failed. The raw values are labels of metrics.
public enum StoreFailure: String, Hashable, Sendable, CaseIterable {
  /// No answer came before the deadline.
  case timeout
  /// The store cannot be reached, or could not execute the operation.
  case unavailable
  /// The operator has to act, for example because of wrong credentials or a damaged file.
  case misconfigured
}
