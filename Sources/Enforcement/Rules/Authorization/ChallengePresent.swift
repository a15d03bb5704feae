import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 7636, section 4.4.1; RFC 8252, section 8.1: for every native app, whatever its redirect URI looks like. OAuth 2.1,
  /// section 7.5.1.1, excuses a confidential client that relies on the nonce of OpenID Connect, where it sends one.
  static var challengePresent: Rule {
    Rule(name: "there is a code challenge") { context in
      guard let client = context.client, case .absent = context.challenge else { return .pass }
      switch client.profile {
      case .standard:
        if client.pkce != .required { return .pass }
      case .oauth21:
        let isExcused = client.kind == .confidential && client.reliesOnNonce
        if isExcused, client.pkce != .required, context.parameters[.nonce] != nil { return .pass }
      }
      return .refuse(.challengeMissing)
    }
  }
}
