internal import Cryptography
public import OAuth

/// Who may redeem the code of a transaction (`I-token`, RFC 6749, section 4.1.2).
///
///     unclaimed --claim--> claimed --spend--> spent
///         ^                  |  ^
///         |   release        |  | claim with the same proof
///         +------------------+  |
///                            +--+ leaveUnsettled
///
/// A claim is granted to one of any number of callers, on any number of replicas. It is released only if no complete
/// request went upstream. If one did and no answer came back, nobody knows whether the upstream's code is used up:
/// then whoever proves to be the same client with the same verifier may try again, one at a time, and a refusal by the
/// upstream is its failure (502), not the client's. If the process dies with a claim, the claim stays until it expires.
public struct RedemptionLedger: Sendable {
  /// A granted claim. Whoever holds it calls exactly one of `release`, `leaveUnsettled`, `spend`.
  public struct Attempt: Hashable, Sendable {
    public let transaction: TransactionID
    /// Whether an earlier attempt may have used up the upstream's code: its refusal is then 502.
    public let isRetry: Bool
    let proof: [UInt8]
    let expiry: Int64
  }

  public enum Claim: Hashable, Sendable {
    case granted(Attempt)
    /// Another attempt is under way, or ended without an answer and this is not the same client and verifier.
    case claimed
    /// Tokens were issued before: a replay.
    case spent
  }

  /// Seconds that an entry outlives its code, so that the clocks of replicas may differ.
  private static let margin: Int64 = 60

  private let store: any EphemeralStore

  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// Claims the single use of a code, after all other checks of the token request have passed.
  /// - Parameters:
  ///   - verifier: what the client proved itself with; empty for a code without a challenge.
  ///   - expiry: the code's, in seconds since 1970.
  public func claim(
    _ transaction: TransactionID, client: ClientID, verifier: Secret?, expiry: Int64, now: Int64
  ) async throws(StoreError) -> Claim {
    let proof = RedemptionLedger.proof(transaction, client, verifier)
    let kept = expiry + RedemptionLedger.margin
    if try await store.put(StoreKey(.claim, id: transaction.bytes), [1], expiry: kept, now: now) {
      return .granted(Attempt(transaction: transaction, isRetry: false, proof: proof, expiry: kept))
    }
    if try await store.get(StoreKey(.spent, id: transaction.bytes), now: now) != nil { return .spent }
    if try await store.take(StoreKey(.unsettled, id: proof), now: now) != nil {
      return .granted(Attempt(transaction: transaction, isRetry: true, proof: proof, expiry: kept))
    }
    return .claimed
  }

  /// No complete request was sent upstream: the code is as good as before.
  public func release(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    guard !attempt.isRetry else { return try await leaveUnsettled(attempt, now: now) }
    try await store.remove(StoreKey(.claim, id: attempt.transaction.bytes), now: now)
  }

  /// A complete request was sent upstream and no usable answer came back.
  public func leaveUnsettled(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    _ = try await store.put(StoreKey(.unsettled, id: attempt.proof), [1], expiry: attempt.expiry, now: now)
  }

  /// The upstream issued tokens, or refused for good.
  public func spend(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    _ = try await store.put(
      StoreKey(.spent, id: attempt.transaction.bytes), [1], expiry: attempt.expiry, now: now)
  }

  /// A name for "this client with this verifier at this transaction" from which the verifier cannot be read.
  private static func proof(_ transaction: TransactionID, _ client: ClientID, _ verifier: Secret?) -> [UInt8] {
    var text = transaction.bytes
    // A digest has a fixed length, so no client id can run into the verifier.
    text += sha256(Array(client.rawValue.utf8))
    text += Array((verifier?.reveal() ?? "").utf8)
    defer { wipe(&text) }
    return sha256(text)
  }
}
