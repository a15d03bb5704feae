/// A redirection endpoint (RFC 6749, section 3.1.2), parsed strictly and kept as written.
public struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
  /// The URI exactly as written: what is compared and what is sent.
  public let text: String

  public var description: String { text }
}
