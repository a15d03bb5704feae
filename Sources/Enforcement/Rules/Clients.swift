import OAuth
import Policy

// Rules on the identity of the client and its authentication.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1: without a certain client, no redirect URI can be trusted. Identifiers are
  /// printable ASCII (appendix A.1), so an identifier has no other spelling.
  static var clientIDOnce: Rule {
    Rule(name: "client_id occurs once") { context in
      switch context.parameters.reading(.clientID) {
      case .repeated: .refuse(.clientIDRepeated)
      case .malformed: .refuse(.clientIDMalformed)
      case .value(let text) where !Client.isIdentifier(text): .refuse(.clientIDMalformed)
      case .value, .absent: .pass
      }
    }
  }

  /// RFC 6749, section 4.1.2.1: users of an unknown client are not redirected. An identifier that the gateway itself
  /// uses at the upstream has its own refusal: if it counted as unknown, `unknown_clients: observe` would let any
  /// client act as the gateway.
  static var clientKnown: Rule {
    Rule(name: "the client is registered") { context in
      guard context.client == nil else { return .pass }
      guard let id = context.parameters[.clientID] else { return .refuse(.clientIDMissing) }
      return .refuse(context.policy.gatewayHeldClientIDs.contains(ClientID(id)) ? .clientIDOfUpstream : .clientUnknown)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 3.2.1 and 5.2. An identifier that the gateway itself uses at the upstream never counts as
  /// unknown.
  static var tokenClientKnown: Rule {
    Rule(name: "the client is registered") { context in
      guard context.client == nil, context.authenticationError == nil else { return .pass }
      guard let id = context.authentication?.clientID else { return .refuse(.clientUnidentified) }
      return .refuse(context.policy.gatewayHeldClientIDs.contains(id) ? .clientIsUpstream : .clientNotKnownAtToken)
    }
  }

  /// RFC 6749, section 2.3.
  static var oneAuthenticationMethod: Rule {
    Rule(name: "the client uses one authentication method") { context in
      switch context.authenticationError {
      case .severalMethods, .severalIdentifiers: .refuse(.multipleAuthenticationMethods)
      case .malformedHeader: .refuse(.clientAuthenticationMalformed)
      case nil: .pass
      }
    }
  }

  /// RFC 6749, sections 2.3 and 2.3.1. The secret of a public client is in every copy of the app and proves nothing
  /// (RFC 8252, section 8.5), so it is neither required nor compared.
  static var clientAuthenticated: Rule {
    Rule(name: "a confidential client is authenticated") { context in
      guard let client = context.client else { return .pass }
      if client.kind == .public {
        return context.authentication?.secret == nil ? .pass : .note(.publicClientSecret)
      }
      return switch context.proof {
      case .missing: .refuse(.clientUnauthenticated)
      case .wrong: .refuse(.clientAuthenticationFailed)
      case .verified, .presented, .identified: .pass
      }
    }
  }

  /// RFC 9449, section 5. The token request of the gateway has no DPoP proof, so the upstream would issue a bearer
  /// token. The client requested a token that a thief cannot use, and must not get a weaker one without notice.
  static var noSenderConstraint: Rule {
    Rule(name: "the client does not request a token bound to its key") { context in
      context.request.hasDPoPProof ? .refuse(.senderConstraint) : .pass
    }
  }

  /// RFC 8705, section 3. Only the client and the proxy that verified the certificate know whether a bound token was
  /// expected, so the operator gets a finding.
  static var clientCertificateNoted: Rule {
    Rule(name: "a client certificate is noted, because it is not forwarded") { context in
      context.request.hasClientCertificate ? .note(.clientCertificateDropped) : .pass
    }
  }
}
