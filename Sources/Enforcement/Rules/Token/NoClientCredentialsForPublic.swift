import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, section 4.4.
  static var noClientCredentialsForPublic: Rule {
    Rule(name: "a public client does not use client credentials") { context in
      guard context.grant == .clientCredentials, context.client?.kind == .public else { return .pass }
      return .refuse(.clientCredentialsPublic)
    }
  }
}
