/// The identifier of a client (RFC 6749, section 2.2). It is compared as a Swift string, so two ids with different
/// bytes can be equal under Unicode equivalence. Ids of printable ASCII (appendix A.1) are equal only if their bytes
/// are equal.
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
