import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Telemetry

/// One use of a refresh token (RFC 6749, section 6; `I-renewal`), from its claim to the response.
///
/// The refresh tokens of public clients are valid for one use (RFC 9700, section 2.2.2). If the upstream does not
/// rotate them, the gateway does: it seals the same upstream token into a new one.
struct TokenRefresher {
  /// The time for reading a response, in seconds, in addition to the time for its head.
  private static let reading: Int64 = 30

  private let intercepted: InterceptedRequest
  private let permit: RefreshPermit
  private let presented: Secret
  private var families: RefreshLedger { intercepted.gateway.resources.families }

  init(_ intercepted: InterceptedRequest, _ permit: RefreshPermit, presented: Secret) {
    self.intercepted = intercepted
    self.permit = permit
    self.presented = presented
  }

  func respond() async -> Response {
    // The client authenticates to the upstream and presents the upstream's own token, which the gateway does not
    // manage.
    guard let grant = permit.grant ?? adopted() else { return await ask(nil) }
    intercepted.trail.family = grant.family
    do throws(StoreError) {
      let use = use(of: grant)
      if permit.rotates || (use.isAdopted && permit.client.kind == .public) { return try await rotate(grant, use) }
      if let ended = try await families.end(of: use, now: intercepted.now) { return await refuse(grant, ended) }
      return await ask(grant)
    } catch {
      // The store is full or unavailable: without it, a second use cannot be distinguished from the first.
      return intercepted.tokenRejection(.here(.storeUnavailable))
    }
  }

  /// Refreshes without rotation: the presented token stays valid, and the new one expires later.
  private func ask(_ grant: RefreshGrant?) async -> Response {
    switch await intercepted.requestTokens(permit.upstream) {
    case .failure(let failure): return intercepted.tokenFailure(failure)
    case .success(let answer):
      guard let grant, case .tokens(let members) = answer.answer else {
        return intercepted.relay(answer, usedGatewayCredentials: permit.upstream.usesGatewayCredentials)
      }
      return intercepted.tokenResponse(renewed(members, grant).members)
    }
  }

  /// Returns the first grant of a new family for a token that was issued before the gateway was installed
  /// (`raw_refresh_until`).
  private func adopted() -> RefreshGrant? {
    guard permit.isFromBeforeTheGateway else { return nil }
    return RefreshGrant(
      family: RefreshUse.adoptedFamily(of: presented, client: permit.client.id), generation: 0, epoch: families.epoch,
      clientID: permit.client.id, scope: nil, upstreamClientID: permit.client.upstream.clientID,
      upstreamRefreshToken: presented, issuedAt: intercepted.now)
  }

  private func use(of grant: RefreshGrant) -> RefreshUse {
    let peer = intercepted.request.peer
    var use = RefreshUse(
      grant, token: presented, address: peer.address, isLoopback: peer.isLoopback,
      isAdopted: permit.isFromBeforeTheGateway)
    use.idle = Int64(permit.client.refreshIdle)
    use.window = Int64(permit.client.refreshReuseWindow)
    use.takesAnyNetwork = permit.client.refreshReuseNetworks == .any
    use.adoptedUntil = permit.client.rawRefreshUntil ?? 0
    return use
  }

  // MARK: Rotation

  private func rotate(_ grant: RefreshGrant, _ use: RefreshUse) async throws(StoreError) -> Response {
    switch try await families.claim(use, lease: lease, now: intercepted.now) {
    case .granted(let attempt):
      if attempt.isFromEarlierEpoch { intercepted.trail.findings.append("epoch-family") }
      return try await rotate(grant, attempt)
    case .busy: return intercepted.tokenRejection(.here(.refreshTokenBusy))
    case .missing: return intercepted.tokenRejection(.here(.familyMissing))
    case .ended(let ended): return await refuse(grant, ended)
    case .repeated: return try await again(grant, use)
    case .reused: return try await refuse(grant)
    }
  }

  private var lease: Int64 {
    let upstream = intercepted.policy.upstream
    return Int64(upstream.connectTimeout + upstream.responseTimeout) / 1_000 + TokenRefresher.reading
  }

