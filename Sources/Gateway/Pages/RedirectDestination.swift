import Markup
import Policy

/// The destination of the authorization response, as the consent page describes it to the user.
public enum RedirectDestination: Sendable, Equatable {
  /// An app with a private-use scheme (RFC 8252, section 7.1). The scheme is without its colon.
  case app(scheme: String)
  /// A program that listens on a loopback address (RFC 8252, section 7.3), with the host of the redirect URI, such as
  /// `127.0.0.1` or `localhost`.
  case thisComputer(host: String)
  /// A claimed https redirect URI, e.g. `https://app.example.com/callback` (RFC 8252, section 7.2). In place of its query
  /// it has `?…`.
  case site(uri: String)

  /// Returns the description for the user.
  func description(on pages: Pages) -> HTML {
    switch self {
    case .app(let scheme): pages.text(.consentDestinationApp, ["scheme": "<code>\(visible: scheme):</code>"])
    case .thisComputer(let host): "\(pages.text(.consentDestinationProgram)) <code>\(visible: host)</code>"
    case .site(let uri): "<code>\(visible: uri)</code>"
    }
  }
}
