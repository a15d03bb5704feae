/// The decision on a request, with the permission that the caller gets if the request passes.
public enum Decision<Permit: Sendable>: Sendable {
  /// The request is forwarded, rewritten as the permit describes.
  case forward(Permit)
  /// The request is forwarded as the client sent it. For an observed request, the response is returned unchanged, too
  /// (`I-observe`).
  case pass(PassThroughPermit)
  /// The request is refused.
  case reject(RejectionResponse)
}

/// Permission to forward a request unchanged. Only `Enforcement` can create it.
public struct PassThroughPermit: Sendable {}

/// A decision, and the facts that were found while the rules ran.
public struct DecisionWithFindings<Permit: Sendable>: Sendable {
  /// The decision on the request.
  public let decision: Decision<Permit>
  /// The findings. They are logged and counted, but do not cause a refusal.
  public let findings: [Finding]

  /// The permit of a forwarded request; `nil` for other decisions.
  public var permit: Permit? {
    guard case .forward(let permit) = decision else { return nil }
    return permit
  }

  /// The refusal of a rejected request; `nil` for other decisions.
  public var refusal: RejectionResponse? {
    guard case .reject(let refusal) = decision else { return nil }
    return refusal
  }

  /// True if the decision is to forward the request unchanged.
  public var isPassed: Bool {
    guard case .pass = decision else { return false }
    return true
  }

  /// True if the request is observed and `mode: enforce` would have refused it.
  public var wouldReject: Bool {
    findings.contains { finding in
      guard case .wouldReject = finding else { return false }
      return true
    }
  }
}

/// A fact about a request that is logged and counted, but does not cause a refusal.
public enum Finding: Sendable, Hashable {
  /// A refusal that `mode: enforce` would have carried out for this observed request.
  case wouldReject(Rejection)
  case note(Note)

  /// An aspect of a request that operators should know. The raw value appears in logs and metrics.
  public enum Note: String, Sendable, CaseIterable {
    case stateMissing = "state-missing"
    case embeddedUserAgent = "user-agent-embedded"
    case plainChallenge = "pkce-plain"
    case localhostRedirect = "redirect-uri-localhost"
    case publicClientSecret = "public-client-secret-ignored"
    /// A trusted proxy reported that the client presented a certificate. The gateway's token request to the upstream is
    /// sent without it.
    case clientCertificateDropped = "client-certificate-dropped"
    /// A scope token of the request is in `scopes.drop`, so it is not sent upstream.
    case scopeDropped = "scope-dropped"
    /// The request has `resource` (RFC 8707), which is not forwarded, because `upstream.parameters` does not list it.
    case resourceDropped = "resource-dropped"
    /// The request has `authorization_details` (RFC 9396), which is not forwarded, because `upstream.parameters` does
    /// not list it.
    case authorizationDetailsDropped = "authorization-details-dropped"
  }
}
