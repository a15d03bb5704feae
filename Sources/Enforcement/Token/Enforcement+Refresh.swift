public import OAuth
public import Policy
public import Time

/// A request to use a refresh token.
public struct RefreshRequest: Sendable {
  /// The client that sent the request. After the token has been decrypted, the client as it acts for the resource of the
  /// token.
  public internal(set) var client: Client
  /// The refresh token as presented.
  public let token: Secret
  /// The requested scope. After the token has been decrypted, a client whose limits have become narrower requests the
  /// rest of the granted scope.
  var scope: Scope?
  let authentication: ClientAuthentication
  /// True if the gateway has compared the presented client secret, and the secret was right.
  public let clientSecretIsVerified: Bool
  let parameters: FormParameters
}

/// The facts for the rules on a refresh, after the gateway has decrypted the refresh token.
struct RefreshContext: ResourceContext {
  let request: RefreshRequest
  let grant: RefreshGrant
  /// The scope that is sent upstream; `nil` if none is sent.
  let upstreamScope: Scope?
  /// True if a token of `upstreamScope` selects another resource than that of the grant.
  let scopeSelectsOtherResource: Bool
  let requestedResource: RequestedResource
  /// The resource of the token in the current policy; `nil` if it has none, or if the policy no longer lists it.
  let resource: Resource?
  let now: UnixTime

  var grantedResource: String? { grant.resource }
}

/// Permission to use a refresh token upstream. Only `Enforcement` can create it.
public struct RefreshPermit: Sendable {
  /// The client that refreshes.
  public let client: Client
  /// The content of the sealed token, decrypted. `nil` if the gateway did not seal the token: only the upstream can
  /// check such a token.
  public let grant: RefreshGrant?
  /// The requested scope; `nil` if the request omitted it.
  public let scope: Scope?
  /// The scope of the new access token if the upstream's response has none (RFC 6749, section 5.1): never more than that
  /// of the grant. A request may contain other scope tokens in `scopes.drop`, because these are not sent upstream.
  public let tokenScope: Scope?
  /// The scope that the response to the client names if the upstream's response names none; `nil` if it needs none: the
  /// client gets what it requested, or without a requested scope what it was granted (RFC 6749, sections 5.1 and 6).
  public let scopeForResponse: Scope?
  /// The token request to the upstream.
  public let upstream: UpstreamTokenRequest
  /// True if the gateway seals the refresh token of the response to the client.
  public let sealsRefreshToken: Bool
  /// True if the request has no credentials, and the gateway sends none for it.
  public var lacksCredentials: Bool {
    guard case .identifier = credentials else { return false }
    return authentication.method == .none
  }
  /// True if the presented refresh token is not sealed, but the next one of this client will be. The upstream issued
  /// the presented token before the gateway was installed (`raw_refresh_until`).
  public var isAdopted: Bool { grant == nil && sealsRefreshToken }
  /// True for a sealed refresh token of a public client. Such a token is valid for one use (RFC 9700, section 2.2.2),
  /// and the caller must record the use in the store before it contacts the upstream.
  public let rotates: Bool
  /// The `resource` values of the request, including those that are not sent upstream (RFC 8707, section 2.2).
  public var resources: [String] { parameters.all(.resource) }
  /// The resource of the grant; `nil` if it has none.
  public let resource: Resource?
  let credentials: UpstreamCredentials
  let authentication: ClientAuthentication
  let parameters: FormParameters

  /// Returns the request that revokes a token of the grant at the upstream (RFC 7009, section 2.1).
  public func revocation(of token: Secret, hint: TokenTypeHint) -> UpstreamTokenRequest {
    UpstreamTokenRequest(revoking: token, hint: hint, credentials, parameters: parameters)
  }
}

