internal import Cryptography
public import OAuth

/// Which refresh token of a family is the one in use (RFC 9700, sections 2.2.2 and 4.14.2).
///
///     (no entry) --claim--> busy --settle--> current --claim--> busy ...
///                            |                  |
///                            +-- release -------+      kill: --> dead, from everywhere
///
/// A family is the tokens that follow from one code. At any time one of them is current; whoever comes with another one
/// shows that two hold tokens of the family, and then nobody may go on. An entry is made by the first refresh and holds
/// digests of tokens: a login whose tokens nobody ever refreshes costs no memory. A family without an entry (nobody
/// refreshed yet, or the store forgot) takes the first token that comes; two that come at once are still told apart.
///
/// If a process dies with a claim, the claim ends by itself after its lease.
public struct RefreshLedger: Sendable {
  /// A granted claim. Whoever holds it calls exactly one of `release`, `settle`.
  public struct Attempt: Hashable, Sendable {
    public let family: TransactionID
    let token: [UInt8]
    let record: [UInt8]
    let before: [UInt8]
    let expiry: Int64
  }

  public enum Claim: Hashable, Sendable {
    case granted(Attempt)
    /// A refresh with this very token is under way.
    case busy
    /// The token was used, and the one that came of it was not used yet.
    case repeated
    /// The token was used before that, or another one is in use: two parties hold tokens of the family.
    case reused
    case dead
  }

  /// Seconds that an entry outlives its tokens, so that the clocks of replicas may differ.
  private static let margin: Int64 = 60
  /// Other replicas may change the entry between two steps; each such time one of them got on.
  private static let rounds = 16

  private let store: any EphemeralStore

  public init(store: any EphemeralStore) {
    self.store = store
  }

  /// Claims the use of a token, after all other checks have passed.
  /// - Parameters:
  ///   - lease: seconds after which the claim ends by itself.
  ///   - expiry: when a token that is issued now will have expired, in seconds since 1970.
  public func claim(
    _ family: TransactionID, token: Secret, lease: Int64, expiry: Int64, now: Int64
  ) async throws(StoreError) -> Claim {
    let key = RefreshLedger.key(family)
    let digest = RefreshLedger.digest(token)
    let kept = expiry + RefreshLedger.margin
    for _ in 0..<RefreshLedger.rounds {
      let old = try await store.get(key, now: now)
      let current = FamilyRecord(state: .current, token: digest, previous: FamilyRecord.none, kept: [])
      let before = old.map(FamilyRecord.init(parsing:)) ?? current
      guard let before else { return .dead }
      switch before.state {
      case .dead: return .dead
      case .current where before.token == digest: break
      case .busy(_, let until) where before.token == digest:
        guard until <= now else { return .busy }
      case .current where before.previous == digest: return .repeated
      case .current, .busy: return .reused
      }
      var next = before
      next.state = .busy(attempt: randomBytes(FamilyRecord.attemptLength), until: now + lease)
      var settled = before
      settled.state = .current
      let isClaimed =
        if let old {
          try await store.replace(key, old, with: next.bytes, expiry: kept, now: now)
        } else {
          try await store.put(key, next.bytes, expiry: kept, now: now)
        }
      if isClaimed {
        return .granted(
          Attempt(family: family, token: digest, record: next.bytes, before: settled.bytes, expiry: kept))
      }
    }
    return .busy
  }

  /// No token came of it: the one that was presented stays current.
  public func release(_ attempt: Attempt, now: Int64) async throws(StoreError) {
    _ = try await store.replace(
      RefreshLedger.key(attempt.family), attempt.record, with: attempt.before, expiry: attempt.expiry, now: now)
  }

