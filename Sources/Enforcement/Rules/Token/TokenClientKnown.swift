import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 3.2.1 and 5.2. The gateway's own identifier at the upstream is never just unknown.
  static var tokenClientKnown: Rule {
    Rule(name: "the client is registered") { context in
      guard context.client == nil, context.authenticationError == nil else { return .pass }
      guard let id = context.authentication?.clientID else { return .refuse(.clientUnidentified) }
      return .refuse(context.policy.heldUpstreamIDs.contains(id) ? .clientIsUpstream : .clientNotKnownAtToken)
    }
  }
}
