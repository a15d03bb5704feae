/// The destination of the authorization response, in terms that a user can judge.
public enum RedirectDestination: Sendable, Equatable {
  /// A private-use scheme, without its colon (RFC 8252, section 7.1).
  case app(scheme: String)
  /// A loopback address (RFC 8252, section 7.3).
  case thisComputer
  /// The origin of a claimed https redirect URI, e.g. `https://app.example.com` (RFC 8252, section 7.2).
  case site(origin: String)

  var words: HTML {
    switch self {
    case .app(let scheme): "the app on this device that handles <code>\(shown: scheme):</code>"
    case .thisComputer: "a program on this computer"
    case .site(let origin): "<code>\(shown: origin)</code>"
    }
  }
}
