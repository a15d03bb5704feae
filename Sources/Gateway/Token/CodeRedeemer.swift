import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

/// The single redemption of a code, from its claim to the response (`I-token`; RFC 6749, section 4.1.2).
struct CodeRedeemer {
  private let intercepted: InterceptedRequest
  private let permit: RedemptionPermit
  private var ledger: RedemptionLedger { intercepted.gateway.resources.ledger }

  init(_ intercepted: InterceptedRequest, _ permit: RedemptionPermit) {
    self.intercepted = intercepted
    self.permit = permit
  }

  func respond() async -> Response {
    intercepted.trail.family = permit.family
    do throws(StoreError) {
      let claim = try await ledger.claim(
        permit.family, client: permit.client.id, verifier: permit.verifier,
        holder: intercepted.holder(permit.client),
        expiry: permit.code.expiry, now: intercepted.now)
      switch claim {
      case .claimed: return intercepted.tokenRejection(.here(.codeUsed))
      case .spent:
        try await endTokens()
        return intercepted.tokenRejection(.here(.codeUsed))
      case .granted(let attempt): return try await redeem(attempt)
      }
    } catch {
      // The store is full or unavailable: without it, single use cannot be guaranteed.
      return intercepted.tokenRejection(.here(.storeUnavailable))
    }
  }

  /// Ends the tokens that were issued for the code, because two parties have the code and its proof (RFC 6749,
  /// section 4.1.2).
  private func endTokens() async throws(StoreError) {
    let sealed = try await ledger.takeTokens(of: permit.family, now: intercepted.now)
    let kept = sealed.flatMap { sealed in
      try? intercepted.gateway.sealer.open(RevocableTokens.self, from: String(stored: sealed), in: tokensBinding)
    }
    let lived = try await intercepted.revokeFamily(
      permit.family, of: permit.client, revoking: kept == nil ? 0 : 1)
    guard lived || kept != nil else { return }
    await intercepted.revoke(kept?.tokens ?? [], with: permit.revocation)
  }

  private var tokensBinding: SealBinding {
    StoreKey(.tokens, id: permit.family).binding(intercepted.gateway.resources.store)
  }

  /// Ends the claim after the upstream's response. The response is never lost: if the store is unavailable, the claim
  /// stays as it is, which refuses a second use, too.
  private func spend(_ attempt: RedemptionLedger.Attempt, _ members: [String: JSONValue] = [:]) async {
    do throws(StoreError) {
      try await ledger.spend(attempt, now: intercepted.now)
      // If the upstream can revoke tokens, a replay of the code ends the tokens of this redemption.
      guard !intercepted.policy.upstream.endpoints.revocation.isEmpty, !members.isEmpty else { return }
      let tokens = RevocableTokens(intercepted.upstreamTokens(in: members))
      let sealed = intercepted.gateway.sealer.seal(tokens, in: tokensBinding).storedBytes
      if try await ledger.keep(sealed, of: attempt, now: intercepted.now) { return }
      intercepted.trail.findings.append("tokens-not-kept")
    } catch {
      intercepted.trail.findings.append("claim-not-spent")
    }
  }

  private func redeem(_ attempt: RedemptionLedger.Attempt) async throws(StoreError) -> Response {
    switch await intercepted.requestTokens(permit.upstream) {
    case .failure(let failure):
      if failure.nothingWasSent {
        try await ledger.release(attempt, now: intercepted.now)
      } else {
        try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      }
      return intercepted.tokenFailure(failure)
    case .success(let answer):
      switch answer.answer {
      case .unusable: try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      case .error(.serverError, _), .error(.temporarilyUnavailable, _):
        try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      // The upstream refused the credentials and did not look at the code. If the code were spent, another program
      // could make the client lose it by presenting it with wrong credentials.
      case .error(.invalidClient, _): try await ledger.leaveUnsettled(attempt, now: intercepted.now)
      case .error: await spend(attempt)
      case .tokens(let members): await spend(attempt, members)
      }
      if attempt.isRetry, case .error(let code, _) = answer.answer, code != .invalidClient {
        // An earlier attempt may have used up the upstream's code, which is not the client's fault.
        return intercepted.tokenRejection(.here(.upstreamFailed))
      }
      guard case .tokens(let members) = answer.answer else {
        return intercepted.relay(answer, usedGatewayCredentials: permit.upstream.usesGatewayCredentials)
      }
      return intercepted.tokenResponse(seal(members))
    }
  }

  private func seal(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var members = members
    guard permit.sealsRefreshToken, let token = members["refresh_token"]?.text else { return members }
    let granted = members["scope"]?.text.flatMap { Scope(parsing: $0) }
    let grant = RefreshGrant(
      family: permit.family, generation: 0, epoch: intercepted.gateway.resources.families.epoch,
      clientID: permit.client.id, scope: granted ?? permit.code.scope,
      upstreamClientID: permit.code.upstreamClientID, upstreamRefreshToken: Secret(token), issuedAt: intercepted.now)
    members["refresh_token"] = .string(intercepted.gateway.sealer.seal(grant))
    return members
  }
}
