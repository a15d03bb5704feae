import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores

/// The revocation endpoint (RFC 7009). The gateway decrypts a refresh token that it sealed for a client, and revokes
/// the upstream token in it. A request with any other token is sent upstream with the client's own parameters.
struct RevocationEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Reply {
    let request = intercepted.clientRequest()
    let authentication = intercepted.authentication(of: request)
    let token = request.parameters[.token].map { Secret($0) }
    let opened: Opened<RefreshGrant> = token.map { intercepted.gateway.sealer.opened($0.reveal()) } ?? .invalid
    let unlisted = intercepted.unlistedClient(of: request)
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
      request, opened: opened, record: record, policy: intercepted.policy, unlisted: unlisted)
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      // A client must not learn that the token belongs to another client. It gets the response for an invalid token,
      // which is not an error (RFC 7009, section 2.2).
      if refusal.rejection == .refreshTokenIssuedToOtherClient { return .response(intercepted.revocationResponse()) }
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return .response(intercepted.tokenRejection(refusal))
    case .pass where isObserved: return await intercepted.observe(request, authentication)
    case .pass: return .response(await intercepted.pass(request, authentication))
    case .forward(let form):
      guard case .value(let grant) = opened else {
        if let token, record != nil { return .response(await revoke(accessToken: token, with: form)) }
        return .response(intercepted.tokenRejection(.withoutRedirect(.refreshTokenNotSealed)))
      }
      return .response(await revoke(grant, with: form))
    }
  }

  /// Ends the family of the sealed token and revokes the upstream token in it. The gateway creates the response itself,
  /// because the response of the upstream could contain the upstream token or the gateway's credentials.
  private func revoke(_ grant: RefreshGrant, with form: UpstreamTokenRequest) async -> Response {
    intercepted.trail.family = grant.family
    if let client = intercepted.client(grant.clientID), let throttled = intercepted.throttled(proven: client) {
      return throttled
    }
    guard await endFamily(of: grant) else { return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable)) }
    return await send(form)
  }

  /// Returns the record of an access token; `nil` if the policy lists no resources, or if the request is observed.
  private func record(of token: Secret?, isObserved: Bool) async throws(StoreError) -> AccessTokenRecord? {
    guard !intercepted.policy.resources.isEmpty, !isObserved, let token else { return nil }
    return try await intercepted.gateway.accessTokens.find(token, now: intercepted.now)
  }

  /// Records that the client has revoked its access token, and revokes it upstream.
  private func revoke(accessToken: Secret, with form: UpstreamTokenRequest) async -> Response {
    do throws(StoreError) {
      try await intercepted.gateway.accessTokens.revoke(accessToken, now: intercepted.now)
    } catch {
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
    return await send(form)
  }

  /// Sends the revocation upstream and returns the response for the client.
  private func send(_ form: UpstreamTokenRequest) async -> Response {
    switch await intercepted.requestTokens(form) {
    case .failure(let failure): intercepted.tokenFailure(failure)
    case .success(let upstream) where (200..<300).contains(upstream.status):
      if case .error = upstream.parsed {
        intercepted.relay(upstream, usedGatewayCredentials: form.usesGatewayCredentials)
      } else {
        intercepted.revocationResponse()
      }
    case .success(let upstream): intercepted.relay(upstream, usedGatewayCredentials: form.usesGatewayCredentials)
    }
  }

  /// Ends the refresh token family in the gateway, because other sealed tokens of the family may contain the same
  /// upstream token: an upstream that does not rotate refresh tokens issues only one. Returns false if the store is
  /// full or unavailable.
  private func endFamily(of grant: RefreshGrant) async -> Bool {
    guard let client = intercepted.client(grant.clientID) else { return true }
    do throws(StoreError) {
      _ = try await intercepted.revokeFamily(grant.family, of: client, revokedGenerations: grant.generation + 1)
      return true
    } catch {
      return false
    }
  }
}
