import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Telemetry
import Time

/// Handles one refresh request (RFC 6749, section 6; `I-renewal`).
///
/// The refresh tokens of public clients are valid for one use (RFC 9700, section 2.2.2). The gateway claims this use in
/// the store before it contacts the upstream. If the upstream does not rotate refresh tokens, the gateway rotates them:
/// it seals (encrypts) the same upstream token into a new token for the client. All refresh tokens that follow from one
/// code are a family.
struct TokenRefresher {
  private let intercepted: InterceptedRequest
  private let permit: RefreshPermit
  /// The refresh token as the client sent it.
  private let presented: Secret
  /// True if the request is one of the client: its token is sealed to the client, or its secret is verified.
  private let isProven: Bool
  private var families: RefreshLedger { intercepted.gateway.resources.refreshFamilies }

  init(_ intercepted: InterceptedRequest, _ permit: RefreshPermit, presented: Secret, isProven: Bool) {
    self.intercepted = intercepted
    self.permit = permit
    self.presented = presented
    self.isProven = isProven
  }

  func respond() async -> Response {
    // If there is no grant, the client authenticates at the upstream and presents the upstream's own refresh token,
    // which the gateway does not manage.
    guard let grant = permit.grant ?? adoptedGrant() else { return await refreshWithoutRotation(nil) }
    intercepted.trail.family = grant.family
    intercepted.upstream.preferredAddress = grant.binding.upstreamAddress
    do throws(StoreError) {
      let use = use(of: grant)
      // `permit.rotates` is true only for sealed tokens. An adopted token of a public client is valid for one use, too.
      if permit.rotates || (use.isAdopted && permit.client.kind == .public) { return try await rotate(grant, use) }
      if let duty = try await families.dutyIfEnded(use, now: intercepted.now) { return await refuse(grant, duty) }
      guard !families.refuses(use) else { return intercepted.tokenRejection(.withoutRedirect(.refreshFamilyMissing)) }
      return await refreshWithoutRotation(grant)
    } catch {
      // The store is full or unavailable. Without the store, the gateway cannot detect a second use.
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
  }

  /// Requests tokens from the upstream. A request that gets tokens counts for the limit of the client; one with a token that
  /// the upstream refuses can be repeated without an effect.
  private func requestTokens() async -> Result<InterceptedRequest.ReceivedTokenResponse, UpstreamFailure> {
    let result = await intercepted.requestTokens(permit.upstream)
    if isProven, case .success(let received) = result, case .tokens = received.parsed {
      intercepted.countUse(by: permit.client)
    }
    return result
  }

  /// Returns the response to the client for a response of the upstream without tokens, or with tokens that the gateway does
  /// not manage.
  ///
  /// If the upstream requires a secret for a refresh token from before the gateway, and neither the app nor the gateway has
  /// it, the user has to sign in again. `invalid_client` would say that the app is not permitted at all.
  private func relay(_ received: InterceptedRequest.ReceivedTokenResponse) -> Response {
    if permit.isAdopted, permit.lacksCredentials, case .error(.invalidClient, _) = received.parsed {
      return intercepted.tokenRejection(.withoutRedirect(.refreshTokenNotSealed))
    }
    return intercepted.relay(received, usedGatewayCredentials: permit.upstream.usesGatewayCredentials)
  }

  /// Refreshes a token that may be used more than once. The presented token stays valid; the new token has a later
  /// expiry.
  ///
  /// - Parameter grant: The content of the presented token; `nil` for a token that the gateway does not manage.
  private func refreshWithoutRotation(_ grant: RefreshGrant?) async -> Response {
    switch await requestTokens() {
    case .failure(let failure): return intercepted.tokenFailure(failure)
    case .success(let received):
      guard case .tokens(let members) = received.parsed else { return relay(received) }
      if let withheld = await withheld(members, grant) { return withheld }
      guard let grant else {
        return intercepted.tokenResponse(intercepted.naming(permit.scopeForResponse, in: members))
      }
      return intercepted.tokenResponse(withNewRefreshToken(members, after: grant, epoch: families.epoch).members)
    }
  }

  /// Returns the grant for an upstream token that was issued before the gateway was installed (`raw_refresh_until`), as
  /// the first of a new token family; `nil` for any other token.
  private func adoptedGrant() -> RefreshGrant? {
    guard permit.isAdopted else { return nil }
    return RefreshGrant(
      family: RefreshUse.adoptedFamily(of: presented, client: permit.client.id), generation: 0, epoch: families.epoch,
      binding: ClientBinding(
        clientID: permit.client.id, scope: nil, upstreamClientID: permit.client.upstream.clientID),
      upstreamRefreshToken: presented, issuedAt: intercepted.now)
  }

  private func use(of grant: RefreshGrant) -> RefreshUse {
    let peer = intercepted.request.peer
    var use = RefreshUse(
      grant, token: presented, address: peer.address, isLoopback: peer.isLoopback,
      isListed: !permit.client.isUnlisted, isAdopted: permit.isAdopted)
    use.idleLifetime = max(permit.client.refreshIdle, grant.idleLifetime)
    use.accessLifetime = intercepted.policy.endRetention
    use.reuseWindow = permit.client.refreshReuseWindow
    use.acceptsAnyNetwork = permit.client.refreshReuseNetworks == .any
    use.adoptedUntil = permit.client.rawRefreshUntil ?? 0
    return use
  }

  // MARK: Rotation

  private func rotate(_ grant: RefreshGrant, _ use: RefreshUse) async throws(StoreError) -> Response {
    var use = use
    use.arrival = intercepted.now
    var wait = ProgressWait()
    while true {
      let hold = UpstreamHold(
        intercepted.policy.upstream, bodyTimeout: intercepted.policy.gateway.limits.bodyTimeout)
      switch try await families.claim(use, lease: hold.lease, now: intercepted.now) {
      case .granted(let attempt):
        if attempt.isFromEarlierEpoch { intercepted.trail.findings.append("epoch-family") }
        if attempt.tookOverClaim { intercepted.trail.findings.append("lease-ended") }
        return try await rotate(grant, attempt, hold)
      case .busy:
        // Without a reuse window, this request must not wait: after the end of the request that holds the claim, this
        // request would count as a reuse and end the family.
        guard use.reuseWindow > 0, await wait.pause() else {
          return intercepted.tokenRejection(.withoutRedirect(.refreshInProgress))
        }
      case .missing: return intercepted.tokenRejection(.withoutRedirect(.refreshFamilyMissing))
      case .ended(let duty): return await refuse(grant, duty)
      // The token was used within the reuse window, and its successor is unused.
      case .repeated: return try await answerRepeat(grant, use)
      case .reused: return try await refuseReuse(of: grant)
      }
    }
  }

  private func rotate(
    _ grant: RefreshGrant, _ attempt: RefreshLedger.Attempt, _ hold: UpstreamHold
  ) async throws(StoreError) -> Response {
    let held = HeldResponses(intercepted, permit, presented: presented, grant)
    let isReserved = await held.reserve(for: hold.lease)
    guard hold.permitsRequest, families.isHeld(attempt, for: UpstreamHold.claimSafetyTime) else {
      if isReserved { await held.remove() }
      try await families.release(attempt, now: intercepted.now)
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
    switch await requestTokens() {
    case .failure(let failure):
      if isReserved { await held.remove() }
      // Release the claim even if the upstream may have used up the token, because the app has no other token for a
      // retry.
      try await families.release(attempt, now: intercepted.now)
      return intercepted.tokenFailure(failure)
    case .success(let received):
      guard case .tokens(let members) = received.parsed else {
        if isReserved { await held.remove() }
        try await families.release(attempt, now: intercepted.now)
        if attempt.tookOverBeforeLeaseEnd, case .error(.invalidGrant, _) = received.parsed {
          // The earlier request may have used the token up, and may still get its response until its lease ends.
          return intercepted.tokenRejection(.withoutRedirect(.refreshInProgress))
        }
        return relay(received)
      }
      if let withheld = await withheld(members, grant) {
        if isReserved { await held.remove() }
        try await families.release(attempt, now: intercepted.now)
        return withheld
      }
      let (response, newGrant) = withNewRefreshToken(members, after: grant, epoch: attempt.epoch)
      // Store the response before the new token becomes the valid token of the family: after that, a request with the
      // old token counts as repeated, and must find the response.
      let entry = isReserved ? await held.keep(response) : nil
      if await settle(attempt, response) { return intercepted.tokenResponse(response) }
      if let entry { await held.remove(entry) }
      guard families.isHeld(attempt, for: 0) else {
        // Another request has probably taken over the claim while this process was stopped or cut off. The tokens are
        // dropped: no one has received them, and to revoke them could end the session of the other request.
        intercepted.trail.findings.append("claim-lost")
        return intercepted.tokenRejection(.withoutRedirect(.refreshInProgress))
      }
      // During the upstream request, another request has ended the family or taken over the claim. Two parties have
      // tokens of the family, so the new upstream tokens are revoked.
      let tokens = intercepted.upstreamTokens(in: members).filter { $0.hint == .accessToken }
      await intercepted.revoke([(newGrant.upstreamRefreshToken, .refreshToken)] + tokens, with: permit.revocation)
      return intercepted.tokenRejection(.withoutRedirect(.refreshTokenReused))
    }
  }

  /// Records the access token. Returns the response for the client if the client must not get the token; otherwise
  /// `nil`. The presented refresh token stays valid, unless the upstream has replaced its token.
  private func withheld(_ members: [String: JSONValue], _ grant: RefreshGrant?) async -> Response? {
    await intercepted.recordAccessToken(
      in: members,
      AccessTokenTarget(
        client: permit.client, resource: permit.resource, scope: permit.tokenScope, login: permit.grant?.scope,
        family: grant?.family, document: grant?.binding.document, policy: intercepted.policy),
      revocation: permit.revocation, keptRefreshToken: grant?.upstreamRefreshToken ?? presented)
  }

  /// Makes the new token in `response` the valid token of the family. Returns true if the client may get the response.
  ///
  /// If the store is unavailable, the client gets the response, because the upstream may have used up the old token.
  /// The store then still contains the claim, but the ledger accepts the new token nevertheless.
  private func settle(_ attempt: RefreshLedger.Attempt, _ response: [String: JSONValue]) async -> Bool {
    guard let successor = response["refresh_token"]?.text else { return false }
    do throws(StoreError) {
      return try await families.settle(attempt, successor: Secret(successor), now: intercepted.now)
    } catch {
      intercepted.trail.findings.append("family-not-settled")
      return true
    }
  }

  /// Refuses a token that was used before, and ends its whole family, including the newest token (RFC 9700, section
  /// 4.14.2).
  private func refuseReuse(of grant: RefreshGrant) async throws(StoreError) -> Response {
    let wasActive = try await intercepted.revokeFamily(
      grant.family, of: permit.client, idleLifetime: grant.idleLifetime, revokedGenerations: grant.generation + 1)
    return await refuse(grant, wasActive ? .revokeToken : .nothingToRevoke)
  }

  /// Refuses a token of a family that has ended. Also revokes the upstream token in the presented token, unless another
  /// request has already revoked a token of this or a later generation.
  private func refuse(_ grant: RefreshGrant, _ duty: RefreshLedger.EndedFamilyDuty) async -> Response {
    if duty == .revokeToken {
      await intercepted.revoke([(grant.upstreamRefreshToken, .refreshToken)], with: permit.revocation)
    }
    return intercepted.tokenRejection(.withoutRedirect(.refreshTokenReused))
  }

  /// Returns the members of the response with the new refresh token and the scope for the client, and the content of that token. The
  /// new token belongs to the family of the old token. It is sealed, except for an observed client that can use the
  /// upstream token without the gateway.
  ///
  /// - Parameter epoch: The epoch that the new token contains: the epoch of the store in which the use was claimed, or
  ///   the current epoch if the use was not claimed.
  private func withNewRefreshToken(
    _ members: [String: JSONValue], after old: RefreshGrant, epoch: EpochID
  ) -> (members: [String: JSONValue], grant: RefreshGrant) {
    var members = members
    var grant = old
    grant.generation += 1
    grant.epoch = epoch
    grant.issuedAt = intercepted.now
    grant.idleLifetime = max(grant.idleLifetime, permit.client.refreshIdle)
    if let address = intercepted.upstream.answeringAddress { grant.binding.upstreamAddress = address }
    if let token = members["refresh_token"]?.text, !token.isEmpty { grant.upstreamRefreshToken = Secret(token) }
    // An observed client gets the upstream token itself, so that it does not depend on the gateway (`I-observe`).
    let token = permit.sealsRefreshToken ? intercepted.gateway.sealer.seal(grant) : grant.upstreamRefreshToken.reveal()
    members["refresh_token"] = .string(token)
    return (intercepted.naming(permit.scopeForResponse, in: members), grant)
  }

  /// Handles a repeated use within `refresh_reuse_window`. If the request is the same as the first one, the client gets
  /// the stored response to the first one.
  private func answerRepeat(_ grant: RefreshGrant, _ use: RefreshUse) async throws(StoreError) -> Response {
    let found = try await HeldResponses(intercepted, permit, presented: presented, grant).find()
    var isAnswered = false
    if case .answer = found { isAnswered = true }
    let first: RefreshLedger.FirstUse
    switch try await families.countRepeat(use, isAnswered: isAnswered, now: intercepted.now) {
    case .permitted(let use): first = use
    case .tooMany: return intercepted.tokenRejection(.withoutRedirect(.refreshRepeatedTooOften))
    case .reused: return try await refuseReuse(of: grant)
    }
    intercepted.trail.findings.append("refresh-repeated")
    intercepted.trail.networks = RefreshNetworks(first: first.network, repeated: use.networkText)
    switch found {
    case .answer(let members): return intercepted.tokenResponse(members)
    // The request that reserved the room has ended without a response to keep.
    case .missing, .reserved: return intercepted.tokenRejection(.withoutRedirect(.refreshResponseMissing))
    case .requestDiffers: return try await refuseReuse(of: grant)
    }
  }
}
