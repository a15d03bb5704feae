/// Why a handshake did not come about.
public enum TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case timedOut
  /// Whoever the connection was made for went away.
  case abandoned
  /// The peer went away.
  case closed
  /// The client speaks HTTP without TLS.
  case plainHTTP
  /// The peer's certificate is not one to trust, in OpenSSL's words.
  case untrusted(String)
  /// The two sides found no common ground, in OpenSSL's words.
  case refused(String)

  public var description: String {
    switch self {
    case .timedOut: "the TLS handshake took too long"
    case .abandoned: "nobody waits for the TLS handshake any more"
    case .closed: "the connection ended during the TLS handshake"
    case .plainHTTP: "plain HTTP instead of a TLS handshake"
    case .untrusted(let reason): "its certificate is not trusted: \(reason)"
    case .refused(let reason): "the TLS handshake failed: \(reason)"
    }
  }
}
