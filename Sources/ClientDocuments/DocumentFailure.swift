/// The reason why a client ID metadata document cannot be used. The texts are for the developer of the client and the
/// operator; they contain no part of the response.
public enum DocumentFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// No complete response arrived: an error of the network, of TLS or of the server, or too many fetches.
  case unavailable(String)
  /// The server refused the request with this status, 400 to 499.
  case status(Int)
  /// The response is not an acceptable document.
  case invalid(String)

  /// True if a repeat of the fetch within a minute would probably fail too.
  var isLasting: Bool {
    switch self {
    case .unavailable: false
    case .status, .invalid: true
    }
  }

  /// The reason in words.
  public var description: String {
    switch self {
    case .unavailable(let reason): reason
    case .status(let status): "its server answered with status \(status)"
    case .invalid(let reason): reason
    }
  }
}
