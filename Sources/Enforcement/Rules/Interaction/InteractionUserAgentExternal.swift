import OAuth

extension Rule where Context == InteractionContext {
  /// RFC 8252, section 8.12: where embedded user agents are blocked, they are on every page of the interaction.
  static var interactionUserAgentExternal: Rule {
    Rule(name: "the user agent of a page in between does not look embedded") { context in
      guard context.guarding.blocks else { return .pass }
      let isEmbedded = UserAgent.looksEmbedded(context.userAgent, usesBroker: context.guarding.usesBroker)
      return isEmbedded ? .refuse(.userAgentEmbedded) : .pass
    }
  }
}
