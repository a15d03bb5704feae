import OAuth
import Policy

// Rules about who the client is, and how it proves it.

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1: without a certain client there is nobody to redirect to. Identifiers are printable
  /// ASCII (appendix A.1), so no other spelling of one exists.
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

  /// RFC 6749, section 4.1.2.1: an unknown client's users are not redirected. The gateway's own identifier at the upstream is
  /// never just unknown, or `unknown_clients: observe` would let any client act as the gateway.
  static var clientKnown: Rule {
    Rule(name: "the client is registered") { context in
      guard context.client == nil else { return .pass }
      guard let id = context.parameters[.clientID] else { return .refuse(.clientIDMissing) }
      return .refuse(context.policy.gatewayHeldClientIDs.contains(ClientID(id)) ? .clientIDOfUpstream : .clientUnknown)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 3.2.1 and 5.2. The gateway's own identifier at the upstream is never just unknown.
  static var tokenClientKnown: Rule {
    Rule(name: "the client is registered") { context in
      guard context.client == nil, context.authenticationError == nil else { return .pass }
      guard let id = context.authentication?.clientID else { return .refuse(.clientUnidentified) }
      return .refuse(context.policy.gatewayHeldClientIDs.contains(id) ? .clientIsUpstream : .clientNotKnownAtToken)
    }
  }

  /// RFC 6749, section 2.3.
  static var oneAuthenticationMethod: Rule {
    Rule(name: "the client authenticates in one way") { context in
      switch context.authenticationError {
      case .severalMethods, .severalIdentifiers: .refuse(.multipleAuthenticationMethods)
      case .malformedHeader: .refuse(.clientAuthenticationMalformed)
      case nil: .pass
      }
    }
  }

  /// RFC 6749, sections 2.3 and 2.3.1. A public client's secret is in every copy of the app and proves nothing (RFC 8252,
  /// section 8.5), so it is neither needed nor looked at.
  static var clientAuthenticated: Rule {
    Rule(name: "a confidential client proves itself") { context in
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

  /// RFC 9449, section 5. The gateway's own token request has no DPoP proof, so the token would be a bearer token. The
  /// client asked for one that a thief cannot use, and must not get less without notice.
  static var noSenderConstraint: Rule {
    Rule(name: "the client does not ask for a token that is bound to its key") { context in
      context.request.hasDPoPProof ? .refuse(.senderConstraint) : .pass
    }
  }

  /// RFC 8705, section 3. Only the client and the proxy that verified the certificate can tell whether a bound token was
  /// expected, so the operator gets a finding.
  static var clientCertificateNoted: Rule {
    Rule(name: "a client certificate is noted, because it does not go upstream") { context in
      context.request.hasClientCertificate ? .note(.clientCertificateDropped) : .pass
    }
  }
}
