import OAuth

extension Rule where Context == AuthorizationContext {
  /// RFC 7636, section 4.2. A challenge that was sent is held to its syntax even where none is required.
  static var challengeWellFormed: Rule {
    Rule(name: "the challenge can match a verifier") { context in
      guard case .malformed = context.challenge else { return .pass }
      return .refuse(.challengeMalformed)
    }
  }
}
