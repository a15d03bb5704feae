internal import Cryptography
public import OAuth

/// Knows which refresh token of a family is good (RFC 9700, sections 2.2.2 and 4.14.2; `I-renewal`).
///
///     (no record) --claim--> busy --settle--> current --claim--> busy ...
///          ^                   |                 |
///          +---- release ------+---- release ----+      end: --> ended, from everywhere
///
/// A family is the tokens that follow from one code. At any time one of them is good. A request with another one shows
/// that two parties hold tokens of the family, and ends it. The first refresh makes the record, which holds digests of
/// tokens: a login whose tokens are never refreshed takes no memory. The room that a claim takes is all that the family
/// ever needs, so an answer of the upstream is never lost because the store is full.
///
/// A token says its generation and the epoch of the store in which it was sealed. A token of generation 1 or above, of the
/// present epoch, has a family record, or the family is not one of this store: it is refused. A token of an earlier epoch
/// may be used once more, which makes the record again.
///
/// If a process dies with a claim, the claim ends by itself after its lease.
public struct RefreshLedger: Sendable {
  /// A granted claim. Its holder calls exactly one of `release`, `settle`.
  public struct Attempt: Hashable, Sendable {
    public let family: TransactionID
    /// True if the family's record was lost with an earlier epoch.
    public let isFromEarlierEpoch: Bool
    let record: [UInt8]
    /// The record to go back to; `nil` if the claim made it.
    let before: [UInt8]?
    let generation: UInt32
    let token: [UInt8]
    let started: Int64
    let network: UInt64
    let isAdopted: Bool
    let expiry: Int64
  }

  /// A token of a family that has ended.
  public enum Ended: Hashable, Sendable {
    /// The first token of its generation that comes since the end: what it holds is to be revoked upstream.
    case first
    case again
  }

  public enum Claim: Hashable, Sendable {
    case granted(Attempt)
    /// A refresh with this very token is under way.
    case busy
    /// The token was used a moment ago and its successor was not: the answer may be given again, with
    /// ``countRepeat(_:isAnswered:now:)``.
    case repeated
    /// The token was used before that, or another one is in use: two parties hold tokens of the family.
    case reused
    case ended(Ended)
    /// The record that has to exist is missing.
    case missing
  }

  /// Seconds that an entry outlives its tokens, so that the clocks of replicas may differ.
  private static let margin: Int64 = 60
  /// Other replicas may change the entry between two steps; each such time one of them got on.
  private static let rounds = 16
  /// Answers that are given again after one use.
  private static let mostAnswers: UInt8 = 8
  /// Seconds in which a repeat may come from another network: a phone that changes from one to another sends it at once.
  private static let handover: Int64 = 10

  private let store: any EphemeralStore

  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// The epoch that new tokens carry.
  public var epoch: EpochID { store.epoch }

  /// Claims the use of a token, after all other checks have passed.
  ///
  /// - Parameters:
  ///   - lease: Seconds after which the claim ends by itself.
  public func claim(_ use: RefreshUse, lease: Int64, now: Int64) async throws(StoreError) -> Claim {
    let key = RefreshLedger.key(use.family)
    let digest = RefreshLedger.digest(use.token)
    let generation = UInt32(clamping: use.generation)
    for _ in 0..<RefreshLedger.rounds {
      guard let old = try await store.get(key, now: now) else {
        guard use.generation == 0 || use.epoch != store.epoch else { return .missing }
        var record = FamilyRecord(state: .busy)
        record.isAdopted = use.isAdopted
        record.generation = generation
        record.token = digest
        let attempt = begin(use, &record, before: nil, isFromEarlierEpoch: use.generation > 0, lease: lease, now: now)
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
        guard Int64(record.lease) <= now else { return .busy }
      case .busy where generation == record.generation + 1:
        // The successor was given to the client while the store could not be reached.
        record.previous = record.token
        record.token = digest
        record.generation = generation
      case .current where record.token == digest: break
      case .current where record.previous == digest:
        return repeats(use, record, now: now) ? .repeated : .reused
      case .current, .busy: return .reused
      }
      var settled = record
      settled.state = .current
      let attempt = begin(use, &record, before: settled.bytes, isFromEarlierEpoch: false, lease: lease, now: now)
      if try await store.replace(key, old, with: attempt.record, expiry: attempt.expiry, now: now) {
        return .granted(attempt)
      }
    }
    return .busy
  }

  private func begin(
    _ use: RefreshUse, _ record: inout FamilyRecord, before: [UInt8]?, isFromEarlierEpoch: Bool, lease: Int64,
    now: Int64
  ) -> Attempt {
    record.state = .busy
    record.nonce = randomBytes(FamilyRecord.digestLength)
    record.lease = UInt32(clamping: now + lease)
    return Attempt(
      family: use.family, isFromEarlierEpoch: isFromEarlierEpoch, record: record.bytes, before: before,
      generation: record.generation, token: record.token, started: now, network: use.network.code,
      isAdopted: record.isAdopted, expiry: kept(use, record, now))
  }

