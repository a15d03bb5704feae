import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

/// The one redemption of a code, from its claim to the answer (`I-token`; RFC 6749, section 4.1.2).
struct Redemption {
  private let exchange: Interception
  private let permit: RedemptionPermit
  private var ledger: RedemptionLedger { exchange.gateway.resources.ledger }

  init(_ exchange: Interception, _ permit: RedemptionPermit) {
    self.exchange = exchange
    self.permit = permit
  }

  func respond() async -> Response {
    exchange.trail.family = permit.family
    do throws(StoreError) {
      let claim = try await ledger.claim(
        permit.family, client: permit.client.id, verifier: permit.verifier,
        holder: exchange.holder(permit.client),
        expiry: permit.code.expiry, now: exchange.now)
      switch claim {
      case .claimed: return exchange.tokenRefusal(.here(.codeUsed))
      case .spent:
        try await endTokens()
        return exchange.tokenRefusal(.here(.codeUsed))
      case .granted(let attempt): return try await redeem(attempt)
      }
    } catch {
      // The store is full or away: without it single use cannot be promised.
      return exchange.tokenRefusal(.here(.storeUnavailable))
    }
  }

  /// Two parties have the code and its proof: the tokens that were issued for it end (RFC 6749, section 4.1.2).
  private func endTokens() async throws(StoreError) {
    let sealed = try await ledger.takeTokens(of: permit.family, now: exchange.now)
    let kept = sealed.flatMap { sealed in
      try? exchange.gateway.sealer.open(KeptTokens.self, from: String(stored: sealed), in: tokensBinding)
    }
    let lived = try await exchange.endFamily(
      permit.family, of: permit.client, revoking: kept == nil ? 0 : 1)
    guard lived || kept != nil else { return }
    await exchange.revoke(kept?.tokens ?? [], with: permit.revocation)
  }

  private var tokensBinding: SealBinding {
    StoreKey(.tokens, id: permit.family).binding(exchange.gateway.resources.store)
  }

  /// Ends the claim once the upstream has answered. The answer is never lost: without the store the claim stays as it is,
  /// which refuses a second use too.
  private func spend(_ attempt: RedemptionLedger.Attempt, _ members: [String: JSONValue] = [:]) async {
    do throws(StoreError) {
      try await ledger.spend(attempt, now: exchange.now)
      // Where the upstream can revoke, a replay of the code ends the tokens of this redemption.
      guard !exchange.policy.upstream.endpoints.revocation.isEmpty, !members.isEmpty else { return }
      let tokens = KeptTokens(exchange.upstreamTokens(in: members))
      let sealed = exchange.gateway.sealer.seal(tokens, in: tokensBinding).storedBytes
      if try await ledger.keep(sealed, of: attempt, now: exchange.now) { return }
      exchange.trail.findings.append("tokens-not-kept")
    } catch {
      exchange.trail.findings.append("claim-not-spent")
    }
  }

  private func redeem(_ attempt: RedemptionLedger.Attempt) async throws(StoreError) -> Response {
    switch await exchange.askForTokens(permit.upstream) {
    case .failure(let failure):
      if failure.nothingWasSent {
        try await ledger.release(attempt, now: exchange.now)
      } else {
        try await ledger.leaveUnsettled(attempt, now: exchange.now)
      }
      return exchange.tokenFailure(failure)
    case .success(let answer):
      switch answer.answer {
      case .unusable: try await ledger.leaveUnsettled(attempt, now: exchange.now)
      case .error(.serverError, _), .error(.temporarilyUnavailable, _):
        try await ledger.leaveUnsettled(attempt, now: exchange.now)
      // The upstream refused the credentials and did not look at the code. Spent, it would be lost to the client if
      // another program presented wrong credentials with it.
      case .error(.invalidClient, _): try await ledger.leaveUnsettled(attempt, now: exchange.now)
      case .error: await spend(attempt)
      case .tokens(let members): await spend(attempt, members)
      }
      if attempt.isRetry, case .error(let code, _) = answer.answer, code != .invalidClient {
        // An earlier attempt may have used up the upstream's code, which is not the client's fault.
        return exchange.tokenRefusal(.here(.upstreamFailed))
      }
      guard case .tokens(let members) = answer.answer else {
        return exchange.answer(answer, isHeld: permit.upstream.usesHeldCredentials)
      }
      return exchange.tokens(seal(members))
    }
  }

  private func seal(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var members = members
    guard permit.sealsRefreshToken, let token = members["refresh_token"]?.text else { return members }
    let granted = members["scope"]?.text.flatMap { Scope(parsing: $0) }
    let grant = RefreshGrant(
      family: permit.family, generation: 0, epoch: exchange.gateway.resources.families.epoch,
      clientID: permit.client.id, scope: granted ?? permit.code.scope,
      upstreamClientID: permit.code.upstreamClientID, upstreamRefreshToken: Secret(token), issuedAt: exchange.now)
    members["refresh_token"] = .string(exchange.gateway.sealer.seal(grant))
    return members
  }
}
