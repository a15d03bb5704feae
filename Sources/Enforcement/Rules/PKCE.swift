import OAuth
import Policy

// Rules on the code challenge and the code verifier (RFC 7636).

extension Rule where Context == AuthorizationContext {
  /// RFC 7636, section 4.4.1; RFC 8252, section 8.1: required of every native app, whatever the kind of its redirect
  /// URI. OAuth 2.1, section 7.5.1.1, exempts a confidential client that relies on the nonce of OpenID Connect, if it
  /// sends one.
  static var challengePresent: Rule {
    Rule(name: "a code challenge is present") { context in
      guard let client = context.client, case .absent = context.challenge else { return .pass }
      switch client.profile {
      case .standard:
        if client.pkce != .required { return .pass }
      case .oauth21:
        let isExcused = client.kind == .confidential && client.reliesOnNonce
        if isExcused, client.pkce != .required, context.parameters[.nonce] != nil { return .pass }
      }
      return .refuse(.challengeMissing)
    }
  }

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

  /// RFC 7636, section 4.2. The syntax of a challenge is checked even if no challenge is required.
  static var challengeWellFormed: Rule {
    Rule(name: "the challenge can match a verifier") { context in
      guard case .malformed = context.challenge else { return .pass }
      return .refuse(.challengeMalformed)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 7636, section 4.1. The verifier is form-decoded once and never trimmed.
  static var verifierWellFormed: Rule {
    Rule(name: "the code verifier is well-formed") { context in
      guard let client = context.client, context.grant == .authorizationCode,
        let text = context.parameters[.codeVerifier]
      else { return .pass }
      return CodeVerifier(parsing: text, padding: client.verifierPadding) == nil ? .refuse(.verifierMalformed) : .pass
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// RFC 7636, section 4.6, with the method of the authorization request only. A verifier without a challenge is a
  /// downgrade (RFC 9700, section 4.8.2).
  static var verifierMatches: Rule {
    Rule(name: "the verifier matches the challenge") { context in
      switch (context.code.challenge, context.intent.verifier) {
      case (.some(let challenge), .some(let verifier)):
        challenge.matches(verifier) ? .pass : .refuse(.verifierMismatch)
      case (.some, nil): context.intent.sentVerifier ? .refuse(.verifierMismatch) : .refuse(.verifierMissing)
      case (nil, _): context.intent.sentVerifier ? .refuse(.unexpectedVerifier) : .pass
      }
    }
  }
}
