import OAuth

extension Rule where Context == ReentryContext {
  /// `I-reentry`: a consent form may leave out what the user did not tick, and add nothing. Where no scope
  /// went upstream, the server chooses its default (RFC 6749, section 3.3), which the form may carry.
  static var reentryScopeWithin: Rule {
    Rule(name: "scope only narrows") { context in
      guard let sent = context.sentScope else { return .pass }
      let tokens = sent.tokens
      for text in context.request.all(.scope) {
        guard text.split(separator: " ").allSatisfy(tokens.contains) else { return .refuse(.reentryScope) }
      }
      return .pass
    }
  }
}
