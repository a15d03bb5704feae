import OAuth
import Policy

extension Rule where Context == RefreshContext {
  /// `I-credentials`: the upstream secret is for the client's own refresh tokens.
  static var refreshTokenCurrent: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      context.grant.upstreamClientID == context.intent.client.upstream.clientID ? .pass : .refuse(.refreshTokenOutdated)
    }
  }
}
