import OAuth

extension Rule where Context == TokenContext {
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

  /// RFC 8707, section 2.2.
  static var tokenResourceNoted: Rule {
    Rule(name: "a resource that does not go upstream is noted") { context in
      context.policy.drops(.resource, of: context.parameters) ? .note(.resourceDropped) : .pass
    }
  }

  /// RFC 9396, section 6.
  static var tokenDetailsNoted: Rule {
    Rule(name: "authorization details that do not go upstream are noted") { context in
      context.policy.drops(.authorizationDetails, of: context.parameters) ? .note(.authorizationDetailsDropped) : .pass
    }
  }
}
