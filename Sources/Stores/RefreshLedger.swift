internal import Cryptography
public import OAuth
public import Time

/// Records the valid refresh token of each family (RFC 9700, sections 2.2.2 and 4.14.2; invariant `I-renewal`).
///
///     (no record) --claim--> busy --settle--> current --claim--> busy ...
///     release: from busy back to the state before the claim
///     end:     from any state to ended
///
/// A family is the set of refresh tokens that follow from one code. At any time one of them is valid. A request with
/// another token of the family shows that two parties hold its tokens, and the caller then ends the family. There are
/// two exceptions: a repeat shortly after the first use (`Claim.repeated`), and a token that the client received
/// although the store could not record it.
///
/// The first refresh creates the record, which contains digests of tokens. So a sign-in without a refresh uses no
/// memory. A claim reserves all the room that the family ever needs, so a response of the upstream is never lost
/// because the store is full.
///
/// A token contains its generation, i.e. the number of refreshes that led to it, and the epoch of the store in which it
/// was sealed. For a token of the current epoch with a generation of at least 1, a record must exist; otherwise the
/// token is refused. A token of an earlier epoch may be used once without a record; this use creates the record again.
///
/// A claim has a lease, i.e. a time limit. If a process ends while it holds a claim, the claim ends with its lease.
public struct RefreshLedger: Sendable {
  /// A granted claim. The caller ends it with exactly one call of `release` or `settle`.
  public struct Attempt: Hashable, Sendable {
    /// The family of the presented token.
    public let family: TransactionID
    /// True if the token is from an earlier epoch and the record of its family was lost, so that this claim has created
    /// the record again.
    public let isFromEarlierEpoch: Bool
    let record: [UInt8]
    /// The record that `release` restores; `nil` if the claim created the record.
    let recordBefore: [UInt8]?
    let generation: UInt32
    let token: [UInt8]
    let started: UnixTime
    let network: UInt64
    let isAdopted: Bool
    let expiry: UnixTime
  }

  /// The result of presenting a token of an ended family.
  public enum Ended: Hashable, Sendable {
    /// No token of this or a later generation has been presented since the end. The caller must revoke the upstream
    /// token that it contains.
    case first
    /// The caller has nothing to revoke: the upstream tokens up to this generation have already been revoked.
    case again
  }

  /// The result of `claim`.
  public enum Claim: Hashable, Sendable {
    /// The caller may refresh the upstream token.
    case granted(Attempt)
    /// A refresh with the same token is in progress, or other requests kept changing the record.
    case busy
    /// The token was used a moment ago, and its successor has not been used yet. The caller may repeat the response
    /// after a call of ``countRepeat(_:isAnswered:now:)``.
    case repeated
    /// The token was used before, or another token is valid or in use: two parties hold tokens of the family.
    case reused
    /// The family has ended.
    case ended(Ended)
    /// The token must have a record, but there is none.
    case missing
  }

  /// The time by which a record outlives its tokens, because the clocks of replicas may differ.
  private static let margin: Seconds = 60
  /// The maximum number of attempts to change a record. An attempt fails only if another request changes the record in
  /// the meantime.
  private static let maximumAttempts = 16
  /// The maximum number of times that the response to one use is repeated.
  private static let maximumRepeats: UInt8 = 8
  /// The time after the first use in which a repeat may come from another network: a phone that changes networks
  /// repeats at once.
  private static let handover: Seconds = 10

  private let store: any EphemeralStore

  /// Creates a ledger that keeps its entries in `store`.
  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// The epoch that new tokens must contain.
  public var epoch: EpochID { store.epoch }

