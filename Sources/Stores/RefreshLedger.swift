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
/// The first refresh of a family creates its record, so a sign-in without a refresh uses no memory. The record contains
/// digests of tokens. A claim reserves all the room that the family ever needs, so a response of the upstream is never
/// lost because the store is full.
///
/// A token contains its generation, i.e. the number of refreshes that led to it, and the epoch of the store in which it
/// was sealed. For a token of the current epoch with a generation of at least 1, a record must exist; otherwise the
/// token is refused. A token of an earlier epoch may be used once without a record; this use creates the record again.
///
/// A store may also lose only its latest changes, and begin another epoch for this reason. The record of a family may
/// then have a lower generation than a token of the family that was sealed in the earlier epoch. A claim with this
/// token replaces the record. The record may also contain a token as valid that was used before the change of the
/// epoch. So the use of a token of an earlier epoch may always be a second use, and a strict ledger refuses each token
/// of an earlier epoch.
///
/// A claim has a lease, i.e. a time limit. If a process ends while it holds a claim, the claim ends when its lease and
/// the tolerance for differences between clocks have passed. Before that, another request may take over the claim if
/// the store finds the process gone (`EphemeralStore.isGone`). If that request gets no new token, `release` restores
/// the earlier claim, because the process of the earlier claim may only have been stopped, and may still receive a
/// response. If the store does not answer at the end of a claim, the change is repeated as soon as the store answers
/// again (`EphemeralStore.replaceLater`). A successor that the client gets counts in this process at once
/// (`UnwrittenRecords`).
public struct RefreshLedger: Sendable {
  /// A granted claim. The caller ends it with exactly one call of `release` or `settle`.
  public struct Attempt: Hashable, Sendable {
    /// The family of the presented token.
    public let family: TransactionID
    /// True if the token was sealed in an earlier epoch of the store. The store may have lost the record of an earlier
    /// use of the token.
    public let isFromEarlierEpoch: Bool
    /// True if this claim took over an earlier claim on the token, because the lease of the earlier claim had ended or
    /// the store had found the process of the earlier claim gone. The request of the earlier claim may have used up the
    /// upstream token.
    public let tookOverClaim: Bool
    /// True if this claim took over an earlier claim before the lease of the earlier claim had ended. The earlier
    /// process may only have been stopped, and may still receive a new token from the upstream.
    public let tookOverBeforeLeaseEnd: Bool
    /// The epoch of the store when the use was claimed. The successor of the token must contain it.
    public let epoch: EpochID
    /// The process that holds the claim.
    let claimant: ClaimantID
    /// The record of the family with this claim, as the store has it.
    let record: [UInt8]
    /// The record that `release` restores; `nil` if the claim created the record.
    let recordBefore: [UInt8]?
    /// The generation of the presented token.
    let generation: UInt32
    /// The digest of the presented token.
    let token: [UInt8]
    /// The time of the claim.
    let started: UnixTime
    /// The network of the request, as `NetworkPrefix.code`.
    let network: UInt64
    /// True if the family began with a token that the upstream issued before the gateway was installed.
    let isAdopted: Bool
    /// The expiry of the record.
    let expiry: UnixTime
  }

  /// The duty of the caller of `claim` or `dutyIfEnded(_:now:)` if the family of the presented token has ended.
  public enum EndedFamilyDuty: Hashable, Sendable {
    /// The caller must revoke the upstream token in the presented token, because no other request has revoked a token
    /// of this or a later generation since the end of the family.
    case revokeToken
    /// The caller has nothing to revoke: other requests have revoked the upstream tokens up to this generation, or are
    /// revoking them.
    case nothingToRevoke
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
    case ended(EndedFamilyDuty)
    /// The store has no record of the family, but accepts a token of this epoch and generation only with a record. Or
    /// the token is from an earlier epoch, and the ledger is strict.
    case missing
  }

  /// The time by which a record outlives its tokens, because the clocks of replicas may differ.
  static let clockMargin: Seconds = 60
  /// The maximum number of attempts to change a record. An attempt fails only if another request changes the record in
  /// the meantime.
  static let maximumAttempts = 16
  /// The maximum number of times that the response to one refresh is sent again: many more than the requests that an app
  /// has under way at once, which all get 401 and then all refresh.
  public static let maximumRepeats: UInt8 = 64
  /// The time after the first use in which a repeat may come from another network: a phone that changes networks
  /// repeats at once.
  private static let networkChangeTime: Seconds = 10

