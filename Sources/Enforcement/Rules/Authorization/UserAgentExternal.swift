import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 8252, section 8.12. Advisory; before every rule that redirects, for an app that shows the login itself should get
  /// neither a form nor an answer.
  static var userAgentExternal: Rule {
    Rule(name: "the user agent does not look embedded") { context in
      guard let client = context.client, client.embeddedUserAgents != .off else { return .pass }
      let usesBroker = context.redirect.verified?.kind == .broker
      guard UserAgent.looksEmbedded(context.request.userAgent ?? "", usesBroker: usesBroker) else { return .pass }
      return client.embeddedUserAgents == .block ? .refuse(.userAgentEmbedded) : .note(.embeddedUserAgent)
    }
  }
}
