/// The reason why a handshake failed.
public enum TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The deadline passed.
  case timedOut
  /// The client for whose request the gateway opened the connection has closed its own connection.
  case clientDisconnected
  /// The peer closed the connection, or the worker stopped.
  case closed
  /// The client speaks HTTP without TLS.
  case plainHTTP
  /// The certificate of the peer is not trusted. The text is OpenSSL's reason.
  case untrusted(String)
  /// The handshake failed for another reason, e.g. no common version. The text is OpenSSL's reason.
  case refused(String)

  /// The reason in words, for logs and notices.
  public var description: String {
    switch self {
    case .timedOut: "the TLS handshake took too long"
    case .clientDisconnected: "the TLS handshake was abandoned because its client left"
    case .closed: "the connection ended during the TLS handshake"
    case .plainHTTP: "plain HTTP instead of a TLS handshake"
    case .untrusted(let reason): "its certificate is not trusted: \(reason)"
    case .refused(let reason): "the TLS handshake failed: \(reason)"
    }
  }
}
