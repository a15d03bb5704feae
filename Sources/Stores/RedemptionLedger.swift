internal import Cryptography
public import OAuth
public import Time

/// Enforces the single use of codes (invariant `I-token`; RFC 6749, section 4.1.2).
///
///     unclaimed --claim--> claimed --spend--> spent
///         ^                 |  | ^
///         +---- release ----+  | | claim with the same proof
///              leaveUnsettled  v |
///                          unsettled
///
/// Of any number of callers that use the same store, only one gets the claim. A claim is released only if no complete
/// request was sent upstream. If a request was sent and no usable response came back, the upstream code may be used up,
/// and the claim becomes unsettled. Then the same client with the same verifier may try again, one request at a time.
/// If the upstream refuses such a retry, this counts as a failure of the upstream (502), not as an error of the client.
/// If the process ends while it holds a claim, the claim stays until it expires.
///
/// Each claim contains a random nonce of its request. The store changes a claim only if its record still has this
/// nonce, so only the request that holds the claim can change it.
public struct RedemptionLedger: Sendable {
  /// A granted claim. The caller ends it with exactly one call of `release`, `leaveUnsettled` or `spend`.
  public struct Attempt: Hashable, Sendable {
    /// The transaction of the code.
    public let transaction: TransactionID
    /// True if an earlier attempt may have used up the upstream code; a refusal by the upstream is then answered with
    /// 502.
    public let isRetry: Bool
    let record: ClaimRecord
    /// The client and network that the claim is charged to.
    let holder: StoreHolder
    let expiry: UnixTime
  }

  /// The result of `claim`.
  public enum Claim: Hashable, Sendable {
    /// The caller may redeem the upstream code.
    case granted(Attempt)
    /// Another attempt is in progress, or an unsettled attempt belongs to another client or verifier.
    case claimed
    /// Tokens were issued for the code before: this is a replay.
    case spent
  }

  private let store: any EphemeralStore
  private let nonces = NoncePool()

  /// Creates a ledger that keeps its entries in `store`.
  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// Claims the single use of a code. Call it after all other checks of the token request have passed.
  ///
  /// - Parameters:
  ///   - verifier: the PKCE verifier; `nil` for a code without a challenge.
  ///   - holder: the client and network that the claim is charged to.
  ///   - expiry: the expiry of the code.
  public func claim(
    _ transaction: TransactionID, client: ClientID, verifier: Secret?, holder: StoreHolder, expiry: UnixTime,
    now: UnixTime
  ) async throws(StoreError) -> Claim {
    let key = RedemptionLedger.key(transaction)
    let until = expiry + store.clockTolerance
    let record = ClaimRecord(
      state: .claimed, nonce: nonces.take(ClaimRecord.nonceLength),
      proof: RedemptionLedger.proof(transaction, client, verifier))
    guard let bytes = try await store.put(key, record.bytes, holder: holder, expiry: until, now: now) else {
      return .granted(
        Attempt(transaction: transaction, isRetry: false, record: record, holder: holder, expiry: until))
    }
    let existing = ClaimRecord(parsing: bytes)
    switch existing?.state {
    case .spent: return .spent
    case .unsettled where existing?.proof == record.proof:
      guard try await store.replace(key, bytes, with: record.bytes, expiry: until, now: now) else { return .claimed }
      return .granted(Attempt(transaction: transaction, isRetry: true, record: record, holder: holder, expiry: until))
    case .claimed, .unsettled, nil: return .claimed
    }
  }

  /// Releases a claim for which no complete request was sent upstream. The code can be redeemed as before the claim:
  /// the claim of a retry becomes unsettled again.
  public func release(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    guard !attempt.isRetry else { return try await leaveUnsettled(attempt, now: now) }
    _ = try await store.remove(RedemptionLedger.key(attempt.transaction), attempt.record.bytes, now: now)
  }

  /// Permits a retry after a complete request was sent upstream and no usable answer came back.
  public func leaveUnsettled(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    _ = try await change(attempt, to: .unsettled, now: now)
  }

