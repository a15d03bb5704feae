/// The identifier of an epoch: a period in which the store of the gateway lost no data. A refresh token contains the
/// epoch in which it was sealed.
public struct EpochID: Hashable, Sendable {
  /// The identifier as a number; 0 is ``none``.
  public let rawValue: UInt64

  /// Wraps the number of an epoch.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The value for a refresh token in the oldest format, which contains no epoch. No epoch has this identifier.
  public static let none = EpochID(rawValue: 0)
}
