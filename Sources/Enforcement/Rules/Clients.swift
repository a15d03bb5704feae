import OAuth
import Policy

// Rules on the identity and the authentication of a client.

extension Client {
  /// Returns true if all characters are printable ASCII (RFC 6749, appendix A.1). Swift compares strings by Unicode
  /// equivalence, but two texts of printable ASCII are equal only if their bytes are equal.
  static func isIdentifier(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }

  /// Returns the client whose id is `text`: one of the policy, or `unlisted`. Returns `nil` if none has this id, or if
  /// `text` is not printable ASCII.
  static func find(_ text: String, in policy: Policy, unlisted: Client?) -> Client? {
    isIdentifier(text) ? policy.client(ClientID(text), unlisted: unlisted) : nil
  }
}

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1: if it is not clear which client sent the request, no redirect URI can be
  /// trusted. Client ids are printable ASCII (appendix A.1), so that two different ids are never equal under Unicode
  /// equivalence.
  static var clientIDOnce: Rule {
    Rule(name: "client_id occurs once", source: "RFC 6749, sections 3.1 and 4.1.2.1") { context in
      switch context.parameters.lookUp(.clientID) {
      case .repeated: .refuse(.clientIDRepeated)
      case .malformed: .refuse(.clientIDMalformed)
      case .value(let text) where !Client.isIdentifier(text): .refuse(.clientIDMalformed)
      case .value, .absent: .pass
      }
    }
  }

  /// RFC 6749, section 4.1.2.1: an error of an unknown client is not redirected. An unknown id may be an upstream id
  /// for which the gateway holds a secret. A program that sends this id tries to act as the gateway itself, so the log
  /// shows its request under a separate rejection.
  static var clientKnown: Rule {
    Rule(name: "the client is registered", source: "RFC 6749, section 4.1.2.1") { context in
      guard context.client == nil else { return .pass }
      guard let id = context.parameters[.clientID] else { return .refuse(.clientIDMissing) }
      return .refuse(
        context.policy.upstreamIDsWithHeldSecret.contains(ClientID(id)) ? .clientIDOfUpstream : .clientUnknown)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 3.2.1 and 5.2. As at the authorization endpoint (`clientKnown`), an upstream id for which the
  /// gateway holds a secret has a separate rejection.
  static var tokenClientKnown: Rule {
    Rule(name: "the client is registered", source: "RFC 6749, sections 3.2.1 and 5.2") { context in
      guard context.client == nil, context.authenticationError == nil else { return .pass }
      guard let id = context.authentication?.clientID else { return .refuse(.clientUnidentified) }
      let isUpstreamID = context.policy.upstreamIDsWithHeldSecret.contains(id)
      return .refuse(isUpstreamID ? .clientIDOfUpstreamAtToken : .clientNotKnownAtToken)
    }
  }

  /// RFC 6749, section 2.3.
  static var oneAuthenticationMethod: Rule {
    Rule(name: "the client uses one authentication method", source: "RFC 6749, section 2.3") { context in
      switch context.authenticationError {
      case .severalMethods, .severalIdentifiers: .refuse(.multipleAuthenticationMethods)
      case .malformedHeader: .refuse(.clientAuthenticationMalformed)
      case nil: .pass
      }
    }
  }

  /// RFC 6749, sections 2.3 and 2.3.1. A public client needs no secret: every copy of the app would contain the secret,
  /// so it would prove nothing (RFC 8252, section 8.5). If a public client sends a secret, it is not compared.
  /// Credentials that only the upstream can verify pass this rule.
  static var clientAuthenticated: Rule {
    Rule(name: "a confidential client is authenticated", source: "RFC 6749, sections 2.3 and 2.3.1") { context in
      guard let client = context.client else { return .pass }
      if client.kind == .public {
        let isUsed = client.acceptOldVersionUntil != nil
        return context.authentication?.secret == nil || isUsed ? .pass : .note(.publicClientSecret)
      }
      return switch context.authenticationResult {
      case .missing: .refuse(.clientUnauthenticated)
      case .wrong: .refuse(.clientAuthenticationFailed)
      case .verified, .leftToUpstream, .publicClient: .pass
      }
    }
  }

  /// RFC 9449, section 5. The client requests a token that is bound to its key. The gateway's token request has no DPoP
  /// proof, so the upstream would issue a bearer token, which is weaker, and the client would not notice.
  static var noDPoPProof: Rule {
    Rule(name: "the client does not request a token bound to its key", source: "RFC 9449, section 5") { context in
      context.request.hasDPoPProof ? .refuse(.dpopUnsupported) : .pass
    }
  }

  /// RFC 8705, section 3. A client that has sent a certificate may expect a token that is bound to it. The gateway
  /// cannot know this, so the operator gets a finding.
  static var clientCertificateNoted: Rule {
    Rule(name: "a client certificate is noted, because it is not forwarded", source: "RFC 8705, section 3") { context in
      context.request.hasClientCertificate ? .note(.clientCertificateDropped) : .pass
    }
  }
}

// Rules on the grant type and the grants that a client may use.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 4.1.2.1. A device client does not use this endpoint (RFC 8628, section 3.1).
  static var authorizationCodeGrantAllowed: Rule {
    Rule(name: "the client may use the authorization code grant", source: "RFC 6749, section 4.1.2.1") { context in
      guard let client = context.client else { return .pass }
      let isAllowed = client.grants.contains(.authorizationCode) && client.application != .device
      return isAllowed ? .pass : .refuse(.grantNotAllowed)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 4.1.3 and 5.2. In enforce mode, the gateway never forwards a grant type that it does not know.
  static var grantTypeKnown: Rule {
    Rule(name: "the grant type is known", source: "RFC 6749, sections 4.1.3 and 5.2") { context in
      guard let text = context.parameters[.grantType] else { return .refuse(.grantTypeMissing) }
      return GrantType(rawValue: text) == nil ? .refuse(.grantTypeUnsupported) : .pass
    }
  }

  /// RFC 6749, section 5.2. For the client credentials grant, the gateway forwards only the client's own upstream
  /// credentials, as the client presented them (invariant `I-credentials`). It does not add credentials that it holds,
  /// and never forwards the secret with which a client authenticates to the gateway. The rule `noPasswordGrant` decides
  /// the password grant.
  static var grantAllowed: Rule {
    Rule(name: "the client may use the grant", source: "RFC 6749, section 5.2") { context in
      guard let client = context.client, let grant = context.grant, grant != .password else { return .pass }
      guard client.grants.contains(grant) else { return .refuse(.grantNotAllowed) }
      let lacksCredentials = grant == .clientCredentials && !client.presentsUpstreamCredentials
      return lacksCredentials ? .refuse(.grantNotAllowed) : .pass
    }
  }

  /// RFC 6749, sections 4.1.3 and 6; RFC 8628, section 3.4.
  static var requiredGrantParameterPresent: Rule {
    Rule(
      name: "the parameter that the grant requires is present",
      source: "RFC 6749, sections 4.1.3 and 6"
    ) { context in
      switch context.grant {
      case .authorizationCode: context.parameters[.code] == nil ? .refuse(.codeMissing) : .pass
      case .refreshToken: context.parameters[.refreshToken] == nil ? .refuse(.refreshTokenMissing) : .pass
      case .deviceCode: context.parameters[.deviceCode] == nil ? .refuse(.deviceCodeMissing) : .pass
      case .clientCredentials, .password, nil: .pass
      }
    }
  }

  /// RFC 9700, section 2.4. In enforce mode, the password grant is refused for every client.
  static var noPasswordGrant: Rule {
    Rule(name: "the grant is not the password grant", source: "RFC 9700, section 2.4") { context in
      context.parameters[.grantType] == GrantType.password.rawValue ? .refuse(.passwordGrant) : .pass
    }
  }

  /// RFC 6749, section 4.4.
  static var noClientCredentialsForPublic: Rule {
    Rule(name: "a public client does not use client credentials", source: "RFC 6749, section 4.4") { context in
      guard context.grant == .clientCredentials, context.client?.kind == .public else { return .pass }
      return .refuse(.clientCredentialsPublic)
    }
  }
}