  /// Claims the use of a token. Call it after all other checks of the request have passed.
  ///
  /// - Parameters:
  ///   - use: the presented token.
  ///   - lease: the time after which the claim ends by itself.
  ///   - now: the current time.
  public func claim(_ use: RefreshUse, lease: Seconds, now: UnixTime) async throws(StoreError) -> Claim {
    let key = RefreshLedger.key(use.family)
    let digest = RefreshLedger.digest(use.token)
    let generation = UInt32(clamping: use.generation)
    for _ in 0..<RefreshLedger.maximumAttempts {
      guard let old = try await store.get(key, now: now) else {
        guard use.generation == 0 || use.epoch != store.epoch else { return .missing }
        var record = FamilyRecord(state: .busy)
        record.isAdopted = use.isAdopted
        record.generation = generation
        record.token = digest
        let attempt = begin(
          use, &record, recordBefore: nil, isFromEarlierEpoch: use.generation > 0, lease: lease, now: now)
        let existing = try await store.put(
          key, attempt.record, holder: use.holder, expiry: attempt.expiry, now: now)
        if existing == nil { return .granted(attempt) }
        continue
      }
      guard var record = FamilyRecord(parsing: old) else { return .ended(.again) }
      switch record.state {
      case .ended:
        guard generation >= record.generation else { return .ended(.again) }
        if try await markRevoked(use, &record, old, now: now) { return .ended(.first) }
        continue
      case .busy where record.token == digest:
        guard record.leaseEnd <= now else { return .busy }
      case .busy where generation == record.generation + 1:
        // The client received this token as the successor of the recorded one, but the store could not record it.
        record.previous = record.token
        record.token = digest
        record.generation = generation
      case .current where record.token == digest: break
      case .current where record.previous == digest:
        return mayRepeat(use, record, now: now) ? .repeated : .reused
      case .current, .busy: return .reused
      }
      var settled = record
      settled.state = .current
      let attempt = begin(use, &record, recordBefore: settled.bytes, isFromEarlierEpoch: false, lease: lease, now: now)
      if try await store.replace(key, old, with: attempt.record, expiry: attempt.expiry, now: now) {
        return .granted(attempt)
      }
    }
    return .busy
  }

  /// Makes the record busy with a new nonce and returns the attempt that holds it.
  private func begin(
    _ use: RefreshUse, _ record: inout FamilyRecord, recordBefore: [UInt8]?, isFromEarlierEpoch: Bool, lease: Seconds,
    now: UnixTime
  ) -> Attempt {
    record.state = .busy
    record.nonce = randomBytes(FamilyRecord.digestLength)
    record.leaseEnd = now + lease
    return Attempt(
      family: use.family, isFromEarlierEpoch: isFromEarlierEpoch, record: record.bytes, recordBefore: recordBefore,
      generation: record.generation, token: record.token, started: now, network: use.network.code,
      isAdopted: record.isAdopted, expiry: recordExpiry(use, record, now))
  }

  /// Returns true if the response to the first use may be repeated (invariant `I-renewal`): within `use.window`, at
  /// most `maximumRepeats` times, and to the same network. The network does not matter if the policy accepts any
  /// network or if the first use was a moment ago (`handover`).
  private func mayRepeat(_ use: RefreshUse, _ record: FamilyRecord, now: UnixTime) -> Bool {
    let firstUse = record.firstUse
    guard now < firstUse + use.window, record.repeats < RefreshLedger.maximumRepeats else { return false }
    return use.acceptsAnyNetwork || record.network == use.network.code || now <= firstUse + RefreshLedger.handover
  }

  /// The first use of a token that is presented again.
  public struct FirstUse: Hashable, Sendable {
    /// The network of the first use, as text.
    public let network: String
  }

