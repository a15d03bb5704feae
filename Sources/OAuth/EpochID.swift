/// The identifier of an epoch of a store: a period in which the store lost no data. A refresh token carries the epoch
/// in which it was sealed.
public struct EpochID: Hashable, Sendable {
  /// The identifier as a number; 0 is ``none``.
  public let rawValue: UInt64

  /// Wraps the number of an epoch.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The epoch of refresh tokens in the oldest layout, which carries no epoch. No store has this identifier.
  public static let none = EpochID(rawValue: 0)
}
