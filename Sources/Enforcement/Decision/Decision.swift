/// The decision on a request.
public enum Decision<Permit: Sendable>: Sendable {
  /// The request is forwarded in the form that the permit gives it.
  case forward(Permit)
  /// The request is forwarded as the client sent it, and the upstream response is returned unchanged (`I-observe`).
  case pass(PassThroughPermit)
  /// The request is refused.
  case reject(RejectionResponse)
}

/// Permission to forward a request unchanged. Only `Enforcement` can create it.
public struct PassThroughPermit: Sendable {}

/// A decision together with its findings.
public struct DecisionWithFindings<Permit: Sendable>: Sendable {
  /// The decision on the request.
  public let decision: Decision<Permit>
  /// The findings, which are logged and counted but refuse nothing.
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

  /// True if the request passes unchanged.
  public var isPassed: Bool {
    guard case .pass = decision else { return false }
    return true
  }

  /// True if `mode: enforce` would have refused this observed request.
  public var wouldReject: Bool {
    findings.contains { finding in
      guard case .wouldReject = finding else { return false }
      return true
    }
  }
}

/// A fact that is logged and counted, but refuses nothing.
public enum Finding: Sendable, Hashable {
  /// A refusal that `mode: enforce` would have carried out.
  case wouldReject(Rejection)
  case note(Note)

  /// An aspect of a request that operators should know. The raw value appears in logs and metrics.
  public enum Note: String, Sendable, CaseIterable {
    case stateMissing = "state-missing"
    case embeddedUserAgent = "user-agent-embedded"
    case plainChallenge = "pkce-plain"
    case localhostRedirect = "redirect-uri-localhost"
    case publicClientSecret = "public-client-secret-ignored"
    /// A client certificate that a trusted proxy verified is not part of the gateway's token request to the upstream.
    case clientCertificateDropped = "client-certificate-dropped"
    /// A scope of the request is in `scopes.drop`.
    case scopeDropped = "scope-dropped"
    /// `resource` (RFC 8707) is not in `upstream.parameters`.
    case resourceDropped = "resource-dropped"
    /// `authorization_details` (RFC 9396) is not in `upstream.parameters`.
    case authorizationDetailsDropped = "authorization-details-dropped"
  }
}
