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
    /// Tokens were issued before: a replay. With what `spend` kept.
    case spent(kept: [UInt8])
  }

  /// The first byte of an entry. One entry a code, for as long as the code lives: a login costs memory for no longer.
  private enum Mark {
    static let claimed: UInt8 = 1
    /// What is kept follows.
    static let spent: UInt8 = 2
  }

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
    let until = expiry + store.clockTolerance
    if try await store.put(RedemptionLedger.key(transaction), [Mark.claimed], expiry: until, now: now) {
      return .granted(Attempt(transaction: transaction, isRetry: false, proof: proof, expiry: until))
    }
    if let entry = try await store.get(RedemptionLedger.key(transaction), now: now), entry.first == Mark.spent {
      return .spent(kept: Array(entry.dropFirst()))
    }
    if try await store.take(StoreKey(.unsettled, id: proof), now: now) != nil {
      return .granted(Attempt(transaction: transaction, isRetry: true, proof: proof, expiry: until))
    }
    return .claimed
  }

  /// No complete request was sent upstream: the code is as good as before.
  public func release(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    guard !attempt.isRetry else { return try await leaveUnsettled(attempt, now: now) }
    try await store.remove(RedemptionLedger.key(attempt.transaction), now: now)
  }

  /// A complete request was sent upstream and no usable answer came back.
  public func leaveUnsettled(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    _ = try await store.put(StoreKey(.unsettled, id: attempt.proof), [1], expiry: attempt.expiry, now: now)
  }

  /// The upstream issued tokens, or refused for good.
  ///
  /// - Parameter kept: What a replay gives back, sealed: how to end the tokens. A store without room keeps nothing, for
  ///   tokens that were issued are worth more to the client than their end at a replay.
  /// - Returns: Whether it was kept.
  @discardableResult
  public func spend(_ attempt: Attempt, keeping kept: [UInt8] = [], now: Int64) async throws(StoreError) -> Bool {
    do throws(StoreError) {
      try await mark(attempt, [Mark.spent] + kept, now: now)
      return true
    } catch .full {
      // As long as the entry that is there: this needs no room.
      try await mark(attempt, [Mark.spent], now: now)
      return false
    }
  }

  private func mark(_ attempt: Attempt, _ entry: [UInt8], now: Int64) async throws(StoreError) {
    let key = RedemptionLedger.key(attempt.transaction)
    if try await store.replace(key, [Mark.claimed], with: entry, expiry: attempt.expiry, now: now) { return }
    // The claim ended while the upstream took its time.
    _ = try await store.put(key, entry, expiry: attempt.expiry, now: now)
  }

  private static func key(_ transaction: TransactionID) -> StoreKey { StoreKey(.claim, id: transaction.bytes) }

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
