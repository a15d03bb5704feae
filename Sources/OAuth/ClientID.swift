/// The identifier of a client (RFC 6749, section 2.2), compared byte for byte.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
  /// The value of `client_id`, decoded.
  public let rawValue: String

  /// Wraps a value of `client_id`, decoded.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The value of `client_id`.
  public var description: String { rawValue }
}
