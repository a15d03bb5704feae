import OAuth

extension Rule where Context == RefreshContext {
  /// RFC 6749, section 6. Where nobody said what was granted, the upstream knows.
  static var refreshScopeWithin: Rule {
    Rule(name: "scope does not grow") { context in
      guard let asked = context.intent.scope, let granted = context.grant.scope else { return .pass }
      return asked.isWithin(granted) ? .pass : .refuse(.refreshScopeWider)
    }
  }
}