  let store: any EphemeralStore
  private let isStrict: Bool
  let ends = EndedFamilies()
  private let unwritten = UnwrittenRecords()

  /// Creates a ledger that keeps its entries in `store`.
  ///
  /// - Parameter isStrict: true to refuse all tokens of earlier epochs (`store_epoch: strict`).
  public init(store: any EphemeralStore, isStrict: Bool = false) {
    self.store = store
    self.isStrict = isStrict
  }

  /// The current epoch of the store. A new token contains this epoch if the presented token was not claimed. After a
  /// claim, it contains ``Attempt/epoch``.
  public var epoch: EpochID { store.epoch }

  /// Claims the use of a token. Call it after all other checks of the request have passed.
  ///
  /// - Parameters:
  ///   - use: the presented token.
  ///   - lease: the maximum time for which the caller holds the claim. After this time and the tolerance for
  ///     differences between clocks, the claim ends by itself.
  ///   - now: the current time.
  public func claim(_ use: RefreshUse, lease: Seconds, now: UnixTime) async throws(StoreError) -> Claim {
    let key = RefreshLedger.key(use.family)
    let digest = RefreshLedger.digest(use.token)
    let generation = UInt32(clamping: use.generation)
    let claimant = store.beginHold()
    var isGranted = false
    defer { if !isGranted { store.endHold() } }
    for _ in 0..<RefreshLedger.maximumAttempts {
      let epoch = store.epoch
      // `restoreEnds` is called before the record is read: in a new epoch, the record may be older than the end of its
      // family.
      if familyMayHaveEnded(use, before: epoch), try await restoreEnds(in: epoch, now: now) { continue }
      guard let old = try await store.get(key, now: now) else {
        // If the epoch has changed since the loop read it, the next check must compare the token with the new epoch.
        guard store.epoch == epoch else { continue }
        // In the epoch of the token, only a family that was never refreshed has no record, so the token must be the
        // first one.
        guard use.epoch == epoch ? use.generation == 0 : !isStrict || use.isAdopted else { return .missing }
        var record = FamilyRecord(state: .busy)
        record.isAdopted = use.isAdopted
        record.generation = generation
        record.token = digest
        let attempt = makeAttempt(
          use, &record, of: claimant, in: epoch, recordBefore: nil, lease: lease, now: now)
        let existing: [UInt8]?
        do throws(StoreError) {
          // The claim is made only in the epoch in which the store had no record: in another epoch, the record may
          // exist.
          existing = try await store.put(
            key, attempt.record, in: epoch, holder: use.holder, expiry: attempt.expiry, now: now)
        } catch {
          // With `.full`, the store has certainly not made the claim.
          if case .unavailable = error { await withdrawLater(attempt) }
          throw error
        }
        if existing == nil {
          isGranted = true
          return .granted(attempt)
        }
        continue
      }
      guard var record = FamilyRecord(parsing: unwritten.current(use.family, old)) else {
        return .ended(.nothingToRevoke)
      }
      if record.state != .ended, refuses(use) {
        // As above: the next check compares the token with the new epoch.
        guard store.epoch == epoch else { continue }
        return .missing
      }
      var tookOverClaim = false
      var tookOverBeforeLeaseEnd = false
      switch record.state {
      case .ended:
        remember(record, of: use, in: epoch, now: now)
        guard generation >= record.generation else { return .ended(.nothingToRevoke) }
        if try await markRevoked(use, &record, old, now: now) { return .ended(.revokeToken) }
        continue
      case .busy where record.token == digest:
        if record.leaseEnd > now {
          guard await store.isGone(record.claimant) else { return .busy }
          tookOverBeforeLeaseEnd = true
        }
        tookOverClaim = true
      case .busy where Int(generation) == Int(record.generation) + 1:
        // The client received this token as the successor of the recorded one, but the store could not record it.
        record.previous = record.token
        record.token = digest
        record.generation = generation
      case .current where record.token == digest: break
      case .current where isNewer(use, than: record, in: epoch), .busy where isNewer(use, than: record, in: epoch):
        record.previous = FamilyRecord.none
        record.token = digest
        record.generation = generation
      case .current where record.previous == digest:
        return mayRepeat(use, record, now: now) ? .repeated : .reused
      case .current, .busy: return .reused
      }
      // `release` restores an earlier claim whose lease has not ended, or otherwise the record without a claim.
      var unclaimed = record
      unclaimed.state = .current
      let attempt = makeAttempt(
        use, &record, of: claimant, in: epoch, recordBefore: tookOverBeforeLeaseEnd ? old : unclaimed.bytes,
        tookOverClaim: tookOverClaim, tookOverBeforeLeaseEnd: tookOverBeforeLeaseEnd, lease: lease, now: now)
      do throws(StoreError) {
        if try await store.replace(key, old, with: attempt.record, expiry: attempt.expiry, now: now) {
          isGranted = true
          return .granted(attempt)
        }
      } catch {
        await withdrawLater(attempt)
        throw error
      }
    }
    return .busy
  }