extension Enforcement {
  /// Decides the use of a refresh token (RFC 6749, section 6).
  ///
  /// - Parameters:
  ///   - request: The request, as ``decideToken(_:policy:holdsSealedValue:)`` returned it.
  ///   - opened: The result of decrypting `request.token`.
  ///   - policy: The current policy.
  ///   - now: The current time.
  public static func decideRefresh(
    _ request: RefreshRequest, opened: Opened<RefreshGrant>, policy: Policy, now: UnixTime
  ) -> DecisionWithFindings<RefreshPermit> {
    // Until `raw_refresh_until`, the client may present refresh tokens that the upstream issued before the gateway was
    // installed.
    let acceptsUnsealed = request.client.rawRefreshUntil.map { now < $0 } ?? false
    switch opened {
    // The gateway does not seal refresh tokens for this client, so this is an upstream token that resembles a sealed
    // one.
    case .keyUnknown where request.client.keepsUpstreamRefreshTokens:
      return decideUnsealed(request, policy: policy, acceptsUnsealed: acceptsUnsealed)
    case .keyUnknown:
      return DecisionWithFindings(decision: .reject(RejectionResponse(.sealingKeyUnknown)), findings: [])
    case .invalid: return decideUnsealed(request, policy: policy, acceptsUnsealed: acceptsUnsealed)
    case .value(let grant):
      let resource = grant.resource.flatMap { policy.resources[$0] }
      var request = request
      request.client = request.client.acting(for: resource)
      request.limitScope(of: grant)
      let upstreamScope = request.upstreamScope(policy).scope
      let context = RefreshContext(
        request: request, grant: grant, upstreamScope: upstreamScope,
        scopeSelectsOtherResource: upstreamScope?.tokens.contains {
          policy.resources.reserves(scope: String($0), inRequestFor: resource)
        } ?? false, requestedResource: RequestedResource(request.parameters, policy), resource: resource, now: now)
      var run = RuleRun(mode: .enforce)
      let decision: Decision<RefreshPermit> =
        switch run.run(RuleTable.refresh, on: context) {
        case .refused(let rejection, let detail): .reject(RejectionResponse(rejection, detail: detail))
        case .allowed:
          .forward(
            permit(
              request, token: grant.upstreamRefreshToken, grant: grant, resource: resource, mayUseHeldCredentials: true,
              policy: policy))
        }
      return DecisionWithFindings(decision: decision, findings: run.findings)
    }
  }

