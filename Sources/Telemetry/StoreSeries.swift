/// The room that one kind of store entry takes, for the metrics.
public struct StoreSeries: Hashable, Sendable {
  /// The label.
  public let kind: String
  public let entries: Int
  /// Bytes that are taken, and bytes that the kind may take.
  public let bytes: Int
  public let share: Int
  public let evictions: UInt64
  public let refusals: UInt64

  public init(kind: String, entries: Int, bytes: Int, share: Int, evictions: UInt64, refusals: UInt64) {
    self.kind = kind
    self.entries = entries
    self.bytes = bytes
    self.share = share
    self.evictions = evictions
    self.refusals = refusals
  }
}
