/// The reason why a client ID metadata document cannot be used. The texts are for the developer of the client and the
/// operator; they contain no part of the response.
public enum DocumentFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// No complete response arrived.
  case unavailable(DocumentOutage, String)
  /// The server refused the request with this status, 400 to 499.
  case status(Int)
  /// The response is not an acceptable document.
  case invalid(String)

  /// True if the server says that there is no document (RFC 9110, sections 15.5.5 and 15.5.11).
  var isMissing: Bool { self == .status(404) || self == .status(410) }

  /// The reason in words.
  public var description: String {
    switch self {
    case .unavailable(_, let reason): reason
    case .status(let status): "its server answered with status \(status)"
    case .invalid(let reason): reason
    }
  }
}

/// The step of a fetch that failed although the document may be acceptable.
public enum DocumentOutage: Equatable, Sendable {
  /// The look-up of the host.
  case lookUp
  /// The check of the host's addresses: the gateway may connect to none of them.
  case address
  /// The connection.
  case connection
  /// The TLS handshake.
  case tls
  /// Any step after the look-up, because the time was over.
  case timeout
  /// The response.
  case response
  /// The limit on the number of fetches of a document or of a host: nothing was fetched.
  case rate
}
