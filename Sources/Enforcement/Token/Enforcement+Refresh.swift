public import OAuth
public import Policy

/// The facts for the rules on an opened refresh token.
struct RefreshContext: Sendable {
  let intent: RefreshIntent
  let grant: RefreshGrant
  /// The scope for the upstream; `nil` to send none.
  let upstreamScope: Scope?
  /// The current time in seconds since 1970.
  let now: Int64
}

/// Permission to use a refresh token upstream. Only `Enforcement` can create it.
public struct RefreshPermit: Sendable {
  /// The client that refreshes.
  public let client: Client
  /// The content of the sealed token; `nil` for a token that the gateway did not seal, which only the upstream checks.
  public let grant: RefreshGrant?
  /// The requested scope; `nil` if the request omitted it.
  public let scope: Scope?
  /// The token request to the upstream.
  public let upstream: UpstreamTokenRequest
  /// True if the refresh token in the response is sealed to the client.
  public let sealsRefreshToken: Bool
  /// True if the client's tokens are sealed, but this one was issued before the gateway sealed them
  /// (`raw_refresh_until`).
  public var isFromBeforeTheGateway: Bool { grant == nil && sealsRefreshToken }
  /// True if each refresh token is valid for one use (RFC 9700, section 2.2.2): those of public clients. The caller
  /// claims the use in the family before it contacts the upstream.
  public let rotates: Bool
  /// The `resource` values that the client sent, whether or not they are sent upstream (RFC 8707, section 2.2).
  public var resources: [String] { parameters.all(.resource) }
  let credentials: UpstreamCredentials
  let parameters: FormParameters

  /// The request that revokes a token of the grant at the upstream (RFC 7009, section 2.1).
  public func revocation(of token: Secret, hint: TokenTypeHint) -> UpstreamTokenRequest {
    UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: parameters)
  }
}

extension Enforcement {
  /// Decides the use of an opened refresh token (RFC 6749, section 6).
  ///
  /// - Parameters:
  ///   - intent: The result of ``decideToken(_:policy:holdsSealedValue:)``.
  ///   - opened: The result of opening `intent.token`.
  ///   - policy: The current policy.
  ///   - now: The current time in seconds since 1970.
  public static func decideRefresh(
    _ intent: RefreshIntent, opened: Opened<RefreshGrant>, policy: Policy, now: Int64
  ) -> DecisionWithFindings<RefreshPermit> {
    // The migration setting of a client with refresh tokens from before the gateway.
    let acceptsRaw = intent.client.rawRefreshUntil.map { now < $0 } ?? false
    switch opened {
    // The gateway never seals the refresh tokens of this client, so this one only resembles a sealed token.
    case .keyUnknown where intent.client.keepsUpstreamRefreshTokens:
      return raw(intent, policy: policy, acceptsRaw: acceptsRaw)
    case .keyUnknown: return DecisionWithFindings(decision: .reject(RejectionResponse(.codeKeyUnknown)), findings: [])
    case .invalid: return raw(intent, policy: policy, acceptsRaw: acceptsRaw)
    case .value(let grant):
      let context = RefreshContext(
        intent: intent, grant: grant, upstreamScope: intent.upstreamScope(policy), now: now)
      var run = RuleRun(mode: .enforce)
      let decision: Decision<RefreshPermit> =
        switch run.run(RuleTable.refresh, on: context) {
        case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
        case .allowed:
          .forward(
            permit(intent, token: grant.upstreamRefreshToken, grant: grant, mayLendCredentials: true, policy: policy))
        }
      return DecisionWithFindings(decision: decision, findings: run.findings)
    }
  }

  /// Decides on a token that the gateway did not seal: an upstream token of a confidential client that authenticates at
  /// the upstream, or a token from before the gateway. The gateway lends it no credentials (`I-credentials`).
  private static func raw(
    _ intent: RefreshIntent, policy: Policy, acceptsRaw: Bool
  ) -> DecisionWithFindings<RefreshPermit> {
    let client = intent.client
    let usesOwnUpstreamIdentity = client.upstream.clientID == client.id
    guard usesOwnUpstreamIdentity, acceptsRaw || client.keepsUpstreamRefreshTokens else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.refreshTokenUnbound)), findings: [])
    }
    let permit = permit(intent, token: intent.token, grant: nil, mayLendCredentials: false, policy: policy)
    return DecisionWithFindings(decision: .forward(permit), findings: [])
  }

  private static func permit(
    _ intent: RefreshIntent, token: Secret, grant: RefreshGrant?, mayLendCredentials: Bool, policy: Policy
  ) -> RefreshPermit {
    let credentials = UpstreamCredentials(
      client: intent.client, authentication: intent.authentication, isProven: mayLendCredentials)
    var entries = [
      FormParameters.Entry(.grantType, GrantType.refreshToken.rawValue),
      FormParameters.Entry(.refreshToken, token.reveal()),
    ]
    if let scope = intent.upstreamScope(policy) { entries.append(FormParameters.Entry(.scope, scope.text)) }
    entries += policy.allowListed(intent.parameters)
    let isSealed = grant != nil || !intent.client.keepsUpstreamRefreshTokens
    let sealsRefreshToken = isSealed && !intent.client.refreshesItself(with: intent.authentication)
    return RefreshPermit(
      client: intent.client, grant: grant, scope: intent.scope,
      upstream: UpstreamTokenRequest(
        credentials, parameters: intent.parameters, entries: entries, hiding: grant == nil ? [] : [token],
        sealsRefreshToken: sealsRefreshToken),
      sealsRefreshToken: sealsRefreshToken,
      rotates: grant != nil && intent.client.kind == .public, credentials: credentials, parameters: intent.parameters)
  }
}

extension RefreshIntent {
  fileprivate func upstreamScope(_ policy: Policy) -> Scope? {
    UpstreamScope(scope, client: client, policy: policy, takesDefault: false).scope
  }
}

extension Client {
  /// True if the client is observed and can use an upstream refresh token with the credentials of this request: the
  /// client uses its own id at the upstream, and the request carries the credentials that the upstream requires.
  func refreshesItself(with authentication: ClientAuthentication) -> Bool {
    guard self.mode == .observe, self.upstream.clientID == self.id else { return false }
    return self.upstream.clientSecret == nil || authentication.method != .none
  }

  /// True if the client gets the refresh tokens of the upstream unsealed, because it authenticates there with its own
  /// credentials.
  var keepsUpstreamRefreshTokens: Bool {
    self.kind == .confidential && self.upstream.clientID == self.id && self.upstream.clientSecret == nil
  }
}
