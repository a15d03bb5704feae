/// The identifier of a client (RFC 6749, section 2.2), compared byte for byte.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String

  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  public var description: String { rawValue }
}
