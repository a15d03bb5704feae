import OAuth
import Policy

extension Rule where Context == RedemptionContext {
  /// `I-credentials`: the upstream secret is for the client's own codes.
  static var codeCurrent: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      context.code.upstreamClientID == context.intent.client.upstream.clientID ? .pass : .refuse(.codeOutdated)
    }
  }
}
