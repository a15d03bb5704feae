internal import ByteText
import OAuth
import Policy

// Rules on the redirect URI, at the authorization endpoint and when a code is redeemed.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1. If there are several URIs, none can be trusted. A request without a URI passes
  /// this rule.
  static var redirectURIOnce: Rule {
    Rule(name: "redirect_uri occurs once") { context in
      switch context.parameters.reading(.redirectURI) {
      case .repeated: .refuse(.redirectURIRepeated)
      case .malformed: .refuse(.redirectURIMalformed)
      case .value, .absent: .pass
      }
    }
  }

  /// RFC 8252, sections 7.3, 8.3 and 8.4. The URI must equal a registered one. For a native app, the port of a loopback
  /// literal may differ, and also the port of `localhost` if the policy permits it.
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
  /// RFC 6749, section 4.1.3. The URI must equal the one to which the code was sent, including a loopback port. It may
  /// be omitted if the authorization request omitted it.
  static var codeRedirectURISame: Rule {
    Rule(name: "redirect_uri equals that of the authorization request") { context in
      switch context.request.redirectURI {
      case .some(let text) where text.utf8.span.isEqual(to: context.code.redirectURI.text.utf8.span): .pass
      case .none where !context.code.redirectURIWasSent: .pass
      // With PKCE, a token request may omit the URI (OAuth 2.1 draft, section 10.2). If it has one, the URI is
      // compared.
      case .none where context.request.client.profile == .oauth21 && context.code.challenge != nil: .pass
      case .some, .none: .refuse(.codeRedirectURIMismatch)
      }
    }
  }
}
