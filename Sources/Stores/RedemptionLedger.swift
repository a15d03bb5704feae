internal import Cryptography
public import OAuth
public import Time

/// Enforces the single use of codes (invariant `I-token`; RFC 6749, section 4.1.2).
///
///     unclaimed --claim--> claimed --spend--> spent
///         ^                 |  | ^
///         +---- release ----+  | | claim with the same proof
///       leaveUnsettled, the    v |
///       end of the lease,  unsettled
///       the end of the process
///
/// Of any number of callers that use the same store, only one gets the claim. A claim is released only if no complete
/// request was sent upstream. If a request was sent and no usable response came back, the upstream code may be used up,
/// and the claim becomes unsettled. Then the same client with the same verifier (the same proof) may try again, one
/// request at a time. If the upstream refuses such a retry, this counts as a failure of the upstream (502), not as an
/// error of the client.
///
/// A claim has a lease, i.e. a time limit. The caller chooses a lease that is longer than any upstream request takes.
/// If a process ends while it holds a claim, it is unknown if the upstream code was used. The claim then counts as
/// unsettled as soon as the store finds the process gone (`EphemeralStore.isGone`), and at the latest when the lease
/// has ended. A process that was only stopped or cut off may return after another request has taken over its claim. So
/// the caller delivers the tokens only if no other request has taken over the claim (`spend`, `isHeld`).
///
/// Each claim contains a nonce: the id of the process that holds the claim, and bytes that are random for each request.
/// The store changes the record of a claim only if the record still has this nonce, so only the request that holds the
/// claim can change it.
///
/// If the store does not answer when a code is spent, the ledger remembers that the code is spent, and the store records
/// it as soon as it answers again. Only the end of the process in between loses this record.
///
/// A claim is made only in the epoch in which the code was sealed. A store that has begun another epoch since then may
/// have lost the claim of another request for the code.
public struct RedemptionLedger: Sendable {
  /// A granted claim. The caller ends it with exactly one call of `release`, `leaveUnsettled` or `spend`.
  public struct Attempt: Hashable, Sendable {
    /// The id of the claim on the code. It has the form of a transaction's id.
    public let claimID: TransactionID
    /// True if an earlier attempt may have used up the upstream code; a refusal by the upstream is then answered with
    /// 502.
    public let isRetry: Bool
    /// The epoch of the store when the code was claimed. Refresh tokens of this redemption contain it.
    public let epoch: EpochID
    /// The record of the claim, as the store has it.
    let record: ClaimRecord
    /// The client and network that the claim is charged to.
    let holder: StoreHolder
    /// The expiry of the record.
    let expiry: UnixTime
  }

  /// The result of `claim`.
  public enum Claim: Hashable, Sendable {
    /// The caller may redeem the upstream code.
    case granted(Attempt)
    /// An attempt of the same client with the same verifier is in progress. It is not known yet if it will succeed.
    case busy
    /// An attempt of another client or with another verifier is in progress or unsettled.
    case claimedByOther
    /// The claim has ended for good: the upstream has issued tokens for the code, or has refused the code. This use is
    /// a replay.
    case spent
  }

  private let store: any EphemeralStore
  private let nonces = NoncePool()
  private let unwritten = UnwrittenRecords()