  /// The client gets `successor`: whether it may. It may not if the family died meanwhile, or the lease had ended and
  /// somebody else went on.
  /// - Parameter kept: what a kill gives back, sealed; empty if there is nothing to keep.
  public func settle(
    _ attempt: Attempt, successor: Secret, keeping kept: [UInt8], now: Int64
  ) async throws(StoreError) -> Bool {
    let record = FamilyRecord(
      state: .current, token: RefreshLedger.digest(successor), previous: attempt.token, kept: kept)
    return try await store.replace(
      RefreshLedger.key(attempt.family), attempt.record, with: record.bytes, expiry: attempt.expiry, now: now)
  }

  /// Whether the family's tokens are worth nothing any more.
  public func isDead(_ family: TransactionID, now: Int64) async throws(StoreError) -> Bool {
    guard let bytes = try await store.get(RefreshLedger.key(family), now: now) else { return false }
    return FamilyRecord(parsing: bytes).map { $0.state == .dead } ?? true
  }

  /// Ends the family, for good: what had been kept with its last token; `nil` if it was dead before.
  /// - Parameter expiry: when the youngest token of the family will have expired at the latest.
  public func kill(_ family: TransactionID, expiry: Int64, now: Int64) async throws(StoreError) -> [UInt8]? {
    let key = RefreshLedger.key(family)
    let dead = FamilyRecord(state: .dead, token: FamilyRecord.none, previous: FamilyRecord.none, kept: [])
    let until = expiry + RefreshLedger.margin
    for _ in 0..<RefreshLedger.rounds {
      guard let old = try await store.get(key, now: now) else {
        if try await store.put(key, dead.bytes, expiry: until, now: now) { return [] }
        continue
      }
      let record = FamilyRecord(parsing: old)
      if record?.state == .dead { return nil }
      if try await store.replace(key, old, with: dead.bytes, expiry: until, now: now) { return record?.kept ?? [] }
    }
    throw .unavailable("the family of refresh tokens keeps changing")
  }

  private static func key(_ family: TransactionID) -> StoreKey { StoreKey(.family, id: family.bytes) }

  private static func digest(_ token: Secret) -> [UInt8] {
    var bytes = Array(token.reveal().utf8)
    defer { wipe(&bytes) }
    return sha256(bytes)
  }
}

/// An entry: a state, the digest of the token in use and of the one before, and what is kept with it.
struct FamilyRecord: Equatable {
  enum State: Equatable {
    case current
    case busy(attempt: [UInt8], until: Int64)
    case dead
  }

  static let attemptLength = 16
  private static let digestLength = 32
  /// No digest is all zeros.
  static let none = [UInt8](repeating: 0, count: digestLength)

  var state: State
  var token: [UInt8]
  var previous: [UInt8]
  var kept: [UInt8]

  init(state: State, token: [UInt8], previous: [UInt8], kept: [UInt8]) {
    self.state = state
    self.token = token
    self.previous = previous
    self.kept = kept
  }

  /// `nil` for what no version of the gateway wrote.
  init?(parsing bytes: [UInt8]) {
    let busyLength = FamilyRecord.attemptLength + 8
    let fixed = 1 + 2 * FamilyRecord.digestLength + busyLength
    guard bytes.count >= fixed else { return nil }
    let digests = 1 + busyLength
    switch bytes[0] {
    case 1: state = .current
    case 2:
      let until = bytes[1 + FamilyRecord.attemptLength..<digests].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      state = .busy(attempt: Array(bytes[1..<1 + FamilyRecord.attemptLength]), until: Int64(bitPattern: until))
    case 3: state = .dead
    default: return nil
    }
    token = Array(bytes[digests..<digests + FamilyRecord.digestLength])
    previous = Array(bytes[digests + FamilyRecord.digestLength..<fixed])
    kept = Array(bytes[fixed...])
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    switch state {
    case .current: bytes += [1] + [UInt8](repeating: 0, count: FamilyRecord.attemptLength + 8)
    case .busy(let attempt, let until):
      bytes += [2] + attempt
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: UInt64(bitPattern: until) >> UInt64(shift)))
      }
    case .dead: bytes += [3] + [UInt8](repeating: 0, count: FamilyRecord.attemptLength + 8)
    }
    return bytes + token + previous + kept
  }
}
