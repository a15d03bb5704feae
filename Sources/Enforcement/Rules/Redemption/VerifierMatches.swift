import OAuth

extension Rule where Context == RedemptionContext {
  /// RFC 7636, section 4.6, with the method of the authorization request and no other; RFC 9700, section 4.8.2 for the surplus.
  static var verifierMatches: Rule {
    Rule(name: "the verifier is the one behind the challenge") { context in
      switch (context.code.challenge, context.intent.verifier) {
      case (.some(let challenge), .some(let verifier)):
        challenge.matches(verifier) ? .pass : .refuse(.verifierMismatch)
      case (.some, nil): context.intent.sentVerifier ? .refuse(.verifierMismatch) : .refuse(.verifierMissing)
      case (nil, _): context.intent.sentVerifier ? .refuse(.verifierSurplus) : .pass
      }
    }
  }
}
