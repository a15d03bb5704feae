import OAuth
import Policy

extension Rule where Context == RedemptionContext {
  /// `I-credentials`: the upstream secret is for the client's own codes.
  static var codeCurrent: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      guard context.code.upstreamClientID == context.intent.client.upstream.clientID else {
        return .refuse(.codeOutdated)
      }
      // OAuth 2.1, section 4.1.3: a code that was given without a challenge before the profile was set.
      let client = context.intent.client
      let needsChallenge = client.profile == .oauth21 && !(client.kind == .confidential && client.reliesOnNonce)
      return needsChallenge && context.code.challenge == nil ? .refuse(.codeOutdated) : .pass
    }
  }
}
