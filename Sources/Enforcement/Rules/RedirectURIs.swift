internal import Bytes
import OAuth
import Policy

// Rules on the redirect URI, at the authorization endpoint and at the redemption.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1: if there are two URIs, neither is trusted.
  static var redirectURIOnce: Rule {
    Rule(name: "redirect_uri occurs once") { context in
      switch context.parameters.reading(.redirectURI) {
      case .repeated: .refuse(.redirectURIRepeated)
      case .malformed: .refuse(.redirectURIMalformed)
      case .value, .absent: .pass
      }
    }
  }

  /// RFC 8252, sections 7.3 and 8.4: equal to a registered URI, except for the port of a native app's loopback literal.
  static var redirectURIVerified: Rule {
    Rule(name: "the redirect URI is registered") { context in
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

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3; a loopback port must be equal too. A URI that the authorization request omitted may be
  /// absent here, but must be correct if it is present.
  static var codeRedirectURISame: Rule {
    Rule(name: "redirect_uri equals that of the authorization request") { context in
      switch context.intent.redirectURI {
      case .some(let text) where text.utf8.span.isEqual(to: context.code.redirectURI.text.utf8.span): .pass
      case .none where !context.code.redirectURIWasSent: .pass
      // Section 10.2 of the OAuth 2.1 draft: PKCE makes the comparison unnecessary.
      case .none where context.intent.client.profile == .oauth21 && context.code.challenge != nil: .pass
      case .some, .none: .refuse(.codeRedirectURI)
      }
    }
  }
}
