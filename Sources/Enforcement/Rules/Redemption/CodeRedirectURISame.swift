internal import Bytes
import OAuth
import Policy

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3, loopback port included. One that was not sent there may be absent here, and must be right if
  /// it is not.
  static var codeRedirectURISame: Rule {
    Rule(name: "redirect_uri is the one of the authorization request") { context in
      switch context.intent.redirectURI {
      case .some(let text) where text.utf8.span.isEqual(to: context.code.redirectURI.text.utf8.span): .pass
      case .none where !context.code.redirectURIWasSent: .pass
      // Section 10.2 of the OAuth 2.1 draft: PKCE does what the comparison was for.
      case .none where context.intent.client.profile == .oauth21 && context.code.challenge != nil: .pass
      case .some, .none: .refuse(.codeRedirectURI)
      }
    }
  }
}
