public import OAuth
public import Policy

extension Enforcement {
  /// Decides a revocation request (RFC 7009, section 2.1).
  ///
  /// A sealed token is revoked only for the client to which it was issued, with the upstream credentials of that client
  /// (invariant `I-credentials`). For a token that the gateway did not seal, an observed request always passes. An
  /// enforced request passes under three conditions: the request and its credentials are well-formed, the client is in
  /// the policy or not named, and the secret is not wrong. If wrong secrets passed, a program could use the upstream to
  /// guess a secret that the gateway holds.
  ///
  /// A client that the policy does not list has an id that the upstream does not know, so its requests never pass. It
  /// may end its own sign-in even if the policy no longer permits it: otherwise its tokens would be valid again as soon
  /// as the policy permits it again.
  ///
  /// - Parameters:
  ///   - request: The request. Clients authenticate as at the token endpoint.
  ///   - opened: The result of decrypting the request's parameter `token`.
  ///   - record: The gateway's record of `token` as an access token; `nil` if it has none. The token is revoked like a
  ///     sealed one (invariant `I-credentials`) if the request comes from a client that has received it.
  ///   - policy: The current policy.
  ///   - unlisted: The client of the request if the policy does not list it (`UnlistedClientRules`); `nil` if there is
  ///     none.
  ///   - ended: The client of the request if the sealed token was issued to it, and the policy does not permit it any
  ///     more; `nil` for every other client.
  public static func decideRevocation(
    _ request: TokenRequest, opened: Opened<RefreshGrant>, record: AccessTokenRecord? = nil, policy: Policy,
    unlisted: Client? = nil, ended: Client? = nil
  ) -> DecisionWithFindings<UpstreamTokenRequest> {
    let (owner, resource, token, hint): (ClientID, String?, Secret, TokenTypeHint)
    switch opened {
    case .invalid:
      guard let record, let presented = request.parameters[.token],
        let client = TokenContext(request: request, policy: policy, unlisted: unlisted).client,
        record.holders.contains(where: { $0.clientID == client.id })
      else { return decideUnsealed(request, policy: policy, unlisted: unlisted) }
      (owner, resource, token, hint) = (client.id, record.resource, Secret(presented), .accessToken)
    // If this request were forwarded, the upstream would not know the sealed token, and would answer as if it had
    // revoked the token (RFC 7009, section 2.2).
    case .keyUnknown:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.sealingKeyUnknown)), findings: [])
    case .value(let grant):
      (owner, resource, token, hint) = (grant.clientID, grant.resource, grant.upstreamRefreshToken, .refreshToken)
    }
    if let rejection = formRejection(of: request) {
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection)), findings: [])
    }
    let context = TokenContext(request: request, policy: policy, unlisted: unlisted ?? ended)
    guard let client = context.client, let authentication = context.authentication else {
      let rejection = authenticationRejection(of: context) ?? .clientUnidentified
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection)), findings: [])
    }
    switch context.authenticationResult {
    case .publicClient, .verified, .leftToUpstream: break
    case .missing:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientUnauthenticated)), findings: [])
    case .wrong:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.clientAuthenticationFailed)), findings: [])
    }
    guard client.id == owner else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.refreshTokenIssuedToOtherClient)), findings: [])
    }
    let acting = client.acting(for: resource.flatMap { policy.resources[$0] })
    let credentials = UpstreamCredentials(client: acting, authentication: authentication, isProven: true)
    let revocation = UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: request.parameters)
    return DecisionWithFindings(decision: .forward(revocation), findings: [])
  }

  /// Decides the revocation of a token that the gateway did not seal. The client's request passes unchanged, or is
  /// refused.
  private static func decideUnsealed(
    _ request: TokenRequest, policy: Policy, unlisted: Client?
  ) -> DecisionWithFindings<UpstreamTokenRequest> {
    let context = TokenContext(
      request: request, policy: policy, mode: unlisted == nil ? mode(of: request, policy: policy) : .enforce,
      unlisted: unlisted)
    let rejections = [formRejection(of: request), authenticationRejection(of: context)].compactMap { $0 }
    guard context.mode == .enforce else {
      return DecisionWithFindings(decision: .pass(PassThroughPermit()), findings: rejections.map(Finding.wouldReject))
    }
    if let rejection = rejections.first ?? rejection(of: unlisted, policy) {
      return DecisionWithFindings(decision: .reject(RejectionResponse(rejection)), findings: [])
    }
    return DecisionWithFindings(decision: .pass(PassThroughPermit()), findings: [])
  }

  /// Returns the rejection of a client that the policy does not list; `nil` for all others. If the policy lists
  /// resources, every access token has a record, so this one belongs to another client or to none.
  private static func rejection(of unlisted: Client?, _ policy: Policy) -> Rejection? {
    guard unlisted != nil else { return nil }
    return policy.resources.isEmpty ? .revocationUnsupported : .refreshTokenIssuedToOtherClient
  }

  /// Returns the rejection of a client that the policy does not contain, or of wrong or ambiguous credentials.
  private static func authenticationRejection(of context: TokenContext) -> Rejection? {
    switch context.authenticationError {
    case .severalMethods, .severalIdentifiers: return .multipleAuthenticationMethods
    case .malformedHeader: return .clientAuthenticationMalformed
    case nil: break
    }
    guard context.client != nil else { return context.authentication == nil ? nil : .clientNotKnownAtToken }
    if case .wrong = context.authenticationResult { return .clientAuthenticationFailed }
    return nil
  }

  /// Returns the rejection of a request whose method, body or parameters are not acceptable.
  private static func formRejection(of request: TokenRequest) -> Rejection? {
    switch request.defect {
    case .method: .methodNotAllowed
    case .bodyNotForm: .bodyNotForm
    case .tooManyParameters: .parametersTooMany
    case .parametersInQuery: .tokenParametersInQuery
    case .parametersInQueryAndBody: .parametersSplit
    case nil: request.parameters.firstRepeatedName == nil ? nil : .parameterRepeated
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
