/// The identifier of a client (RFC 6749, section 2.2). It is compared as a Swift string, in which different bytes may
/// be equal under Unicode. Among printable ASCII (appendix A.1), only equal bytes are equal.
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
