import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Time

/// Redeems a code or a device code at the upstream, once (`I-token`; RFC 6749, section 4.1.2).
///
/// The gateway first claims the single use of the code in the store. If the upstream issues tokens or refuses the code,
/// the code is spent. If no complete request was sent upstream, the code can be redeemed again. In all other cases, the
/// gateway does not know whether the upstream code is used up, and only the same client with the same verifier may
/// retry.
struct CodeRedeemer {
  private let intercepted: InterceptedRequest
  private let permit: RedemptionPermit
  /// The response for a device that polls again; `nil` for the code of an app. A repeated poll revokes nothing: two
  /// polls of one device may overlap, and a device that did not receive the response polls again.
  private let held: DeviceResponses?
  private var ledger: RedemptionLedger { intercepted.gateway.resources.redemptions }

  init(_ intercepted: InterceptedRequest, _ permit: RedemptionPermit, for poll: DevicePollPermit? = nil) {
    self.intercepted = intercepted
    self.permit = permit
    held = poll.map { DeviceResponses(intercepted, $0, family: permit.family) }
  }

  func respond() async -> Response {
    intercepted.trail.family = permit.family
    intercepted.upstream.preferredAddress = permit.binding.upstreamAddress
    do throws(StoreError) {
      var wait = ProgressWait()
      while true {
        let hold = UpstreamHold(
          intercepted.policy.upstream, bodyTimeout: intercepted.policy.gateway.limits.bodyTimeout)
        let claim = try await ledger.claim(
          permit.claimID, client: permit.client.id, verifier: permit.verifier,
          holder: intercepted.storeHolder(for: permit.client), epoch: permit.epoch, lease: hold.lease,
          expiry: permit.expiry, now: intercepted.now)
        switch claim {
        case .claimedByOther: return intercepted.tokenRejection(.withoutRedirect(.codeUsed))
        case .busy:
          // Another request of the client holds the claim. That request may fail without using up the code, so this
          // request waits and claims the code again. This request gets 503 if the other one still holds the claim at
          // the end of the wait.
          guard await wait.pause() else { return intercepted.tokenRejection(.withoutRedirect(.codeBusy)) }
        case .spent:
          if let held { return try await held.respond(&wait) }
          // If this request has waited, it arrived before the other one was answered. Then it is a repeat, not a
          // replay, and nothing is revoked.
          if !wait.hasBegun { try await revokeIssuedTokens() }
          return intercepted.tokenRejection(.withoutRedirect(.codeUsed))
        case .granted(let attempt):
          guard hold.permitsRequest, ledger.isHeld(attempt, for: UpstreamHold.claimSafetyTime) else {
            try await ledger.release(attempt, now: intercepted.now)
            return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
          }
          return try await redeem(attempt)
        }
      }
    } catch {
      // The store is full or unavailable, or the store has begun another epoch and may have lost an earlier claim on
      // the code. Without the store, the gateway cannot guarantee single use.
      return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
    }
  }

  /// Ends the refresh token family of the code and revokes the stored tokens upstream. The request repeats a redemption
  /// with the right verifier, so two parties have the code and the verifier (RFC 6749, section 4.1.2).
  private func revokeIssuedTokens() async throws(StoreError) {
    let sealed = try await ledger.takeTokens(of: permit.claimID, now: intercepted.now)
    let stored = sealed.flatMap { sealed in
      try? intercepted.gateway.sealer.open(RevocableTokens.self, from: String(stored: sealed), in: tokensBinding)
    }
    let wasActive = try await intercepted.revokeFamily(
      permit.family, of: permit.client, revokedGenerations: stored == nil ? 0 : 1)
    guard wasActive || stored != nil else { return }
    await intercepted.revoke(stored?.tokens ?? [], with: permit.revocation)
  }

  /// Ends the login of a token response that the client must not get, deletes the response for a repeated poll, and revokes
  /// the tokens upstream. The tokens are revoked even if the store does not answer.
  func withdraw(_ response: Response) async throws(StoreError) {
    var members = JSONValue.members(of: response.body) ?? [:]
    if let text = members["refresh_token"]?.text,
      case .value(let grant) = intercepted.gateway.sealer.opened(text) as Opened<RefreshGrant>
    {
      members["refresh_token"] = .string(grant.upstreamRefreshToken.reveal())
    }
    await intercepted.revoke(intercepted.upstreamTokens(in: members), with: permit.revocation)
    _ = try await ledger.takeTokens(of: permit.claimID, now: intercepted.now)
    _ = try await intercepted.revokeFamily(permit.family, of: permit.client, revokedGenerations: 1)
  }