  /// Counts a repeat after ``claim(_:lease:now:)`` has returned `repeated`. Only a repeat that gets the stored response
  /// counts towards the maximum. A repeat for which no response is stored does not end the family.
  ///
  /// - Parameter isAnswered: true if a response is stored and will be sent.
  /// - Returns: the first use; `nil` if the request is no longer a valid repeat and must be treated as `reused`.
  public func countRepeat(_ use: RefreshUse, isAnswered: Bool, now: UnixTime) async throws(StoreError) -> FirstUse? {
    let key = RefreshLedger.key(use.family)
    let digest = RefreshLedger.digest(use.token)
    for _ in 0..<RefreshLedger.maximumAttempts {
      guard let old = try await store.get(key, now: now), var record = FamilyRecord(parsing: old),
        record.state == .current, record.previous == digest, mayRepeat(use, record, now: now)
      else { return nil }
      let first = FirstUse(network: NetworkPrefix.text(ofCode: record.network))
      guard isAnswered else { return first }
      record.repeats += 1
      if try await store.replace(key, old, with: record.bytes, expiry: recordExpiry(use, record, now), now: now) {
        return first
      }
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  /// Ends the claim without a new token. The presented token stays valid.
  public func release(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    let key = RefreshLedger.key(attempt.family)
    if let recordBefore = attempt.recordBefore {
      _ = try await store.replace(key, attempt.record, with: recordBefore, expiry: attempt.expiry, now: now)
    } else {
      _ = try await store.remove(key, attempt.record, now: now)
    }
  }

  /// Makes `successor` the valid token. Returns false if the family has ended in the meantime, or if another request
  /// took over after the lease. Then the client must not receive `successor`.
  public func settle(_ attempt: Attempt, successor: Secret, now: UnixTime) async throws(StoreError) -> Bool {
    var record = FamilyRecord(state: .current)
    record.isAdopted = attempt.isAdopted
    record.generation = attempt.generation + 1
    record.token = RefreshLedger.digest(successor)
    record.previous = attempt.token
    record.firstUse = attempt.started
    record.network = attempt.network
    return try await store.replace(
      RefreshLedger.key(attempt.family), attempt.record, with: record.bytes, expiry: attempt.expiry, now: now)
  }

  // MARK: The end

  /// Returns the result for a token of an ended family, and `nil` if the family has not ended. Called in place of
  /// `claim` for a token that may be used more than once.
  public func end(of use: RefreshUse, now: UnixTime) async throws(StoreError) -> Ended? {
    let key = RefreshLedger.key(use.family)
    for _ in 0..<RefreshLedger.maximumAttempts {
      guard let old = try await store.get(key, now: now) else { return nil }
      guard var record = FamilyRecord(parsing: old) else { return .again }
      guard record.state == .ended else { return nil }
      guard UInt32(clamping: use.generation) >= record.generation else { return .again }
      if try await markRevoked(use, &record, old, now: now) { return .first }
    }
    return .again
  }

  /// Records that the caller revokes the token of this generation upstream. Returns false if another request has
  /// changed the record.
  private func markRevoked(
    _ use: RefreshUse, _ record: inout FamilyRecord, _ old: [UInt8], now: UnixTime
  ) async throws(StoreError) -> Bool {
    record.generation = UInt32(clamping: use.generation + 1)
    return try await store.replace(
      RefreshLedger.key(use.family), old, with: record.bytes, expiry: recordExpiry(use, record, now), now: now)
  }

  /// Ends a family for good. Returns true if it had not ended before.
  ///
  /// - Parameters:
  ///   - generations: a generation; the caller revokes the tokens of all lower generations upstream.
  ///   - holder: the client and network that a new record is charged to.
  ///   - expiry: the latest expiry of any token of the family.
  ///   - adoptedUntil: the time until which tokens from before the gateway are accepted.
  public func end(
    _ family: TransactionID, revoking generations: Int, holder: StoreHolder, expiry: UnixTime, adoptedUntil: UnixTime,
    now: UnixTime
  ) async throws(StoreError) -> Bool {
    let key = RefreshLedger.key(family)
    for _ in 0..<RefreshLedger.maximumAttempts {
      var ended = FamilyRecord(state: .ended)
      ended.generation = UInt32(clamping: generations)
      guard let old = try await store.get(key, now: now) else {
        if try await store.put(key, ended.bytes, holder: holder, expiry: expiry + RefreshLedger.margin, now: now) == nil
        {
          return true
        }
        continue
      }
      let record = FamilyRecord(parsing: old)
      ended.isAdopted = record?.isAdopted ?? false
      let wasActive = record?.state != .ended
      if let record, !wasActive { ended.generation = max(ended.generation, record.generation) }
      let until = max(expiry, ended.isAdopted ? adoptedUntil : 0) + RefreshLedger.margin
      if try await store.replace(key, old, with: ended.bytes, expiry: until, now: now) { return wasActive }
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  /// Returns the expiry of a record.
  private func recordExpiry(_ use: RefreshUse, _ record: FamilyRecord, _ now: UnixTime) -> UnixTime {
    // The record of an adopted family must exist as long as the gateway accepts tokens from before its installation.
    max(now + use.idle, record.isAdopted ? use.adoptedUntil : 0) + RefreshLedger.margin
  }

  private static func key(_ family: TransactionID) -> StoreKey { StoreKey(.family, id: family) }

  private static func digest(_ token: Secret) -> [UInt8] {
    var bytes = Array(token.reveal().utf8)
    defer { wipe(&bytes) }
    return Array(sha256(bytes).prefix(FamilyRecord.digestLength))
  }
}
