public import OAuth
public import Stores

/// The result of the check of a whole file.
public struct FileStoreReport: Sendable {
  /// The epoch of the entries.
  public let epoch: EpochID
  /// The number of entries of each kind. Expired entries that were not removed yet are included.
  public let entries: [(kind: StoreKind, count: Int)]

  /// The report as lines of text.
  public var lines: [String] {
    ["epoch \(String(epoch.rawValue, radix: 16))"] + entries.map { "\($0.kind.properties.name) \($0.count)" }
  }
}
