internal import ByteText
import OAuth
import Policy

// Rules on the user agent and the pages that the user sees.

extension Rule where Context == AuthorizationContext {
  /// OpenID Connect Core, section 3.1.2.1; RFC 8252, section 8.6. A request with `prompt=none` cannot succeed if the
  /// gateway must ask the user for consent.
  static var promptAllowed: Rule {
    Rule(name: "prompt does not skip the consent page", source: "OpenID Connect Core, section 3.1.2.1") { context in
      guard let prompt = context.parameters[.prompt] else { return .pass }
      var (count, hasNone) = (0, false)
      prompt.utf8.span.forEachPart(separatedBy: .space) { part in
        let word = prompt.utf8.span.extracting(part)
        if !word.isEmpty { count += 1 }
        if word.isEqual(to: "none".utf8.span) { hasNone = true }
        return true
      }
      guard hasNone else { return .pass }
      guard count == 1 else { return .refuse(.promptNoneCombined) }
      return context.needsConsent ? .refuse(.consentRequired) : .pass
    }
  }

  /// RFC 8252, section 8.12. The check is advisory, because a program can send any `User-Agent`. The check runs before
  /// every rule that may redirect an error, so that a blocked app gets an error page, and no response at its redirect
  /// URI. If the redirect URI is that of the Windows Web Authentication Broker, the broker does not count as embedded
  /// (appendix B.3).
  static var userAgentExternal: Rule {
    Rule(name: "the user agent does not look embedded", source: "RFC 8252, section 8.12") { context in
      guard let client = context.client, client.embeddedUserAgents != .off else { return .pass }
      let usesBroker = context.redirect.verified?.kind == .windowsBroker
      guard UserAgent.looksEmbedded(context.request.userAgent ?? "", usesBroker: usesBroker) else { return .pass }
      return client.embeddedUserAgents == .block ? .refuse(.userAgentEmbedded) : .note(.embeddedUserAgent)
    }
  }
}

extension Rule where Context == ReentryContext {
  /// RFC 8252, section 8.12. If the policy blocks embedded user agents, they are blocked at every step of the sign-in.
  static var reentryUserAgentExternal: Rule {
    Rule(name: "the user agent of a re-entry does not look embedded", source: "RFC 8252, section 8.12") { context in
      guard let client = context.client, client.mode == .enforce, client.embeddedUserAgents == .block else {
        return .pass
      }
      let usesBroker = context.transaction.redirectURI.kind == .windowsBroker
      let isEmbedded = UserAgent.looksEmbedded(context.request.userAgent ?? "", usesBroker: usesBroker)
      return isEmbedded ? .refuse(.userAgentEmbedded) : .pass
    }
  }
}

extension Rule where Context == InteractionContext {
  /// RFC 8252, section 8.12. If the policy blocks embedded user agents, they are blocked at every step of the sign-in.
  static var interactionUserAgentExternal: Rule {
    Rule(
      name: "the user agent of an upstream page does not look embedded",
      source: "RFC 8252, section 8.12"
    ) { context in
      guard context.userAgentGuard.blocks else { return .pass }
      let isEmbedded = UserAgent.looksEmbedded(context.userAgent, usesBroker: context.userAgentGuard.usesBroker)
      return isEmbedded ? .refuse(.userAgentEmbedded) : .pass
    }
  }
}
