import OAuth
import Policy

extension Rule where Context == RefreshContext {
  /// RFC 9700, section 4.14.2: each refresh gives a new token, so the age of a token is the time without use.
  static var refreshTokenFresh: Rule {
    Rule(name: "the refresh token was used lately") { context in
      let lifetime = Int64(context.intent.client.refreshIdle)
      return context.now < context.grant.issuedAt + lifetime ? .pass : .refuse(.refreshTokenExpired)
    }
  }
}
