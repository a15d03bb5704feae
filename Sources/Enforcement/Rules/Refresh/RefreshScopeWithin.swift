import OAuth

extension Rule where Context == RefreshContext {
  /// RFC 6749, section 6. Where neither request nor answer named a scope, the upstream knows it. A scope that never goes
  /// upstream was never granted there, and asking for it again takes nothing.
  static var refreshScopeWithin: Rule {
    Rule(name: "scope does not grow") { context in
      guard let asked = context.upstreamScope, let granted = context.grant.scope else { return .pass }
      return asked.isWithin(granted) ? .pass : .refuse(.refreshScopeWider)
    }
  }
}
