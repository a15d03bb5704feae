internal import Cryptography
public import OAuth

/// Grants the single use of a code (`I-token`, RFC 6749, section 4.1.2).
///
///     unclaimed --claim--> claimed --spend--> spent
///         ^                  |  ^
///         |   release        |  | claim with the same proof
///         +------------------+  |
///                            +--+ leaveUnsettled
///
/// A claim is granted to one of any number of callers, on any number of replicas. It is released only if no complete
/// request went upstream. If one did and no answer came back, the upstream's code may be used up: then the same client
/// with the same verifier may try again, one request at a time, and a refusal by the upstream is its failure (502), not
/// the client's. If the process dies with a claim, the claim stays until it expires.
///
/// The claimant is a random nonce of one request. Every change of a claim compares it in the same step.
public struct RedemptionLedger: Sendable {
  /// A granted claim. Its holder calls exactly one of `release`, `leaveUnsettled`, `spend`.
  public struct Attempt: Hashable, Sendable {
    public let transaction: TransactionID
    /// True if an earlier attempt may have used up the upstream's code: its refusal is then 502.
    public let isRetry: Bool
    let record: ClaimRecord
    let holder: StoreHolder
    let expiry: Int64
  }

  public enum Claim: Hashable, Sendable {
    case granted(Attempt)
    /// Another attempt is under way, or ended without an answer and this is not the same client and verifier.
    case claimed
    /// Tokens were issued before: a replay.
    case spent
  }

  private let store: any EphemeralStore

  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// Claims the single use of a code, after all other checks of the token request have passed.
  ///
  /// - Parameters:
  ///   - verifier: The client's proof; `nil` for a code without a challenge.
  ///   - holder: The client and network that the claim is charged to.
  ///   - expiry: The code's, in seconds since 1970.
  public func claim(
    _ transaction: TransactionID, client: ClientID, verifier: Secret?, holder: StoreHolder, expiry: Int64, now: Int64
  ) async throws(StoreError) -> Claim {
    let key = RedemptionLedger.key(transaction)
    let until = expiry + store.clockTolerance
    let record = ClaimRecord(
      state: .claimed, nonce: randomBytes(ClaimRecord.nonceLength),
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

  /// Releases a claim for which no complete request was sent upstream: the code is as good as before.
  public func release(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    guard !attempt.isRetry else { return try await leaveUnsettled(attempt, now: now) }
    _ = try await store.remove(RedemptionLedger.key(attempt.transaction), attempt.record.bytes, now: now)
  }

  /// Opens a claim to a retry: a complete request was sent upstream and no usable answer came back.
  public func leaveUnsettled(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    _ = try await change(attempt, to: .unsettled, now: now)
  }

  /// Ends a claim: the upstream issued tokens, or refused for good.
  public func spend(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    if try await change(attempt, to: .spent, now: now) { return }
    // The claim expired while the upstream took its time. A claim of another request stays.
    var record = attempt.record
    record.state = .spent
    _ = try await store.put(
      RedemptionLedger.key(attempt.transaction), record.bytes, holder: attempt.holder, expiry: attempt.expiry, now: now)
  }

  private func change(
    _ attempt: Attempt, to state: ClaimRecord.State, now: Int64
  ) async throws(StoreError) -> Bool {
    var record = attempt.record
    record.state = state
    return try await store.replace(
      RedemptionLedger.key(attempt.transaction), attempt.record.bytes, with: record.bytes, expiry: attempt.expiry,
      now: now)
  }

  // MARK: Tokens of a spent code

  /// Keeps the sealed tokens that a replay of the code has to revoke. Returns whether there was room.
  public func keep(_ sealed: [UInt8], of attempt: Attempt, now: Int64) async throws(StoreError) -> Bool {
    do throws(StoreError) {
      _ = try await store.put(
        StoreKey(.tokens, id: attempt.transaction), sealed, holder: attempt.holder, expiry: attempt.expiry, now: now)
      return true
    } catch {
      // Issued tokens are worth more to the client than their end at a replay.
      if case .unavailable = error { throw error }
      return false
    }
  }

  /// Returns what `keep` kept, once.
  public func takeTokens(of transaction: TransactionID, now: Int64) async throws(StoreError) -> [UInt8]? {
    try await store.take(StoreKey(.tokens, id: transaction), now: now)
  }

  private static func key(_ transaction: TransactionID) -> StoreKey { StoreKey(.claim, id: transaction) }

  /// A name for "this client with this verifier at this transaction" from which the verifier cannot be read.
  private static func proof(_ transaction: TransactionID, _ client: ClientID, _ verifier: Secret?) -> [UInt8] {
    var text = transaction.bytes
    // A digest has a fixed length, so no client id can run into the verifier.
    text += sha256(Array(client.rawValue.utf8))
    text += Array((verifier?.reveal() ?? "").utf8)
    defer { wipe(&text) }
    return Array(sha256(text).prefix(ClaimRecord.proofLength))
  }
}

/// The value of a claim: a state, the nonce of the request that holds it, and the proof that a retry has to bring.
struct ClaimRecord: Hashable {
  enum State: UInt8 {
    case claimed = 1
    case spent = 2
    case unsettled = 3
  }

  static let nonceLength = 16
  static let proofLength = 16
  static let length = 1 + nonceLength + proofLength

  var state: State
  let nonce: [UInt8]
  let proof: [UInt8]

  init(state: State, nonce: [UInt8], proof: [UInt8]) {
    self.state = state
    self.nonce = nonce
    self.proof = proof
  }

  /// `nil` for bytes that no version of the gateway wrote.
  init?(parsing bytes: [UInt8]) {
    guard bytes.count == ClaimRecord.length, let state = State(rawValue: bytes[0]) else { return nil }
    self.state = state
    nonce = Array(bytes[1..<1 + ClaimRecord.nonceLength])
    proof = Array(bytes[(1 + ClaimRecord.nonceLength)...])
  }

  var bytes: [UInt8] { [state.rawValue] + nonce + proof }
}
