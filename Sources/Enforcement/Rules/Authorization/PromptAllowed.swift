import OAuth

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
}
