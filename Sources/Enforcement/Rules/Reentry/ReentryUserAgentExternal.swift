import OAuth
import Policy

extension Rule where Context == ReentryContext {
  /// RFC 8252, section 8.12: where embedded user agents are blocked, they are at every step and not only at the first.
  static var reentryUserAgentExternal: Rule {
    Rule(name: "the user agent that came back does not look embedded") { context in
      guard let client = context.client, client.mode == .enforce, client.embeddedUserAgents == .block else {
        return .pass
      }
      let usesBroker = context.transaction.redirectURI.kind == .broker
      let isEmbedded = UserAgent.looksEmbedded(context.request.userAgent ?? "", usesBroker: usesBroker)
      return isEmbedded ? .refuse(.userAgentEmbedded) : .pass
    }
  }
}
