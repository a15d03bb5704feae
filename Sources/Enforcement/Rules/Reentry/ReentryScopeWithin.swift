import OAuth

extension Rule where Context == ReentryContext {
  /// `I-reentry`: a consent form may leave out what the user did not tick, and add nothing.
  static var reentryScopeWithin: Rule {
    Rule(name: "scope only narrows") { context in
      for text in context.request.all(.scope) {
        guard let asked = Scope(parsing: text) else { return .refuse(.reentryScope) }
        guard let granted = context.transaction.scope, asked.isWithin(granted) else { return .refuse(.reentryScope) }
      }
      return .pass
    }
  }
}
