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

  /// The beginning of every id that the gateway issues. No client of a policy may have such an id.
  public static let issuedPrefix = "pg1."
  /// The maximum length, in characters, of an id that the gateway issues. It is part of the state that goes through the
  /// upstream, and of every token request.
  public static let maximumIssuedLength = 1_024

  /// Returns true if the text looks like an id that the gateway issued.
  public static func isIssued(_ text: String) -> Bool { text.hasPrefix(issuedPrefix) }

  /// The value of `client_id`.
  public var description: String { rawValue }
}