  /// True if the last answer may be given again (`I-renewal`).
  private func repeats(_ use: RefreshUse, _ record: FamilyRecord, now: Int64) -> Bool {
    let used = Int64(record.used)
    guard now < used + use.window, record.answers < RefreshLedger.mostAnswers else { return false }
    return use.takesAnyNetwork || record.network == use.network.code || now <= used + RefreshLedger.handover
  }

  /// Where the token of a repeat was used first.
  public struct FirstUse: Hashable, Sendable {
    /// Its network, as text.
    public let network: String
  }

  /// Counts a repeat after ``claim(_:lease:now:)`` said that there is one. Only repeats that get an answer use up their
  /// number: one whose answer is not there ends nothing.
  ///
  /// - Parameter isAnswered: True if the answer is there and will be given.
  /// - Returns: `nil` if it is no repeat any more, and therefore a reuse.
  public func countRepeat(_ use: RefreshUse, isAnswered: Bool, now: Int64) async throws(StoreError) -> FirstUse? {
    let key = RefreshLedger.key(use.family)
    let digest = RefreshLedger.digest(use.token)
    for _ in 0..<RefreshLedger.rounds {
      guard let old = try await store.get(key, now: now), var record = FamilyRecord(parsing: old),
        record.state == .current, record.previous == digest, repeats(use, record, now: now)
      else { return nil }
      let first = FirstUse(network: NetworkPrefix.text(ofCode: record.network))
      guard isAnswered else { return first }
      record.answers += 1
      if try await store.replace(key, old, with: record.bytes, expiry: kept(use, record, now), now: now) {
        return first
      }
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  /// Gives the claim back: no token came from it, and the one that was presented stays good.
  public func release(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    let key = RefreshLedger.key(attempt.family)
    if let before = attempt.before {
      _ = try await store.replace(key, attempt.record, with: before, expiry: attempt.expiry, now: now)
    } else {
      _ = try await store.remove(key, attempt.record, now: now)
    }
  }

  /// Makes `successor` the good token. Returns `false` if the family ended meanwhile, or if another request took over
  /// after the lease: then the client may not have `successor`.
  public func settle(_ attempt: Attempt, successor: Secret, now: Int64) async throws(StoreError) -> Bool {
    var record = FamilyRecord(state: .current)
    record.isAdopted = attempt.isAdopted
    record.generation = attempt.generation + 1
    record.token = RefreshLedger.digest(successor)
    record.previous = attempt.token
    record.used = UInt32(clamping: attempt.started)
    record.network = attempt.network
    return try await store.replace(
      RefreshLedger.key(attempt.family), attempt.record, with: record.bytes, expiry: attempt.expiry, now: now)
  }

  // MARK: The end

  /// Returns `nil` if the family lives. For tokens that are good more than once.
  public func end(of use: RefreshUse, now: Int64) async throws(StoreError) -> Ended? {
    let key = RefreshLedger.key(use.family)
    for _ in 0..<RefreshLedger.rounds {
      guard let old = try await store.get(key, now: now) else { return nil }
      guard var record = FamilyRecord(parsing: old) else { return .again }
      guard record.state == .ended else { return nil }
      guard UInt32(clamping: use.generation) >= record.generation else { return .again }
      if try await markRevoked(use, &record, old, now: now) { return .first }
    }
    return .again
  }

  private func markRevoked(
    _ use: RefreshUse, _ record: inout FamilyRecord, _ old: [UInt8], now: Int64
  ) async throws(StoreError) -> Bool {
    record.generation = UInt32(clamping: use.generation + 1)
    return try await store.replace(
      RefreshLedger.key(use.family), old, with: record.bytes, expiry: kept(use, record, now), now: now)
  }

  /// Ends a family for good. Returns whether it lived.
  ///
  /// - Parameters:
  ///   - generations: The generations whose tokens the caller revokes upstream: those below.
  ///   - holder: The client and network that a new record is charged to.
  ///   - expiry: When the youngest token of the family will have expired at the latest.
  ///   - adoptedUntil: Seconds since 1970 until which tokens from before the gateway are taken.
  public func end(
    _ family: TransactionID, revoking generations: Int, holder: StoreHolder, expiry: Int64, adoptedUntil: Int64,
    now: Int64
  ) async throws(StoreError) -> Bool {
    let key = RefreshLedger.key(family)
    for _ in 0..<RefreshLedger.rounds {
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
      let lived = record?.state != .ended
      if let record, !lived { ended.generation = max(ended.generation, record.generation) }
      let until = max(expiry, ended.isAdopted ? adoptedUntil : 0) + RefreshLedger.margin
      if try await store.replace(key, old, with: ended.bytes, expiry: until, now: now) { return lived }
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  /// The time until which a record is kept.
  private func kept(_ use: RefreshUse, _ record: FamilyRecord, _ now: Int64) -> Int64 {
    // A token from before the gateway founds one family until the date after which none is taken.
    max(now + use.idle, record.isAdopted ? use.adoptedUntil : 0) + RefreshLedger.margin
  }

  private static func key(_ family: TransactionID) -> StoreKey { StoreKey(.family, id: family) }

  private static func digest(_ token: Secret) -> [UInt8] {
    var bytes = Array(token.reveal().utf8)
    defer { wipe(&bytes) }
    return Array(sha256(bytes).prefix(FamilyRecord.digestLength))
  }
}
