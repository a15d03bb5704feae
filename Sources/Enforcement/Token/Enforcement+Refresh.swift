public import OAuth
public import Policy

/// What the rules look at once the refresh token is open.
struct RefreshContext: Sendable {
  let intent: RefreshIntent
  let grant: RefreshGrant
  /// The scope that goes upstream.
  let upstreamScope: Scope?
  /// Seconds since 1970.
  let now: Int64
}

/// Leave to use a refresh token upstream. Only this module gives it.
public struct RefreshPermit: Sendable {
  public let client: Client
  /// What the sealed token carried; `nil` for a raw one, which is the upstream's business.
  public let grant: RefreshGrant?
  /// The scope that was asked for, if any.
  public let scope: Scope?
  public let upstream: UpstreamTokenRequest
  /// True if the refresh token in the answer is sealed to the client.
  public let sealsRefreshToken: Bool
  /// True if the token is one of a client's whose tokens are sealed, from before they were (`raw_refresh_until`).
  public var isFromBeforeTheGateway: Bool { grant == nil && sealsRefreshToken }
  /// True if each refresh token is good for one use (RFC 9700, section 2.2.2): those of public clients. The caller claims
  /// the use in the family before it contacts the upstream.
  public let rotates: Bool
  /// The `resource` values that the client sent, whether they go upstream or not (RFC 8707, section 2.2).
  public var resources: [String] { parameters.all(.resource) }
  let credentials: UpstreamCredentials
  let parameters: FormParameters

  /// The request that ends a token of the grant upstream (RFC 7009, section 2.1).
  public func revocation(of token: Secret, hint: TokenTypeHint) -> UpstreamTokenRequest {
    UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: parameters)
  }
}

extension Enforcement {
  /// Decides the use of a refresh token that was opened (RFC 6749, section 6).
  ///
  /// - Parameters:
  ///   - intent: From ``decideToken(_:policy:)``.
  ///   - opened: What opening `intent.token` gave.
  ///   - policy: The policy of now.
  ///   - now: Seconds since 1970.
  public static func decideRefresh(
    _ intent: RefreshIntent, opened: Opened<RefreshGrant>, policy: Policy, now: Int64
  ) -> DecisionWithFindings<RefreshPermit> {
    // The migration setting of a client whose tokens are older than the gateway.
    let acceptsRaw = intent.client.rawRefreshUntil.map { now < $0 } ?? false
    switch opened {
    // A client whose tokens the gateway never seals has none of an unknown key: it only looks like one.
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

  /// A token that the gateway did not seal: the upstream's own, of a confidential client that proves itself there, or
  /// from before the gateway. The gateway lends it no credentials (`I-credentials`).
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
  /// True if the client is observed and can use a refresh token of the upstream with what this request presents: the
  /// upstream knows it by its own id, and the request carries the credentials that the upstream wants.
  func refreshesItself(with authentication: ClientAuthentication) -> Bool {
    guard self.mode == .observe, self.upstream.clientID == self.id else { return false }
    return self.upstream.clientSecret == nil || authentication.method != .none
  }

  /// True if its refresh tokens are the upstream's own, since it proves itself there with its own credentials.
  var keepsUpstreamRefreshTokens: Bool {
    self.kind == .confidential && self.upstream.clientID == self.id && self.upstream.clientSecret == nil
  }
}
