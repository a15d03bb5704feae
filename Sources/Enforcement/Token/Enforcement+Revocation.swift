public import OAuth
public import Policy

extension Enforcement {
  /// Decides a revocation request (RFC 7009, section 2.1).
  ///
  /// A token that the gateway did not seal is the upstream's business and passes as it came. One that it sealed is
  /// revoked for its own client only, with the credentials that belong to it (`I-credentials`).
  ///
  /// - Parameters:
  ///   - request: The request; revocation authenticates clients as the token endpoint does.
  ///   - opened: What opening its `token` gave.
  ///   - policy: The policy of now.
  public static func decideRevocation(
    _ request: TokenRequest, opened: Opened<RefreshGrant>, policy: Policy
  ) -> Outcome<UpstreamTokenRequest> {
    let grant: RefreshGrant
    switch opened {
    case .invalid: return Outcome(decision: .pass(Passage()), findings: [])
    // Passed on, it would mean nothing to the upstream and stay alive, while the client is told that it is revoked.
    case .keyUnknown: return Outcome(decision: .reject(Refusal(.codeKeyUnknown)), findings: [])
    case .value(let value): grant = value
    }
    if let rejection = rejection(of: request) {
      return Outcome(decision: .reject(Refusal(rejection)), findings: [])
    }
    let context = TokenContext(request: request, policy: policy)
    guard let client = context.client, let authentication = context.authentication else {
      return Outcome(decision: .reject(Refusal(.clientUnidentified)), findings: [])
    }
    switch context.proof {
    case .identified, .verified, .presented: break
    case .missing: return Outcome(decision: .reject(Refusal(.clientUnauthenticated)), findings: [])
    case .wrong: return Outcome(decision: .reject(Refusal(.clientAuthenticationFailed)), findings: [])
    }
    guard client.id == grant.clientID else {
      return Outcome(decision: .reject(Refusal(.refreshTokenForeign)), findings: [])
    }
    let credentials = UpstreamCredentials(client: client, authentication: authentication, isProven: true)
    let form = UpstreamTokenRequest(
      revoking: grant.upstreamRefreshToken, hint: .refreshToken, credentials, parameters: request.parameters)
    return Outcome(decision: .forward(form), findings: [])
  }

  private static func rejection(of request: TokenRequest) -> Rejection? {
    switch request.problem {
    case .method: .methodNotAllowed
    case .bodyType: .bodyType
    case .tooManyParameters: .parametersTooMany
    case .query: .tokenParametersInQuery
    case nil: request.parameters.firstRepeated == nil ? nil : .parameterRepeated
    }
  }
}

/// RFC 7009, section 2.1.
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
      ])
  }
}
