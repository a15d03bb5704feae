/// The identifier of an epoch: a period in which the store of the gateway lost no data. Codes and refresh tokens contain
/// the epoch in which they were sealed.
public struct EpochID: Hashable, Sendable {
  /// The identifier as a number; 0 is ``none``.
  public let rawValue: UInt64

  /// Wraps the number of an epoch.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The epoch of a refresh token in the oldest format, which contains none, and of a store that was never reached.
  public static let none = EpochID(rawValue: 0)
}
