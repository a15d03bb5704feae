public import OAuth
public import Policy

extension Enforcement {
  /// Decides a revocation request (RFC 7009, section 2.1).
  ///
  /// A sealed token is revoked only for the client to which it was issued, with the upstream credentials of that client
  /// (`I-credentials`). A request with a token that the gateway did not seal passes if it is observed. If it is
  /// enforced, it passes if it and its credentials are well-formed, any client that it names is in the policy, and it
  /// contains no wrong secret. If wrong secrets passed, a program could use the upstream to guess a secret that the
  /// gateway holds.
  ///
  /// - Parameters:
  ///   - request: The request. Clients authenticate as at the token endpoint.
  ///   - opened: The result of decrypting its `token`.
  ///   - policy: The current policy.
  public static func decideRevocation(
    _ request: TokenRequest, opened: Opened<RefreshGrant>, policy: Policy
  ) -> DecisionWithFindings<UpstreamTokenRequest> {
    let grant: RefreshGrant
    switch opened {
    case .invalid: return decideUnsealed(request, policy: policy)
    // The upstream does not know the sealed token, and would answer as if it had revoked it (RFC 7009, section 2.2).
    case .keyUnknown:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.sealingKeyUnknown)), findings: [])
    case .value(let value): grant = value
    }
    if let rejection = rejection(of: request) {
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection)), findings: [])
    }
    let context = TokenContext(request: request, policy: policy)
    guard let client = context.client, let authentication = context.authentication else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnidentified)), findings: [])
    }
    switch context.proof {
    case .identified, .verified, .presented: break
    case .missing:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnauthenticated)), findings: [])
    case .wrong:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientAuthenticationFailed)), findings: [])
    }
    guard client.id == grant.clientID else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.refreshTokenForeign)), findings: [])
    }
    let credentials = UpstreamCredentials(client: client, authentication: authentication, isProven: true)
    let form = UpstreamTokenRequest(
      revoking: grant.upstreamRefreshToken, hint: .refreshToken, credentials, parameters: request.parameters)
    return DecisionWithFindings(decision: .forward(form), findings: [])
  }

  private static func decideUnsealed(
    _ request: TokenRequest, policy: Policy
  ) -> DecisionWithFindings<UpstreamTokenRequest> {
    let context = TokenContext(request: request, policy: policy, mode: mode(of: request, policy: policy))
    let rejections = [rejection(of: request), rejection(of: context)].compactMap { $0 }
    guard context.mode == .enforce else {
      return DecisionWithFindings(decision: .pass(PassThroughPermit()), findings: rejections.map(Finding.wouldReject))
    }
    guard let rejection = rejections.first else {
      return DecisionWithFindings(decision: .pass(PassThroughPermit()), findings: [])
    }
    return DecisionWithFindings(decision: .reject(RejectionResponse(rejection)), findings: [])
  }

  private static func rejection(of context: TokenContext) -> Rejection? {
    switch context.authenticationError {
    case .severalMethods, .severalIdentifiers: return .multipleAuthenticationMethods
    case .malformedHeader: return .clientAuthenticationMalformed
    case nil: break
    }
    guard context.client != nil else { return context.authentication == nil ? nil : .clientNotKnownAtToken }
    if case .wrong = context.proof { return .clientAuthenticationFailed }
    return nil
  }

  private static func rejection(of request: TokenRequest) -> Rejection? {
    switch request.problem {
    case .method: .methodNotAllowed
    case .bodyType: .bodyType
    case .tooManyParameters: .parametersTooMany
    case .query: .tokenParametersInQuery
    case .split: .parametersSplit
    case nil: request.parameters.firstRepeated == nil ? nil : .parameterRepeated
    }
  }
}

/// The type of a token, as the client states it (RFC 7009, section 2.1).
public enum TokenTypeHint: String, Sendable {
  case accessToken = "access_token"
  case refreshToken = "refresh_token"
}

extension UpstreamTokenRequest {
  init(revoking token: Secret, hint: TokenTypeHint, _ credentials: UpstreamCredentials, parameters: FormParameters) {
    self.init(
      credentials, parameters: parameters,
      entries: [
        FormParameters.Entry(.token, token.reveal()), FormParameters.Entry(.tokenTypeHint, hint.rawValue),
      ], hiding: [token])
  }
}
