import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

/// One use of a refresh token (RFC 6749, section 6), from its claim to the answer.
///
/// The refresh tokens of public clients are good for one use (RFC 9700, section 2.2.2). Where the upstream does not
/// rotate, the gateway does: it seals the same upstream token into a new one.
struct Renewal {
  /// Seconds that an answer may take to come in beside the time that its head may take.
  private static let reading: Int64 = 30
  /// Bytes. A longer answer is not kept, and its token is good once.
  private static let longestKept = 16 * 1024

  private let exchange: Interception
  private let permit: RefreshPermit
  private let presented: Secret
  private var families: RefreshLedger { exchange.gateway.resources.families }

  init(_ exchange: Interception, _ permit: RefreshPermit, presented: Secret) {
    self.exchange = exchange
    self.permit = permit
    self.presented = presented
  }

  func respond() async -> Response {
    guard let grant = permit.grant else { return await ask(permit.sealsRefreshToken ? adopted() : nil) }
    exchange.trail.transaction = grant.family
    do throws(StoreError) {
      guard permit.rotates else {
        let isDead = try await families.isDead(grant.family, now: exchange.now)
        return isDead ? exchange.tokenRefusal(.here(.refreshTokenReused)) : await ask(grant)
      }
      return try await rotate(grant)
    } catch {
      // The store is full or away: without it nobody knows whether the token was used before.
      return exchange.tokenRefusal(.here(.upstreamUnavailable))
    }
  }

  /// Without rotation: the token stays good, and a new one lives longer.
  private func ask(_ grant: RefreshGrant?) async -> Response {
    switch await exchange.askForTokens(permit.upstream) {
    case .failure(let failure): return exchange.tokenFailure(failure)
    case .success(let answer):
      guard let grant, case .tokens(let members) = answer.answer else {
        return exchange.answer(answer, isHeld: permit.upstream.usesHeldCredentials)
      }
      return exchange.tokens(renewed(members, grant).members)
    }
  }

  /// A token from before the gateway becomes the first of a family (`raw_refresh_until`).
  private func adopted() -> RefreshGrant? {
    guard let family = TransactionID(bytes: randomBytes(TransactionID.byteCount)) else { return nil }
    exchange.trail.transaction = family
    return RefreshGrant(
      family: family, generation: 0, clientID: permit.client.id, scope: nil,
      upstreamClientID: permit.client.upstream.clientID, upstreamRefreshToken: presented, issuedAt: exchange.now)
  }

  // MARK: Rotation

  private func rotate(_ grant: RefreshGrant) async throws(StoreError) -> Response {
    let now = exchange.now
    let claim = try await families.claim(
      grant.family, token: presented, lease: lease, expiry: now + Int64(permit.client.refreshIdle), now: now)
    switch claim {
    case .granted(let attempt): return try await rotate(grant, attempt)
    case .busy: return exchange.tokenRefusal(.here(.refreshTokenBusy))
    case .dead: return exchange.tokenRefusal(.here(.refreshTokenReused))
    case .repeated:
      if let answer = try await keptAnswer() { return answer }
      return try await refuse(grant)
    case .reused: return try await refuse(grant)
    }
  }

  private var lease: Int64 {
    let upstream = exchange.policy.upstream
    return Int64(upstream.connectTimeout + upstream.responseTimeout) / 1_000 + Renewal.reading
  }

  private func rotate(
    _ grant: RefreshGrant, _ attempt: RefreshLedger.Attempt
  ) async throws(StoreError) -> Response {
    switch await exchange.askForTokens(permit.upstream) {
    case .failure(let failure):
      // Whether the upstream saw it or not, the app may ask again with the only token that it has.
      try await families.release(attempt, now: exchange.now)
      return exchange.tokenFailure(failure)
    case .success(let answer):
      guard case .tokens(let members) = answer.answer else {
        try await families.release(attempt, now: exchange.now)
        return exchange.answer(answer, isHeld: permit.upstream.usesHeldCredentials)
      }
      let (renewed, token) = renewed(members, grant)
      try await keepAnswer(renewed)
      let kept = exchange.keep(members, refreshToken: token.upstreamRefreshToken) ?? []
      guard let successor = renewed["refresh_token"]?.text,
        try await families.settle(attempt, successor: Secret(successor), keeping: kept, now: exchange.now)
      else {
        // Somebody showed meanwhile that two hold tokens of the family.
        await exchange.revoke(kept, or: token.upstreamRefreshToken, with: permit.revocation)
        return exchange.tokenRefusal(.here(.refreshTokenReused))
      }
      return exchange.tokens(renewed)
    }
  }

  /// A token that was used before: whoever has the newest one loses it too (RFC 9700, section 4.14.2).
  private func refuse(_ grant: RefreshGrant) async throws(StoreError) -> Response {
    try await exchange.endFamily(
      grant.family, of: permit.client, presented: grant.upstreamRefreshToken, revocation: permit.revocation)
    return exchange.tokenRefusal(.here(.refreshTokenReused))
  }

  /// The answer with a refresh token that is sealed to the family of the one that was used.
  private func renewed(
    _ members: [String: JSONValue], _ old: RefreshGrant
  ) -> (members: [String: JSONValue], grant: RefreshGrant) {
    var members = members
    var grant = old
    grant.generation += 1
    grant.issuedAt = exchange.now
    if let token = members["refresh_token"]?.text, !token.isEmpty { grant.upstreamRefreshToken = Secret(token) }
    // An observed client gets the upstream's own token: the next refresh needs nothing of the gateway's (`I-observe`).
    let token = permit.sealsRefreshToken ? exchange.gateway.sealer.seal(grant) : grant.upstreamRefreshToken.reveal()
    members["refresh_token"] = .string(token)
    return (members, grant)
  }

  // MARK: The window for repeats

  private var answerKey: StoreKey { StoreKey(.family, hashing: Array(presented.reveal().utf8)) }

  /// An app that sends a request twice, or lost the answer, is not a thief (`refresh_reuse_window`).
  private func keepAnswer(_ members: [String: JSONValue]) async throws(StoreError) {
    let window = Int64(permit.client.refreshReuseWindow)
    guard window > 0 else { return }
    let text = JSONValue.text(of: members)
    guard text.count <= Renewal.longestKept else { return }
    let sealed = exchange.gateway.sealer.seal(text, for: .kept)
    let now = exchange.now
    try await exchange.gateway.resources.store.remove(answerKey, now: now)
    _ = try await exchange.gateway.resources.store.put(answerKey, Array(sealed.utf8), expiry: now + window, now: now)
  }

  private func keptAnswer() async throws(StoreError) -> Response? {
    guard permit.client.refreshReuseWindow > 0,
      let sealed = try await exchange.gateway.resources.store.get(answerKey, now: exchange.now),
      let text = try? exchange.gateway.sealer.open(String(decoding: sealed, as: UTF8.self), as: .kept),
      let members = JSONValue.members(of: text)
    else { return nil }
    exchange.trail.findings.append("refresh-repeated")
    return exchange.tokens(members)
  }
}
