import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Telemetry

/// The token endpoint (RFC 6749, section 3.2; `I-token`).
struct TokenEndpoint {
  private let intercepted: InterceptedRequest
  private let request: TokenRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
    request = intercepted.clientRequest()
  }

  func respond() async -> Reply {
    intercepted.trail.grant = request.parameters[.grantType].map { GrantType(rawValue: $0)?.rawValue ?? "other" }
    let authentication = intercepted.authentication(of: request)
    let holdsSealedValue = holdsSealedValue
    let unlisted = intercepted.unlistedClient(of: request)
    let isObserved =
      !holdsSealedValue && unlisted == nil && Enforcement.mode(of: request, policy: intercepted.policy) == .observe
    if let refused = intercepted.throttledAddress()
      ?? intercepted.preliminaryRefusal(request, authentication, isObserved: isObserved)
    {
      return .response(refused)
    }
    let outcome = Enforcement.decideToken(
      request, policy: intercepted.policy, holdsSealedValue: holdsSealedValue, unlisted: unlisted)
    intercepted.trail.record(outcome)
    // Of a request that passes, `recordObserved(_:)` records more.
    intercepted.trail.details = RequestDetails(token: request.parameters, authentication, intercepted.recordedClient)
    switch outcome.decision {
    case .reject(let refusal):
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return .response(intercepted.tokenRejection(refusal))
    case .pass:
      intercepted.recordObserved(request)
      return await intercepted.recordRefreshToken(in: intercepted.observe(request, authentication), to: request)
    case .forward(.redeem(let redemption)): return .response(await redeem(redemption))
    case .forward(.refresh(let refreshRequest)): return .response(await refresh(refreshRequest))
    case .forward(.device(let poll)): return .response(await DevicePollResponder(intercepted, poll).respond())
    case .forward(.sendUpstream(let form, let client, let target)):
      if let client {
        if let throttled = intercepted.throttled(proven: client) { return .response(throttled) }
        intercepted.countUse(by: client)
      }
      return .response(await forward(form, target))
    }
  }

  /// True if the request contains a code, refresh token or device code that the gateway sealed (encrypted and
  /// authenticated). The gateway issued this code or token, so the request is enforced and never only observed. Always false if the policy
  /// observes no client, because every request is then enforced.
  private var holdsSealedValue: Bool {
    guard intercepted.policy.isObserving else { return false }
    let sealer = intercepted.gateway.sealer
    for text in request.all(.code) {
      if case .value = sealer.opened(text) as Opened<IssuedCode> { return true }
    }
    for text in request.all(.refreshToken) {
      if case .value = sealer.opened(text) as Opened<RefreshGrant> { return true }
    }
    for text in request.all(.deviceCode) {
      if case .value = sealer.opened(text) as Opened<DeviceCode> { return true }
    }
    return false
  }

  // MARK: Codes

  private func redeem(_ redemption: RedemptionRequest) async -> Response {
    let opened: Opened<IssuedCode> = intercepted.gateway.sealer.opened(redemption.code.reveal())
    if case .value(let code) = opened {
      intercepted.trail.transaction = code.transactionID
      intercepted.trail.recordRedirectKind(of: code.redirectURI)
    }
    let outcome = Enforcement.decideRedemption(
      redemption, opened: opened, policy: intercepted.policy, now: intercepted.now)
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      return intercepted.throttledVerifier(of: opened, refusal) ?? intercepted.tokenRejection(refusal)
    // Not reached: a request with a sealed code, or from an enforced client, is always enforced.
    case .pass: return intercepted.tokenRejection(.withoutRedirect(.codeNotSealed))
    case .forward(let permit):
      if let throttled = intercepted.throttled(proven: permit.client) { return throttled }
      return await CodeRedeemer(intercepted, permit).respond()
    }
  }

  // MARK: Refresh tokens

  private func refresh(_ refreshRequest: RefreshRequest) async -> Response {
    let opened: Opened<RefreshGrant> = intercepted.gateway.sealer.opened(refreshRequest.token.reveal())
    if case .value(let grant) = opened { intercepted.trail.family = grant.family }
    let outcome = Enforcement.decideRefresh(
      refreshRequest, opened: opened, policy: intercepted.policy, now: intercepted.now)
    if outcome.permit?.isAdopted == true { intercepted.trail.findings.append("refresh-token-raw") }
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal): return intercepted.tokenRejection(refusal)
    // Not reached: `decideRefresh` forwards or refuses each request.
    case .pass: return intercepted.tokenRejection(.withoutRedirect(.refreshTokenNotSealed))
    case .forward(let permit):
      // A refresh token that the gateway did not seal does not prove which client sent the request.
      let isProven = permit.grant != nil || refreshRequest.clientSecretIsVerified
      if isProven,
        let throttled = intercepted.throttled(proven: permit.client)
      {
        return throttled
      }
      return await TokenRefresher(intercepted, permit, presented: refreshRequest.token, isProven: isProven).respond()
    }
  }

  // MARK: Requests without sealed values

  private func forward(_ form: UpstreamTokenRequest, _ target: AccessTokenTarget) async -> Response {
    switch await intercepted.requestTokens(form) {
    case .failure(let failure): return intercepted.tokenFailure(failure)
    case .success(let received):
      guard case .tokens(let members) = received.parsed else {
        return intercepted.relay(received, usedGatewayCredentials: false)
      }
      return await intercepted.recordAccessToken(in: members, target, revocation: nil)
        ?? intercepted.tokenResponse(intercepted.naming(target.scopeForResponse, in: members))
    }
  }
}