  private var tokensBinding: SealBinding {
    StoreKey(.tokens, id: permit.claimID).binding(intercepted.gateway.resources.store)
  }

  /// Marks the code as spent after the upstream's response, and stores the issued tokens so that they can be revoked. The
  /// request counts for the limit of the client.
  ///
  /// Returns true if the client may get the response. If the store is unavailable, the client may still get the
  /// response as long as no other request can have taken over the claim. The claim then stays in the store, so a second
  /// use of the code is refused.
  ///
  /// - Parameter members: The members of the token response; empty if the upstream refused the code.
  private func spend(_ attempt: RedemptionLedger.Attempt, _ members: [String: JSONValue] = [:]) async -> Bool {
    intercepted.countUse(by: permit.client)
    var isSpent = false
    do throws(StoreError) {
      isSpent = try await ledger.spend(attempt, now: intercepted.now)
      guard isSpent else {
        intercepted.trail.findings.append("claim-lost")
        return false
      }
      // The tokens are stored only so that the gateway can revoke them after a replay of the code. Without a revocation
      // endpoint, it cannot revoke them.
      guard !intercepted.policy.upstream.endpoints.revocation.isEmpty, !members.isEmpty else { return true }
      let tokens = RevocableTokens(intercepted.upstreamTokens(in: members))
      // Tokens for which the store has no room are not sealed first, which would need some times their memory.
      if tokens.length <= RevocableTokens.maximumLength {
        let sealed = intercepted.gateway.sealer.seal(tokens, in: tokensBinding).storedBytes
        if try await ledger.storeTokens(sealed, of: attempt, now: intercepted.now) { return true }
      }
      intercepted.trail.findings.append("tokens-not-kept")
      return true
    } catch {
      intercepted.trail.findings.append("claim-not-spent")
      return isSpent || ledger.isHeld(attempt, for: 0)
    }
  }

  private func redeem(_ attempt: RedemptionLedger.Attempt) async throws(StoreError) -> Response {
    let guess = permit.origin.map { intercepted.gateway.resources.codeGuesses.attempt(from: $0) }
    if let wait = guess?.begin() {
      try await ledger.release(attempt, now: intercepted.now)
      intercepted.trail.recordRefusal(.codeAttempts)
      return intercepted.tokenThrottled("too many refused codes", retryAfter: wait)
    }
    let result = await intercepted.requestTokens(permit.upstream)
    if let guess { count(guess, result, isRetry: attempt.isRetry) }
    switch result {
    case .failure(let failure):
      if failure.nothingWasSent {
        try await ledger.release(attempt, now: intercepted.now)
      } else {
        try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      }
      return intercepted.tokenFailure(failure)
    case .success(let received):
      switch received.parsed {
      case .unusable: try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      case .error(.serverError, _), .error(.temporarilyUnavailable, _):
        try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      // The upstream refused the credentials, probably before it checked the code. The code is not spent: otherwise
      // another program could use up the code of a client by presenting it with wrong credentials.
      case .error(.invalidClient, _): try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      // The upstream runs the device flow. Its error uses nothing up, so the device may poll again.
      case .error where permit.redeemed == .deviceCode: try await ledger.release(attempt, now: intercepted.now)
      // A request that has lost its claim gets 503. Its tokens are dropped: no one has received them, and to revoke
      // them could end the tokens of the request that has the claim now.
      case .error:
        guard await spend(attempt) else { return intercepted.tokenRejection(.withoutRedirect(.codeBusy)) }
      case .tokens(let members):
        // Before the code is spent: after that, a second poll waits for the response.
        await held?.reserve()
        guard await spend(attempt, members) else {
          await held?.release()
          return intercepted.tokenRejection(.withoutRedirect(.codeBusy))
        }
      }
      if permit.redeemed == .deviceCode, let response = pollResponse(for: received.parsed) { return response }
      if attempt.isRetry, case .error(let code, _) = received.parsed, code != .invalidClient {
        // An earlier attempt may have used up the upstream's code. This is not the fault of the client, so the client
        // gets a server error in place of `invalid_grant`.
        return intercepted.tokenRejection(.withoutRedirect(.upstreamFailed))
      }
      // The server no longer accepts the code: the device polled too late (RFC 8628, section 3.5).
      if permit.redeemed == .codeOfDevice, case .error(.invalidGrant, _) = received.parsed {
        return intercepted.tokenRejection(.withoutRedirect(.deviceCodeExpired))
      }
      guard case .tokens(let members) = received.parsed else {
        return intercepted.relay(received, usedGatewayCredentials: permit.upstream.usesGatewayCredentials)
      }
      if let withheld = await intercepted.recordAccessToken(in: members, permit.target, revocation: permit.revocation) {
        await held?.release()
        return withheld
      }
      let response = intercepted.naming(
        permit.target.scopeForResponse, in: sealRefreshToken(in: members, epoch: attempt.epoch))
      await held?.keep(response)
      return intercepted.tokenResponse(response)
    }
  }