  /// Creates a ledger that keeps its entries in `store`.
  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// Claims the single use of a code. Call it after all other checks of the token request have passed.
  ///
  /// - Parameters:
  ///   - claimID: the id of the claim, a digest of the upstream code.
  ///   - verifier: the PKCE verifier; `nil` for a code without a challenge.
  ///   - holder: the client and network that the claim is charged to.
  ///   - epoch: the epoch in which the code was sealed. If the store is in another one, the claim fails with
  ///     `.unavailable`.
  ///   - lease: the maximum time for which the caller holds the claim. After this time and the tolerance for
  ///     differences between clocks, the claim counts as unsettled.
  ///   - expiry: the expiry of the code.
  public func claim(
    _ claimID: TransactionID, client: ClientID, verifier: Secret?, holder: StoreHolder, epoch: EpochID,
    lease: Seconds, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Claim {
    guard unwritten.record(of: claimID, now: now) == nil else { return .spent }
    let key = RedemptionLedger.key(claimID)
    let until = expiry + store.clockTolerance
    let currentEpoch = store.epoch
    let claimant = store.beginHold()
    var isGranted = false
    defer { if !isGranted { store.endHold() } }
    let record = ClaimRecord(
      state: .claimed, claimant: claimant, requestNonce: nonces.take(ClaimRecord.nonceLength - ClaimantID.length),
      leaseEnd: now + lease + store.clockTolerance, proof: RedemptionLedger.proof(claimID, client, verifier))
    func granted(isRetry: Bool) -> Claim {
      isGranted = true
      return .granted(
        Attempt(
          claimID: claimID, isRetry: isRetry, epoch: currentEpoch, record: record, holder: holder,
          expiry: until))
    }
    // `put` returns `nil` if it has stored the record, because the code had no record.
    guard let bytes = try await store.put(key, record.bytes, in: epoch, holder: holder, expiry: until, now: now)
    else { return granted(isRetry: false) }
    guard let existing = ClaimRecord(parsing: bytes) else { return .claimedByOther }
    switch existing.state {
    case .spent: return .spent
    case .claimed, .unsettled:
      guard existing.proof == record.proof else { return .claimedByOther }
      if existing.state == .claimed, existing.leaseEnd > now {
        guard await store.isGone(existing.claimant) else { return .busy }
      }
      // If the epoch has changed since the record was read, the store may now contain an older record.
      guard store.epoch == currentEpoch else { throw .unavailable("the store has begun another epoch") }
      do throws(StoreError) {
        guard try await store.replace(key, bytes, with: record.bytes, expiry: until, now: now) else { return .busy }
      } catch {
        // The store may have made the claim although the operation failed. This request does not use the claim.
        await store.replaceLater(key, record.bytes, with: bytes, expiry: until)
        throw error
      }
      return granted(isRetry: true)
    }
  }

  /// Returns true if no other request can take over the claim within `time` from now. Check it just before the upstream
  /// is contacted.
  public func isHeld(_ attempt: Attempt, for time: Milliseconds) -> Bool {
    store.isAlive(attempt.record.claimant, for: time)
  }

  /// Releases a claim for which no complete request was sent upstream. Afterwards, the code is unclaimed, or unsettled
  /// again if the claim was that of a retry.
  public func release(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    guard !attempt.isRetry else { return try await leaveUnsettled(attempt, now: now) }
    defer { store.endHold() }
    let key = RedemptionLedger.key(attempt.claimID)
    do throws(StoreError) {
      _ = try await store.remove(key, attempt.record.bytes, now: now)
    } catch {
      await store.replaceLater(key, attempt.record.bytes, with: nil, expiry: attempt.expiry)
      throw error
    }
  }

  /// Permits a retry after a complete request was sent upstream and no usable answer came back.
  public func leaveUnsettled(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    defer { store.endHold() }
    _ = try await change(attempt, to: .unsettled, now: now)
  }

  /// Ends a claim for good: the upstream issued tokens, or refused the code. Returns false if another request has taken
  /// over the claim. The client must not get the upstream's answer then, because the other request may get tokens too.
  ///
  /// Throws `.unavailable` if the store does not answer. If this process holds the claim all the same (`isHeld`), the code
  /// is spent in this process from then on, and in the store as soon as it answers.
  @discardableResult
  public func spend(_ attempt: Attempt, now: UnixTime) async throws(StoreError) -> Bool {
    defer { store.endHold() }
    var record = attempt.record
    record.state = .spent
    do throws(StoreError) {
      if try await change(attempt, to: .spent, now: now) { return true }
      // The store no longer has the record of the claim, or another request has taken over the claim. Only in the first
      // case, `put` stores that the code is spent.
      let existing = try await store.put(
        RedemptionLedger.key(attempt.claimID), record.bytes, holder: attempt.holder, expiry: attempt.expiry, now: now)
      return existing == nil || existing == record.bytes
    } catch {
      if isHeld(attempt, for: 0) {
        unwritten.add(
          attempt.claimID, replacing: attempt.record.bytes, by: record.bytes, expiry: attempt.expiry, now: now)
      }
      throw error
    }
  }

  private func change(
    _ attempt: Attempt, to state: ClaimRecord.State, now: UnixTime
  ) async throws(StoreError) -> Bool {
    var record = attempt.record
    record.state = state
    let key = RedemptionLedger.key(attempt.claimID)
    do throws(StoreError) {
      return try await store.replace(key, attempt.record.bytes, with: record.bytes, expiry: attempt.expiry, now: now)
    } catch {
      await store.replaceLater(key, attempt.record.bytes, with: record.bytes, expiry: attempt.expiry)
      throw error
    }
  }

  // MARK: Tokens of a spent code

  /// Stores the sealed tokens that are to be revoked if the code is replayed. Returns false if the store has no room
  /// for them or if they are too long. Throws `.unavailable`.
  public func storeTokens(_ sealed: [UInt8], of attempt: Attempt, now: UnixTime) async throws(StoreError) -> Bool {
    do throws(StoreError) {
      _ = try await store.put(
        StoreKey(.tokens, id: attempt.claimID), sealed, holder: attempt.holder, expiry: attempt.expiry, now: now)
      return true
    } catch {
      // `.full` and `.tooLong` are not errors here: the client gets its tokens, although they cannot be revoked after a
      // replay.
      if case .unavailable = error { throw error }
      return false
    }
  }

  /// Removes and returns the tokens that `storeTokens` stored, so that only one caller gets them.
  public func takeTokens(of claimID: TransactionID, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await store.take(StoreKey(.tokens, id: claimID), now: now)
  }

  private static func key(_ claimID: TransactionID) -> StoreKey { StoreKey(.claim, id: claimID) }

  /// Returns a digest of client, verifier and id of the claim, from which the verifier cannot be read.
  private static func proof(_ claimID: TransactionID, _ client: ClientID, _ verifier: Secret?) -> [UInt8] {
    let verifier = verifier?.reveal() ?? ""
    var text: [UInt8] = []
    text.reserveCapacity(TransactionID.byteCount + 4 + client.rawValue.utf8.count + verifier.utf8.count)
    text += claimID.bytes
    // The id of the claim has a fixed length, and the length of the client id is written in front of the client id. So
    // different claims, clients or verifiers never give the same text.
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