  /// Returns true if the ledger refuses the token because of its epoch. Call it after an operation of the store has
  /// succeeded: only then is it certain that the store is in the epoch that it shows.
  public func refuses(_ use: RefreshUse) -> Bool { isStrict && use.epoch != store.epoch && !use.isAdopted }

  /// Returns true if the token is from an earlier epoch and newer than the record. The generation in a sealed token
  /// cannot be forged. So if it is higher than the record's, the store has lost the later records of the family,
  /// together with the epoch in which the token was sealed.
  private func isNewer(_ use: RefreshUse, than record: FamilyRecord, in epoch: EpochID) -> Bool {
    use.epoch != epoch && use.generation > Int(record.generation)
  }

  /// Restores the record from before the claim as soon as the store answers again. Called after a failed operation of
  /// `claim` or `release`, because it is unknown if the store has performed the operation. If `claim` has failed, its
  /// caller gets an error and does not contact the upstream.
  private func withdrawLater(_ attempt: Attempt) async {
    await store.replaceLater(
      RefreshLedger.key(attempt.family), attempt.record, with: attempt.recordBefore, expiry: attempt.expiry)
  }

  /// Makes the record busy with a new nonce, and returns the attempt that holds the claim.
  private func makeAttempt(
    _ use: RefreshUse, _ record: inout FamilyRecord, of claimant: ClaimantID, in epoch: EpochID,
    recordBefore: [UInt8]?, tookOverClaim: Bool = false, tookOverBeforeLeaseEnd: Bool = false, lease: Seconds,
    now: UnixTime
  ) -> Attempt {
    record.state = .busy
    record.nonce = claimant.bytes + randomBytes(FamilyRecord.digestLength - ClaimantID.length)
    record.leaseEnd = now + lease + store.clockTolerance
    return Attempt(
      family: use.family, isFromEarlierEpoch: use.epoch != epoch, tookOverClaim: tookOverClaim,
      tookOverBeforeLeaseEnd: tookOverBeforeLeaseEnd, epoch: epoch, claimant: claimant, record: record.bytes,
      recordBefore: recordBefore, generation: record.generation, token: record.token, started: now,
      network: use.network.code, isAdopted: record.isAdopted, expiry: recordExpiry(use, record, now))
  }

  /// Returns true if the response to the first use may be repeated (invariant `I-renewal`): within `use.reuseWindow`, and
  /// to the same network. The network does not matter if the policy accepts any network or if the first use was a moment
  /// ago (`networkChangeTime`). `countRepeat` limits the number of repeats.
  private func mayRepeat(_ use: RefreshUse, _ record: FamilyRecord, now: UnixTime) -> Bool {
    let previousFirstUse = record.previousFirstUse
    let now = use.arrival ?? now
    guard now < previousFirstUse + use.reuseWindow else { return false }
    return use.acceptsAnyNetwork || record.previousNetwork == use.network.code
      || now <= previousFirstUse + RefreshLedger.networkChangeTime
  }

  /// The first use of a token that is presented again.
  public struct FirstUse: Hashable, Sendable {
    /// The network of the first use, as text.
    public let network: String
  }

  /// The result of `countRepeat`.
  public enum Repeat: Hashable, Sendable {
    /// The request is a permitted repeat of this first use.
    case permitted(FirstUse)
    /// The response was already sent again `maximumRepeats` times. The family stays as it is: so many repeats come from an
    /// app with a fault more probably than from a thief, and the response that a thief could get is already known.
    case tooMany
    /// The request is no longer a valid repeat and must be treated as `Claim.reused`.
    case reused
  }

