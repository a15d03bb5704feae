import OAuth
import Policy

// Rules on the user agent and the pages that the user sees.

extension Rule where Context == AuthorizationContext {
  /// OpenID Connect Core, section 3.1.2.1; RFC 8252, section 8.6: if the gateway must ask the user, no request can be
  /// silent.
  static var promptAllowed: Rule {
    Rule(name: "prompt does not skip the consent page") { context in
      let prompts = context.parameters[.prompt]?.split(separator: " ") ?? []
      guard prompts.contains("none") else { return .pass }
      guard prompts.count == 1 else { return .refuse(.promptNoneCombined) }
      return context.needsConsent ? .refuse(.consentRequired) : .pass
    }
  }

  /// RFC 8252, section 8.12. Advisory. It runs before every rule that redirects, because an app that shows the login
  /// page itself should get neither a form nor a response.
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
  /// RFC 8252, section 8.12: a policy that blocks embedded user agents blocks them at every step, not only at the
  /// first.
  static var reentryUserAgentExternal: Rule {
    Rule(name: "the user agent of a re-entry does not look embedded") { context in
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
  /// RFC 8252, section 8.12: a policy that blocks embedded user agents blocks them on every page of the interaction.
  static var interactionUserAgentExternal: Rule {
    Rule(name: "the user agent of an upstream page does not look embedded") { context in
      guard context.userAgentGuard.blocks else { return .pass }
      let isEmbedded = UserAgent.looksEmbedded(context.userAgent, usesBroker: context.userAgentGuard.usesBroker)
      return isEmbedded ? .refuse(.userAgentEmbedded) : .pass
    }
  }
}
