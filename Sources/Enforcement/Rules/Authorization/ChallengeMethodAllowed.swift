import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 7636, sections 4.3 and 4.4.1.
  static var challengeMethodAllowed: Rule {
    Rule(name: "the challenge method is allowed") { context in
      switch context.challenge {
      case .unsupportedMethod: .refuse(.challengeMethodUnsupported)
      case .value(let challenge): challenge.method == .plain ? .note(.plainChallenge) : .pass
      case .absent, .malformed: .pass
      }
    }
  }
}
