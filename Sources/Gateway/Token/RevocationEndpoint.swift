import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Time

/// The revocation endpoint (RFC 7009). The gateway decrypts a refresh token that it sealed for a client, and revokes
/// the upstream token in it. An access token with a record is marked as revoked. A request with any other token is sent
/// upstream with the client's own parameters.
struct RevocationEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Reply {
    let request = intercepted.clientRequest()
    let authentication = intercepted.authentication(of: request)
    let token = (request.parameters[.token] ?? request.query?[.token]).map { Secret($0) }
    let opened: Opened<RefreshGrant> = token.map { intercepted.gateway.sealer.opened($0.reveal()) } ?? .invalid
    let unlisted = intercepted.unlistedClient(of: request)
    var ended: Client?
    if case .value(let grant) = opened, grant.clientID == authentication?.clientID {
      ended = intercepted.endedClient(of: grant)
    }
    var isObserved = false
    if case .invalid = opened, unlisted == nil {
      isObserved = Enforcement.mode(of: request, policy: intercepted.policy) == .observe
    }
    if let refused = intercepted.throttledAddress()
      ?? intercepted.preliminaryRefusal(request, authentication, isObserved: isObserved)
    {
      return .response(refused)
    }
    let record: AccessTokenRecord?
    do throws(StoreError) {
      record = try await self.record(of: token, isObserved: isObserved)
    } catch {
      return .response(intercepted.tokenRejection(.withoutRedirect(.storeUnavailable)))
    }
    let outcome = Enforcement.decideRevocation(
      request, opened: opened, record: record, policy: intercepted.policy, unlisted: unlisted,
      ended: ended)
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      // A client must not learn that the token belongs to another client. It gets the response for an invalid token,
      // which is not an error (RFC 7009, section 2.2).
      if refusal.rejection == .refreshTokenIssuedToOtherClient { return .response(intercepted.revocationResponse()) }
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return .response(intercepted.tokenRejection(refusal))
    case .pass where isObserved:
      let reply = await intercepted.observe(request, authentication)
      if let token, UpstreamTokenResponse.isDone(reply.status) { await recordObservedRevocation(of: token) }
      return reply
    case .pass:
      let response = await intercepted.pass(request, authentication)
      guard let token, record != nil, RevocationEndpoint.isAccepted(response) else { return .response(response) }
      return .response(await recordRevocation(of: token) ?? response)
    case .forward(let form):
      guard case .value(let grant) = opened else {
        if let token, record != nil { return .response(await revoke(accessToken: token, with: form)) }
        return .response(intercepted.tokenRejection(.withoutRedirect(.refreshTokenNotSealed)))
      }
      return .response(await revoke(grant, of: ended ?? intercepted.client(grant.clientID), with: form))
    }
  }

  /// Ends the family of the sealed token and revokes the upstream token in it. The gateway creates the response itself,
  /// because the response of the upstream could contain the upstream token or the gateway's credentials.
  private func revoke(
    _ grant: RefreshGrant, of client: Client?, with form: UpstreamTokenRequest
  ) async -> Response {
    intercepted.trail.family = grant.family
    intercepted.upstream.preferredAddress = grant.binding.upstreamAddress
    if let client, let throttled = intercepted.throttled(proven: client) { return throttled }
    guard let wasActive = await endFamily(of: grant, client) else {
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
    if let client, wasActive { intercepted.countUse(by: client) }
    guard wasActive || intercepted.countRepeatable(in: grant.family) else {
      intercepted.trail.recordRefusal(.tooManyRequests)
      return intercepted.tokenThrottled("too many requests", retryAfter: 1)
    }
    return await send(form)
  }

  /// Returns the record of an access token; `nil` if there is none, or if the request is observed.
  private func record(of token: Secret?, isObserved: Bool) async throws(StoreError) -> AccessTokenRecord? {
    guard !isObserved, let token else { return nil }
    do throws(StoreError) {
      return try await intercepted.gateway.accessTokens.find(token, now: intercepted.now)
    } catch {
      // Without resources, there is a record only if an earlier policy listed some.
      guard intercepted.policy.resources.isEmpty else { throw error }
      return nil
    }
  }

  /// Records that the client has revoked its access token, and revokes it upstream.
  private func revoke(accessToken: Secret, with form: UpstreamTokenRequest) async -> Response {
    if let failure = await recordRevocation(of: accessToken) { return failure }
    return await send(form)
  }

  /// Records that an access token is revoked. Returns the response that asks the client to try again if the store does
  /// not take the change; otherwise `nil`.
  private func recordRevocation(of accessToken: Secret) async -> Response? {
    do throws(StoreError) {
      try await intercepted.gateway.accessTokens.revoke(accessToken, now: intercepted.now)
      return nil
    } catch {
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
  }

  /// Records the revocation of an access token by an observed client, which may have received the token while it was
  /// enforced. The response does not depend on the result (`I-observe`).
  private func recordObservedRevocation(of token: Secret) async {
    guard !intercepted.policy.resources.isEmpty else { return }
    do throws(StoreError) {
      try await intercepted.gateway.accessTokens.revoke(token, now: intercepted.now)
    } catch {
      intercepted.trail.findings.append("revocation-not-recorded")
    }
  }

  /// Returns true if the upstream has accepted a revocation. Some servers send errors with status 200.
  private static func isAccepted(_ response: Response) -> Bool {
    guard UpstreamTokenResponse.isDone(response.status) else { return false }
    let answer = UpstreamTokenResponse(status: response.status, headers: response.headers, body: response.body)
    guard case .error = answer else { return true }
    return false
  }

  /// Sends the revocation upstream and returns the response for the client.
  private func send(_ form: UpstreamTokenRequest) async -> Response {
    switch await intercepted.requestTokens(form) {
    case .failure(let failure): intercepted.tokenFailure(failure)
    case .success(let upstream) where UpstreamTokenResponse.isDone(upstream.status):
      if case .error = upstream.parsed {
        intercepted.relay(upstream, usedGatewayCredentials: form.usesGatewayCredentials)
      } else {
        intercepted.revocationResponse()
      }
    case .success(let upstream): intercepted.relay(upstream, usedGatewayCredentials: form.usesGatewayCredentials)
    }
  }

  /// Ends the refresh token family in the gateway, because other sealed tokens of the family may contain the same
  /// upstream token: an upstream that does not rotate refresh tokens issues only one. Returns true if the family was
  /// active until now, and `nil` if the store is full or unavailable.
  private func endFamily(of grant: RefreshGrant, _ client: Client?) async -> Bool? {
    guard let client else { return true }
    do throws(StoreError) {
      return try await intercepted.revokeFamily(
        grant.family, of: client, idleLifetime: grant.idleLifetime, revokedGenerations: grant.generation + 1)
    } catch {
      return nil
    }
  }
}
