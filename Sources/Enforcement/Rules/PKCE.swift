import OAuth
import Policy

// Rules on the code challenge and the code verifier (RFC 7636).

/// The code challenge of a request, or the reason why the request has no usable one.
enum ParsedChallenge: Sendable {
  /// The request has no challenge, or its client is unknown. A method without a challenge is ignored.
  case absent
  case unsupportedMethod
  case malformed
  case value(CodeChallenge)

  init(_ parameters: FormParameters, client: Client?) {
    guard let client, let text = parameters[.codeChallenge] else {
      self = .absent
      return
    }
    // Without a method, the challenge is `plain`, never `S256` (RFC 7636, section 4.3). Method names are
    // case-sensitive.
    let name = parameters[.codeChallengeMethod] ?? CodeChallengeMethod.plain.rawValue
    guard let method = CodeChallengeMethod(rawValue: name), client.pkceMethods.contains(method) else {
      self = .unsupportedMethod
      return
    }
    let challenge = CodeChallenge(parsing: text, method: method, syntax: client.verifierSyntax)
    self = challenge.map(ParsedChallenge.value) ?? .malformed
  }

  var value: CodeChallenge? {
    guard case .value(let challenge) = self else { return nil }
    return challenge
  }
}

extension Client {
  /// The syntax in which the client may send challenges and verifiers.
  var verifierSyntax: VerifierSyntax { self.pkceSyntax == .lenient ? .lenient : .strict }
}

extension Rule where Context == AuthorizationContext {
  /// RFC 7636, section 4.4.1; RFC 8252, section 8.1. A policy cannot permit native apps to omit the challenge. Under
  /// the OAuth 2.1 profile, a policy can permit this only to a confidential client that checks the `nonce` of OpenID
  /// Connect, and only for requests with a `nonce` (OAuth 2.1, section 7.5.1.1). Until a date, a policy may accept the old
  /// version of an app, whose code then needs the secret of the app (`oldVersionAuthenticated`).
  static var challengePresent: Rule {
    Rule(name: "a code challenge is present", source: "RFC 7636, section 4.4.1") { context in
      guard let client = context.client, case .absent = context.challenge else { return .pass }
      switch client.profile {
      case .standard:
        if client.pkce != .required { return .pass }
      case .oauth21:
        let mayOmit = client.kind == .confidential && client.reliesOnNonce
        if mayOmit, client.pkce != .required, context.parameters[.nonce] != nil { return .pass }
      }
      if let now = context.now, client.acceptsOldVersion(at: now) { return .note(.oldVersion) }
      return .refuse(.challengeMissing)
    }
  }

  /// RFC 7636, sections 4.3 and 4.4.1.
  static var challengeMethodAllowed: Rule {
    Rule(name: "the challenge method is allowed", source: "RFC 7636, sections 4.3 and 4.4.1") { context in
      switch context.challenge {
      case .unsupportedMethod: .refuse(.challengeMethodUnsupported)
      case .value(let challenge): challenge.method == .plain ? .note(.plainChallenge) : .pass
      case .absent, .malformed: .pass
      }
    }
  }

  /// RFC 7636, section 4.2. A challenge must be well-formed even if the policy does not require one.
  static var challengeWellFormed: Rule {
    Rule(name: "the challenge can match a verifier", source: "RFC 7636, section 4.2") { context in
      guard case .malformed = context.challenge else { return .pass }
      return .refuse(.challengeMalformed)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 7636, section 4.1. The verifier is form-decoded once, and no character is removed from it.
  static var verifierWellFormed: Rule {
    Rule(name: "the code verifier is well-formed", source: "RFC 7636, section 4.1") { context in
      guard let client = context.client, context.grant == .authorizationCode,
        let text = context.parameters[.codeVerifier]
      else { return .pass }
      return CodeVerifier(parsing: text, syntax: client.verifierSyntax) == nil ? .refuse(.verifierMalformed) : .pass
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// A code without a challenge of a public client that needs PKCE belongs to the old version of an app
  /// (`accept_old_version_until`). Nothing binds such a code to the app but its secret, as before there was a gateway, so
  /// a request without credentials is refused. Credentials that the gateway holds are not used for it, because no verifier
  /// proves the client (invariant `I-credentials`): the upstream compares those of the request.
  static var oldVersionAuthenticated: Rule {
    Rule(name: "the old version of an app authenticates", source: "invariant I-credentials") { context in
      let client = context.request.client
      guard client.kind == .public, client.pkce == .required, context.code.challenge == nil else { return .pass }
      return context.request.authentication.method == .none ? .refuse(.clientUnauthenticated) : .note(.oldVersion)
    }
  }

  /// RFC 7636, section 4.6. The challenge method is that of the authorization request. A malformed verifier does not
  /// match any challenge. A verifier for a code without a challenge is refused, because an attacker may have removed
  /// the challenge from the authorization request (RFC 9700, section 4.8.2).
  static var verifierMatches: Rule {
    Rule(name: "the verifier matches the challenge", source: "RFC 7636, section 4.6") { context in
      switch (context.code.challenge, context.request.verifier) {
      case (.some(let challenge), .some(let verifier)):
        challenge.matches(verifier) ? .pass : .refuse(.verifierMismatch)
      case (.some, nil): context.request.verifierWasSent ? .refuse(.verifierMismatch) : .refuse(.verifierMissing)
      case (nil, _): context.request.verifierWasSent ? .refuse(.unexpectedVerifier) : .pass
      }
    }
  }
}
