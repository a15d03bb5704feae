public import OAuth
public import Policy

extension Enforcement {
  /// Decides a revocation request (RFC 7009, section 2.1).
  ///
  /// A sealed token is revoked for its own client only, with the credentials that belong to it (`I-credentials`). A
  /// token that the gateway did not seal passes unchanged, if its client is known and did not present a wrong secret:
  /// otherwise the upstream would compare guesses at a secret that the gateway holds.
  ///
  /// - Parameters:
  ///   - request: The request; revocation authenticates clients as the token endpoint does.
  ///   - opened: The result of opening its `token`.
  ///   - policy: The current policy.
  public static func decideRevocation(
    _ request: TokenRequest, opened: Opened<RefreshGrant>, policy: Policy
  ) -> DecisionWithFindings<UpstreamTokenRequest> {
    let grant: RefreshGrant
    switch opened {
    case .invalid: return raw(request, policy: policy)
    // If it were forwarded, the upstream would not know the token, which would stay valid although the client was
    // informed that it is revoked.
    case .keyUnknown: return DecisionWithFindings(decision: .reject(RejectionResponse(.codeKeyUnknown)), findings: [])
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

  private static func raw(_ request: TokenRequest, policy: Policy) -> DecisionWithFindings<UpstreamTokenRequest> {
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

/// A hint about the type of a token (RFC 7009, section 2.1).
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
