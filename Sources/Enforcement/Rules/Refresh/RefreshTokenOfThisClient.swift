import OAuth
import Policy

extension Rule where Context == RefreshContext {
  /// RFC 6749, sections 6 and 10.4.
  static var refreshTokenOfThisClient: Rule {
    Rule(name: "the refresh token was issued to this client") { context in
      context.grant.clientID == context.intent.client.id ? .pass : .refuse(.refreshTokenForeign)
    }
  }
}