  /// Counts the result of a redemption for the limits of the browser and the network in which the sign-in ended.
  ///
  /// A code that the upstream refuses may be guessed, or may come from another sign-in. In a retry, the earlier attempt
  /// may have used up the code, so the retry keeps only the token with which it began. A client that ends its request
  /// keeps it too: otherwise a program could end each request, and guess in the retries.
  private func count(
    _ guess: GuessLimits.Attempt, _ result: Result<InterceptedRequest.ReceivedTokenResponse, UpstreamFailure>,
    isRetry: Bool
  ) {
    switch result {
    case .failure(.clientGone): break
    case .success(let received):
      guard case .error(.invalidGrant, _) = received.parsed else { return guess.giveBack() }
      if !isRetry { guess.countWrong() }
    case .failure: guess.giveBack()
    }
  }

  /// Returns the response to a poll for an error of RFC 8628, section 3.5; `nil` for any other response of the upstream.
  private func pollResponse(for response: UpstreamTokenResponse) -> Response? {
    guard case .error(let code, _) = response else { return nil }
    switch code {
    case .authorizationPending: return intercepted.authorizationPending
    case .slowDown: return intercepted.tokenRejection(.withoutRedirect(.devicePollTooFast))
    case .accessDenied: return intercepted.tokenRejection(.withoutRedirect(.deviceDenied))
    case .expiredToken: return intercepted.tokenRejection(.withoutRedirect(.deviceCodeExpired))
    default: return nil
    }
  }

  /// Seals the refresh token: encrypts it together with its client and family, so that it is useless without the
  /// gateway.
  private func sealRefreshToken(in members: [String: JSONValue], epoch: EpochID) -> [String: JSONValue] {
    var members = members
    guard permit.sealsRefreshToken, let token = members["refresh_token"]?.text else { return members }
    // The token is bound to the client of the code. The rules have checked that the request names this client.
    var grant = RefreshGrant(
      family: permit.family, generation: 0, epoch: epoch, binding: permit.binding,
      upstreamRefreshToken: Secret(token), issuedAt: intercepted.now)
    grant.idleLifetime = permit.client.refreshIdle
    if let address = intercepted.upstream.answeringAddress { grant.binding.upstreamAddress = address }
    // The limits of a client that the policy does not list are scope tokens as the client requests them. The upstream may
    // have other names for them.
    if !permit.client.isUnlisted, let granted = members["scope"]?.text.flatMap({ Scope(parsing: $0) }) {
      grant.scope = granted
    }
    members["refresh_token"] = .string(intercepted.gateway.sealer.seal(grant))
    return members
  }
}

/// The upstream tokens that were issued for a code. They are stored in sealed (encrypted and authenticated) form, so
/// that the gateway can revoke them when the code is used again.
struct RevocableTokens: Sealable {
  static var purpose: Purpose { .storedTokens }
  /// The version of the format.
  private static let formatVersion: UInt8 = 1
  /// The maximum length of all tokens in bytes: the size of an entry of `StoreKind.tokens`.
  static let maximumLength = 16_384

  let tokens: [InterceptedRequest.UpstreamToken]

  /// The length of all tokens in bytes.
  var length: Int { tokens.reduce(0) { $0 + $1.token.reveal().utf8.count } }

  init(_ tokens: [InterceptedRequest.UpstreamToken]) {
    self.tokens = tokens
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == RevocableTokens.formatVersion else { throw PayloadError() }
    let access = try payload.readText()
    let refresh = try payload.readText()
    var tokens: [InterceptedRequest.UpstreamToken] = []
    if !refresh.isEmpty { tokens.append((Secret(refresh), .refreshToken)) }
    if !access.isEmpty { tokens.append((Secret(access), .accessToken)) }
    self.tokens = tokens
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(RevocableTokens.formatVersion)
    payload.writeText(tokens.first { $0.hint == .accessToken }?.token.reveal() ?? "")
    payload.writeText(tokens.first { $0.hint == .refreshToken }?.token.reveal() ?? "")
  }
}
