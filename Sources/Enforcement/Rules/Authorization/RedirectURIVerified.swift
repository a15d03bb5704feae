import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 8252, sections 7.3 and 8.4: identical to a registered URI, the port of a native app's loopback literal aside.
  static var redirectURIVerified: Rule {
    Rule(name: "the redirect URI is a registered one") { context in
      guard context.client != nil else { return .pass }
      switch context.redirect {
      case .refused(let rejection, let detail): return .refuse(rejection, detail)
      case .verified(let uri, _):
        guard case .localhost = uri.kind else { return .pass }
        return .note(.localhostRedirect)
      }
    }
  }
}