  private func rotate(
    _ grant: RefreshGrant, _ attempt: RefreshLedger.Attempt
  ) async throws(StoreError) -> Response {
    let held = HeldResponses(intercepted, permit, presented: presented, grant)
    let isReserved = await held.reserve(for: lease)
    switch await intercepted.requestTokens(permit.upstream) {
    case .failure(let failure):
      if isReserved { await held.remove() }
      // Release in any case: the app has no other token with which to retry.
      try await families.release(attempt, now: intercepted.now)
      return intercepted.tokenFailure(failure)
    case .success(let answer):
      guard case .tokens(let members) = answer.answer else {
        if isReserved { await held.remove() }
        try await families.release(attempt, now: intercepted.now)
        return intercepted.relay(answer, usedGatewayCredentials: permit.upstream.usesGatewayCredentials)
      }
      let (renewed, token) = renewed(members, grant)
      // Hold the response before the family moves on, so that a repeated request that finds it moved also finds the
      // response.
      let entry = isReserved ? await held.hold(renewed) : nil
      if await isSettled(attempt, renewed) { return intercepted.tokenResponse(renewed) }
      if let entry { await held.remove(entry) }
      // Another request has shown in the meantime that two parties hold tokens of the family.
      let tokens = intercepted.upstreamTokens(in: members).filter { $0.hint == .accessToken }
      await intercepted.revoke([(token.upstreamRefreshToken, .refreshToken)] + tokens, with: permit.revocation)
      return intercepted.tokenRejection(.here(.refreshTokenReused))
    }
  }

  /// Moves the family on and returns true if the response may be sent. A response of the upstream is never lost: if the
  /// store is unavailable, the client gets its token, and the record stays busy until that token is used.
  private func isSettled(_ attempt: RefreshLedger.Attempt, _ renewed: [String: JSONValue]) async -> Bool {
    guard let successor = renewed["refresh_token"]?.text else { return false }
    do throws(StoreError) {
      return try await families.settle(attempt, successor: Secret(successor), now: intercepted.now)
    } catch {
      intercepted.trail.findings.append("family-not-settled")
      return true
    }
  }

  /// Ends the family of a token that was used before, including the newest token (RFC 9700, section 4.14.2).
  private func refuse(_ grant: RefreshGrant) async throws(StoreError) -> Response {
    let lived = try await intercepted.revokeFamily(grant.family, of: permit.client, revoking: grant.generation + 1)
    return await refuse(grant, lived ? .first : .again)
  }

  /// Refuses a token of a family that has ended. Its upstream token is revoked, but only once.
  private func refuse(_ grant: RefreshGrant, _ ended: RefreshLedger.Ended) async -> Response {
    if ended == .first {
      await intercepted.revoke([(grant.upstreamRefreshToken, .refreshToken)], with: permit.revocation)
    }
    return intercepted.tokenRejection(.here(.refreshTokenReused))
  }

  /// Returns the response with a refresh token that is sealed to the family of the presented one.
  private func renewed(
    _ members: [String: JSONValue], _ old: RefreshGrant
  ) -> (members: [String: JSONValue], grant: RefreshGrant) {
    var members = members
    var grant = old
    grant.generation += 1
    grant.epoch = families.epoch
    grant.issuedAt = intercepted.now
    if let token = members["refresh_token"]?.text, !token.isEmpty { grant.upstreamRefreshToken = Secret(token) }
    // An observed client gets the upstream's own token: its next refresh does not need the gateway (`I-observe`).
    let token = permit.sealsRefreshToken ? intercepted.gateway.sealer.seal(grant) : grant.upstreamRefreshToken.reveal()
    members["refresh_token"] = .string(token)
    return (members, grant)
  }

  /// Handles a repeat within `refresh_reuse_window`, which gets the response to the first use if the request is the
  /// same.
  private func again(_ grant: RefreshGrant, _ use: RefreshUse) async throws(StoreError) -> Response {
    let found = try await HeldResponses(intercepted, permit, presented: presented, grant).find()
    var isAnswered = false
    if case .answer = found { isAnswered = true }
    guard let first = try await families.countRepeat(use, isAnswered: isAnswered, now: intercepted.now) else {
      return try await refuse(grant)
    }
    intercepted.trail.findings.append("refresh-repeated")
    intercepted.trail.networks = RefreshNetworks(first: first.network, repeated: use.networkText)
    switch found {
    case .answer(let members): return intercepted.tokenResponse(members)
    case .missing: return intercepted.tokenRejection(.here(.refreshAnswerMissing))
    case .ofAnotherRequest: return try await refuse(grant)
    }
  }
}
