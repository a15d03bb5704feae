import OAuth
import Policy

// Rules about the user agent and the pages that the user sees.

extension Rule where Context == AuthorizationContext {
  /// OpenID Connect Core, section 3.1.2.1; RFC 8252, section 8.6: where the gateway must ask, nothing can be silent.
  static var promptAllowed: Rule {
    Rule(name: "prompt does not skip the user") { context in
      let prompts = context.parameters[.prompt]?.split(separator: " ") ?? []
      guard prompts.contains("none") else { return .pass }
      guard prompts.count == 1 else { return .refuse(.promptNoneCombined) }
      return context.needsConsent ? .refuse(.consentRequired) : .pass
    }
  }

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

extension Rule where Context == InteractionContext {
  /// RFC 8252, section 8.12: where embedded user agents are blocked, they are on every page of the interaction.
  static var interactionUserAgentExternal: Rule {
    Rule(name: "the user agent of a page in between does not look embedded") { context in
      guard context.userAgentGuard.blocks else { return .pass }
      let isEmbedded = UserAgent.looksEmbedded(context.userAgent, usesBroker: context.userAgentGuard.usesBroker)
      return isEmbedded ? .refuse(.userAgentEmbedded) : .pass
    }
  }
}
