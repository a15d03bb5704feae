/// The memory use of one kind of store entry, and the numbers of its evictions and refusals, for the metrics.
public struct StoreSeries: Hashable, Sendable {
  /// The kind of entry, as a metric label.
  public let kind: String
  /// The number of entries.
  public let entries: Int
  /// The number of bytes that the entries use.
  public let bytes: Int
  /// The maximum number of bytes that entries of this kind may use; `nil` for a store without shares, which does not
  /// know its evictions and refusals by kind either.
  public let share: Int?
  /// The number of entries that were removed to make room for others.
  public let evictions: UInt64
  /// The number of requests for which the store had no room.
  public let refusals: UInt64

  /// Creates the numbers of one kind.
  public init(kind: String, entries: Int, bytes: Int, share: Int?, evictions: UInt64, refusals: UInt64) {
    self.kind = kind
    self.entries = entries
    self.bytes = bytes
    self.share = share
    self.evictions = evictions
    self.refusals = refusals
  }
}
