/// The name of a store's epoch: the time in which it forgot nothing. Refresh tokens carry the epoch that sealed them.
public struct EpochID: Hashable, Sendable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The epoch of tokens that were sealed when none was kept: before every store's.
  public static let none = EpochID(rawValue: 0)
}