  /// Decides the use of a token that the gateway did not seal: an upstream token of a confidential client that
  /// authenticates to the upstream, or a token that was issued before the gateway was installed.
  ///
  /// The request to the upstream contains credentials that the gateway holds in one case only: a public client without
  /// credentials presents a token from before the gateway. Its new version has no secret any more, and the upstream binds
  /// the token to the id, as it did before (invariant `I-credentials`).
  private static func decideUnsealed(
    _ request: RefreshRequest, policy: Policy, acceptsUnsealed: Bool
  ) -> DecisionWithFindings<RefreshPermit> {
    let client = request.client
    let usesOwnUpstreamIdentity = client.upstream.clientID == client.id
    guard usesOwnUpstreamIdentity, acceptsUnsealed || client.keepsUpstreamRefreshTokens else {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.refreshTokenNotSealed)), findings: [])
    }
    // The gateway does not know for which resource the upstream issued the token.
    if RequestedResource(request.parameters, policy).resource != nil {
      return DecisionWithFindings(decision: .reject(RejectionResponse(.resourceNotGranted)), findings: [])
    }
    let permit = permit(
      request, token: request.token, grant: nil, resource: nil,
      mayUseHeldCredentials: acceptsUnsealed && client.kind == .public && request.authentication.method == .none,
      policy: policy)
    return DecisionWithFindings(decision: .forward(permit), findings: [])
  }

  /// Returns the permit to send the upstream's refresh token `token` upstream.
  ///
  /// - Parameters:
  ///   - grant: The content of the sealed token; `nil` if the client presented `token` itself.
  ///   - resource: The resource of the grant; `nil` if it has none.
  ///   - mayUseHeldCredentials: True if the request to the upstream may contain credentials that the gateway holds.
  private static func permit(
    _ request: RefreshRequest, token: Secret, grant: RefreshGrant?, resource: Resource?, mayUseHeldCredentials: Bool,
    policy: Policy
  ) -> RefreshPermit {
    let credentials = UpstreamCredentials(
      client: request.client, authentication: request.authentication, isProven: mayUseHeldCredentials)
    var entries = [
      FormParameters.Entry(.grantType, GrantType.refreshToken.rawValue),
      FormParameters.Entry(.refreshToken, token.reveal()),
    ]
    let upstreamScope = request.upstreamScope(policy)
    // Without a scope in the request, the upstream keeps the granted one, which includes the resource's.
    if upstreamScope.scope != nil, let scope = upstreamScope.scope(for: resource) {
      entries.append(FormParameters.Entry(.scope, scope.text))
    }
    if let resource { entries += resource.upstreamEntries(sendsAudience: false) }
    entries += policy.allowListed(request.parameters, for: request.client)
    let sealsRefreshToken =
      (grant != nil || !request.client.keepsUpstreamRefreshTokens)
      && !request.client.canRefreshAtUpstream(with: request.authentication)
    return RefreshPermit(
      client: request.client, grant: grant, scope: request.scope,
      tokenScope: tokenScope(request.scope, sent: upstreamScope.scope, granted: grant?.scope),
      scopeForResponse: scopeForResponse(request.client, sent: upstreamScope, granted: grant?.scope, policy),
      upstream: UpstreamTokenRequest(
        credentials, parameters: request.parameters, entries: entries, hiding: grant == nil ? [] : [token],
        sealsRefreshToken: sealsRefreshToken),
      sealsRefreshToken: sealsRefreshToken,
      rotates: grant != nil && request.client.kind == .public, resource: resource, credentials: credentials,
      authentication: request.authentication, parameters: request.parameters)
  }
}

extension Enforcement {
  /// Returns the part of the requested scope that the client has been granted. Without a known grant, returns the scope
  /// that is sent upstream.
  private static func tokenScope(_ requested: Scope?, sent: Scope?, granted: Scope?) -> Scope? {
    guard let granted else { return sent }
    guard let requested else { return granted }
    return requested.limited(to: Set(granted.tokens.map(String.init)))
  }

  /// Returns the value of ``RefreshPermit/scopeForResponse``. If the request has only scope tokens that are not sent, the
  /// upstream renews the whole grant.
  private static func scopeForResponse(
    _ client: Client, sent: UpstreamScope, granted: Scope?, _ policy: Policy
  ) -> Scope? {
    guard client.isUnlisted || sent.isNarrowed else { return nil }
    return sent.scope ?? UpstreamScope(granted, client: client, policy: policy, appliesDefault: true).scope
  }
}

extension RefreshRequest {
  /// Requests the part of the granted scope that the policy permits to the client, if the client requests no scope and
  /// the policy no longer permits all of it. The upstream would renew the whole grant otherwise.
  fileprivate mutating func limitScope(of grant: RefreshGrant) {
    guard scope == nil, let granted = grant.scope else { return }
    let limited = granted.limited(to: client.allowedScopes)
    if limited != granted { scope = limited }
  }

  /// The requested scope without the scope tokens that the policy drops.
  fileprivate func upstreamScope(_ policy: Policy) -> UpstreamScope {
    UpstreamScope(scope, client: client, policy: policy, appliesDefault: false)
  }
}

extension Client {
  /// Returns true if the client is observed and can use an upstream refresh token without the gateway: the client has
  /// the same id at the upstream, and `authentication` contains the credentials that the upstream requires.
  func canRefreshAtUpstream(with authentication: ClientAuthentication) -> Bool {
    guard self.mode == .observe, self.upstream.clientID == self.id else { return false }
    return self.upstream.clientSecret == nil || authentication.method != .none
  }
}
