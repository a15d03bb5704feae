/// What is to be done with a request.
public enum Decision<Permit: Sendable>: Sendable {
  /// It goes on, in the form that the permit gives it.
  case forward(Permit)
  /// It goes upstream as the client sent it, and its answer comes back as the upstream sent it (`I-observe`).
  case pass(PassThroughPermit)
  case reject(RejectionResponse)
}

/// Leave to forward a request unchanged. Only this module gives it.
public struct PassThroughPermit: Sendable {}

/// A decision with what else there is to say.
public struct DecisionWithFindings<Permit: Sendable>: Sendable {
  public let decision: Decision<Permit>
  public let findings: [Finding]

  public var permit: Permit? {
    guard case .forward(let permit) = decision else { return nil }
    return permit
  }

  public var refusal: RejectionResponse? {
    guard case .reject(let refusal) = decision else { return nil }
    return refusal
  }

  public var isPassed: Bool {
    guard case .pass = decision else { return false }
    return true
  }

  /// True if an observed request would have been refused.
  public var wouldReject: Bool {
    findings.contains { finding in
      guard case .wouldReject = finding else { return false }
      return true
    }
  }
}

/// What is logged and counted without refusing anything.
public enum Finding: Sendable, Hashable {
  /// A refusal that `mode: enforce` would have carried out.
  case wouldReject(Rejection)
  case note(Note)

  public enum Note: String, Sendable, CaseIterable {
    case stateMissing = "state-missing"
    case embeddedUserAgent = "user-agent-embedded"
    case plainChallenge = "pkce-plain"
    case localhostRedirect = "redirect-uri-localhost"
    case publicClientSecret = "public-client-secret-ignored"
    /// A client certificate that a trusted proxy verified does not go upstream with the gateway's token request.
    case clientCertificateDropped = "client-certificate-dropped"
    /// A scope of the request is in `scopes.drop`.
    case scopeDropped = "scope-dropped"
    /// The parameter is not in `upstream.parameters`.
    case resourceDropped = "resource-dropped"
    /// The parameter is not in `upstream.parameters`.
    case authorizationDetailsDropped = "authorization-details-dropped"
  }
}