  /// Counts a repeat after ``claim(_:lease:now:)`` has returned `repeated`. Only a repeat that gets the stored response
  /// counts towards the maximum.
  ///
  /// - Parameter isAnswered: true if a response is stored and will be sent.
  public func countRepeat(_ use: RefreshUse, isAnswered: Bool, now: UnixTime) async throws(StoreError) -> Repeat {
    let key = RefreshLedger.key(use.family)
    let digest = RefreshLedger.digest(use.token)
    for _ in 0..<RefreshLedger.maximumAttempts {
      guard let old = try await store.get(key, now: now),
        var record = FamilyRecord(parsing: unwritten.current(use.family, old)),
        record.state == .current, record.previous == digest, mayRepeat(use, record, now: now)
      else { return .reused }
      let first = FirstUse(network: NetworkPrefix.text(ofCode: record.previousNetwork))
      guard isAnswered else { return .permitted(first) }
      guard record.repeats < RefreshLedger.maximumRepeats else { return .tooMany }
      record.repeats += 1
      if try await store.replace(key, old, with: record.bytes, expiry: recordExpiry(use, record, now), now: now) {
        return .permitted(first)
      }
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  /// Returns true if no other request can take over the claim within `time` from now. Check it just before the upstream
  /// is contacted.
  public func isHeld(_ attempt: Attempt, for time: Milliseconds) -> Bool { store.isAlive(attempt.claimant, for: time) }

  /// Ends the claim without a new token. The presented token stays valid.
  public func release(_ attempt: Attempt, now: UnixTime) async throws(StoreError) {
    defer { store.endHold() }
    let key = RefreshLedger.key(attempt.family)
    do throws(StoreError) {
      if let recordBefore = attempt.recordBefore {
        _ = try await store.replace(key, attempt.record, with: recordBefore, expiry: attempt.expiry, now: now)
      } else {
        _ = try await store.remove(key, attempt.record, now: now)
      }
    } catch {
      await withdrawLater(attempt)
      throw error
    }
  }

  /// Makes `successor` the valid token. Returns false if the family has ended in the meantime, or if another request
  /// has taken over the claim. Then the client must not receive `successor`. Throws `.unavailable` if the store no
  /// longer has the claim and has begun another epoch, because the store may then have lost the claim.
  public func settle(_ attempt: Attempt, successor: Secret, now: UnixTime) async throws(StoreError) -> Bool {
    defer { store.endHold() }
    var record = FamilyRecord(state: .current)
    record.isAdopted = attempt.isAdopted
    record.generation = UInt32(clamping: Int(attempt.generation) + 1)
    record.token = RefreshLedger.digest(successor)
    record.previous = attempt.token
    record.previousFirstUse = attempt.started
    record.previousNetwork = attempt.network
    let key = RefreshLedger.key(attempt.family)
    let isSettled: Bool
    do throws(StoreError) {
      isSettled = try await store.replace(key, attempt.record, with: record.bytes, expiry: attempt.expiry, now: now)
    } catch {
      await store.replaceLater(key, attempt.record, with: record.bytes, expiry: attempt.expiry)
      unwritten.add(
        attempt.family, replacing: attempt.record, by: record.bytes, expiry: attempt.expiry, now: now)
      throw error
    }
    guard isSettled || store.epoch == attempt.epoch else { throw .unavailable("the store has begun another epoch") }
    return isSettled
  }

  /// Returns the expiry of a record.
  func recordExpiry(_ use: RefreshUse, _ record: FamilyRecord, _ now: UnixTime) -> UnixTime {
    tokenExpiry(use, record, now) + RefreshLedger.clockMargin
  }

  /// Returns the latest expiry of any refresh token of the family; of an ended family, also that of any access token.
  func tokenExpiry(_ use: RefreshUse, _ record: FamilyRecord, _ now: UnixTime) -> UnixTime {
    // The record of an adopted family must exist as long as the gateway accepts tokens from before its installation.
    let lifetime = record.state == .ended ? max(use.idleLifetime, use.accessLifetime) : use.idleLifetime
    return max(now + lifetime, record.isAdopted ? use.adoptedUntil : 0)
  }

  static func key(_ family: TransactionID) -> StoreKey { StoreKey(.family, id: family) }

  private static func digest(_ token: Secret) -> [UInt8] {
    var bytes = Array(token.reveal().utf8)
    defer { wipe(&bytes) }
    return Array(sha256(bytes).prefix(FamilyRecord.digestLength))
  }
}