  /// Ends a claim for good: the upstream issued tokens, or refused the code.
  public func spend(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    if try await change(attempt, to: .spent, now: now) { return }
    // The claim has expired in the meantime. `put` records that the code is spent, unless another request has a claim.
    var record = attempt.record
    record.state = .spent
    _ = try await store.put(
      RedemptionLedger.key(attempt.transaction), record.bytes, holder: attempt.holder, expiry: attempt.expiry, now: now)
  }

  private func change(
    _ attempt: Attempt, to state: ClaimRecord.State, now: UnixTime
  ) async throws(StoreError) -> Bool {
    var record = attempt.record
    record.state = state
    return try await store.replace(
      RedemptionLedger.key(attempt.transaction), attempt.record.bytes, with: record.bytes, expiry: attempt.expiry,
      now: now)
  }

  // MARK: Tokens of a spent code

  /// Stores the sealed tokens that are to be revoked if the code is replayed. Returns false if the store has no room
  /// for them. Throws `.unavailable`.
  public func keep(_ sealed: [UInt8], of attempt: Attempt, now: UnixTime) async throws(StoreError) -> Bool {
    do throws(StoreError) {
      _ = try await store.put(
        StoreKey(.tokens, id: attempt.transaction), sealed, holder: attempt.holder, expiry: attempt.expiry, now: now)
      return true
    } catch {
      // A full store is not an error here: the client gets its tokens, although they cannot be revoked after a replay.
      if case .unavailable = error { throw error }
      return false
    }
  }

  /// Removes and returns the tokens that `keep` stored, so that only one caller gets them.
  public func takeTokens(of transaction: TransactionID, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await store.take(StoreKey(.tokens, id: transaction), now: now)
  }

  private static func key(_ transaction: TransactionID) -> StoreKey { StoreKey(.claim, id: transaction) }

  /// Returns a digest of client, verifier and transaction, from which the verifier cannot be read.
  private static func proof(_ transaction: TransactionID, _ client: ClientID, _ verifier: Secret?) -> [UInt8] {
    let verifier = verifier?.reveal() ?? ""
    var text: [UInt8] = []
    text.reserveCapacity(TransactionID.byteCount + 4 + client.rawValue.utf8.count + verifier.utf8.count)
    text += transaction.bytes
    // The transaction id has a fixed length, and the length of the client id is written in front of the client id. So
    // different transactions, clients or verifiers never give the same text.
    var length = UInt32(client.rawValue.utf8.count)
    for _ in 0..<4 {
      text.append(UInt8(truncatingIfNeeded: length))
      length >>= 8
    }
    text += client.rawValue.utf8
    text += verifier.utf8
    defer { wipe(&text) }
    return Array(sha256(text).prefix(ClaimRecord.proofLength))
  }
}

/// The stored value of a claim: a state, the nonce of the request that holds the claim, and the proof that a retry must
/// match.
struct ClaimRecord: Hashable {
  /// The state of a claim, as in the diagram of `RedemptionLedger`.
  enum State: UInt8 {
    case claimed = 1
    case spent = 2
    case unsettled = 3
  }

  static let nonceLength = 16
  static let proofLength = 16
  static let length = 1 + nonceLength + proofLength

  /// The stored value: the state in one byte, the nonce and the proof.
  private(set) var bytes: [UInt8]
  var state: State {
    didSet { bytes[0] = state.rawValue }
  }

  /// Creates the record of a new claim from ``nonceLength`` random bytes and a proof of ``proofLength`` bytes.
  init(state: State, nonce: [UInt8], proof: [UInt8]) {
    self.state = state
    bytes = []
    bytes.reserveCapacity(ClaimRecord.length)
    bytes.append(state.rawValue)
    bytes += nonce
    bytes += proof
  }

  /// Parses a stored value; `nil` for bytes that no version of the gateway has written.
  init?(parsing bytes: [UInt8]) {
    guard bytes.count == ClaimRecord.length, let state = State(rawValue: bytes[0]) else { return nil }
    self.state = state
    self.bytes = bytes
  }

  /// The proof that a retry must match.
  var proof: ArraySlice<UInt8> { bytes[(1 + ClaimRecord.nonceLength)...] }
}
