import OAuth
import Testing
import Time

@testable import Stores

@Suite("I-renewal: a store that loses its entries")
struct LostEpochTests {
  private let store = LossyStore()
  private let ledger: RefreshLedger
  private let family: TransactionID

  init() throws {
    ledger = RefreshLedger(store: store)
    family = try #require(TransactionID(bytes: Array(1...16)))
  }

  /// A token of the family that was sealed in `epoch`.
  private func use(
    _ generation: Int, sealedIn epoch: EpochID, family: TransactionID? = nil, isAdopted: Bool = false
  ) -> RefreshUse {
    let grant = RefreshGrant(
      family: family ?? self.family, generation: generation, epoch: epoch,
      binding: ClientBinding(clientID: ClientID("mail"), scope: nil, upstreamClientID: ClientID("mail")),
      upstreamRefreshToken: Secret("upstream"), issuedAt: 0)
    var use = RefreshUse(
      grant, token: Secret("r\(generation)"), address: "192.0.2.1", isLoopback: false, isAdopted: isAdopted)
    use.idleLifetime = 1_000
    return use
  }

  private func claim(_ use: RefreshUse) async throws -> RefreshLedger.Claim {
    try await ledger.claim(use, lease: 10, now: 0)
  }

  private func granted(_ use: RefreshUse) async throws -> RefreshLedger.Attempt {
    guard case .granted(let attempt) = try await claim(use) else {
      Issue.record("the token is not accepted")
      throw StoreError.full
    }
    return attempt
  }

  @Test("A refresh whose record is lost meanwhile is not settled, and its successor is a token of the earlier epoch")
  func settle() async throws {
    let epoch = store.epoch
    let attempt = try await granted(use(0, sealedIn: epoch))
    store.loseEntries()
    await #expect(throws: StoreError.unavailable("the store has begun another epoch")) {
      _ = try await ledger.settle(attempt, successor: Secret("r1"), now: 0)
    }
    #expect(attempt.epoch == epoch)
    let next = try await granted(use(1, sealedIn: attempt.epoch))
    #expect(next.isFromEarlierEpoch)
    #expect(next.epoch == store.epoch)
    #expect(try await ledger.settle(next, successor: Secret("r2"), now: 0))
    #expect(try await claim(use(1, sealedIn: epoch)) == .reused)
  }

  @Test("A use that the store could not end is ended later: settled, released, or taken back if it was never granted")
  func later() async throws {
    let epoch = store.epoch
    // The first claim of a family, whose outcome is unknown.
    store.fails = .after
    await #expect(throws: StoreError.self) { _ = try await claim(use(0, sealedIn: epoch)) }
    store.fails = nil
    #expect(try await claim(use(0, sealedIn: epoch)) == .busy)
    try await store.changeNow()
    let first = try await granted(use(0, sealedIn: epoch))
    // The response of the upstream, which the store does not record.
    store.fails = .before
    await #expect(throws: StoreError.self) { _ = try await ledger.settle(first, successor: Secret("r1"), now: 0) }
    store.fails = nil
    try await store.changeNow()
    let second = try await granted(use(1, sealedIn: epoch))
    store.fails = .before
    await #expect(throws: StoreError.self) { try await ledger.release(second, now: 0) }
    store.fails = nil
    try await store.changeNow()
    store.fails = .after
    await #expect(throws: StoreError.self) { _ = try await claim(use(1, sealedIn: epoch)) }
    store.fails = nil
    #expect(try await claim(use(1, sealedIn: epoch)) == .busy)
    try await store.changeNow()
    _ = try await granted(use(1, sealedIn: epoch))
    // The used token is not accepted again when the lease ends.
    #expect(try await ledger.claim(use(0, sealedIn: epoch), lease: 10, now: 1_000) == .reused)
  }

  @Test("A token of an earlier epoch replaces an older record, which the store has lost the successors of")
  func olderRecord() async throws {
    let epoch = store.epoch
    for ledger in [RefreshLedger(store: store, isStrict: true), ledger] {
      store.loseEntries()
      // The new primary of the store has the record of the second token only.
      let old = try await granted(use(0, sealedIn: store.epoch))
      #expect(try await self.ledger.settle(old, successor: Secret("r1"), now: 0))
      let claim = try await ledger.claim(use(3, sealedIn: epoch), lease: 10, now: 0)
      guard case .granted(let attempt) = claim else {
        #expect(claim == .missing)
        // Also refuses a token that the record has as the valid one, because it may have been used before.
        #expect(try await ledger.claim(use(1, sealedIn: epoch), lease: 10, now: 0) == .missing)
        continue
      }
      #expect(attempt.isFromEarlierEpoch)
      #expect(try await ledger.settle(attempt, successor: Secret("r4"), now: 0))
      #expect(try await ledger.claim(use(1, sealedIn: epoch), lease: 10, now: 0) == .reused)
      return
    }
    Issue.record("the newest token is not accepted")
  }

  @Test("A claim ends with its lease and the tolerance for clocks, and the next one says that it did")
  func lease() async throws {
    let epoch = store.epoch
    #expect(try await !granted(use(0, sealedIn: epoch)).tookOverClaim)
    let last = UnixTime(seconds: 9) + store.clockTolerance
    #expect(try await ledger.claim(use(0, sealedIn: epoch), lease: 10, now: last) == .busy)
    guard case .granted(let next) = try await ledger.claim(use(0, sealedIn: epoch), lease: 10, now: last + 1) else {
      Issue.record("the claim has not ended")
      return
    }
    #expect(next.tookOverClaim)
  }

  @Test("A family that this process has seen ended is ended again before a token of the earlier epoch is accepted")
  func ended() async throws {
    let epoch = store.epoch
    let attempt = try await granted(use(0, sealedIn: epoch))
    #expect(try await ledger.settle(attempt, successor: Secret("r1"), now: 0))
    let holder = StoreHolder(address: "192.0.2.1")
    #expect(
      try await ledger.end(family, revokingGenerations: 1, holder: holder, expiry: 1_000, adoptedUntil: 0, now: 0))
    store.loseEntries()
    // A token of another family is the first one after the loss.
    let other = try #require(TransactionID(bytes: Array(2...17)))
    _ = try await granted(use(3, sealedIn: epoch, family: other))
    #expect(try await claim(use(0, sealedIn: epoch)) == .ended(.nothingToRevoke))
    #expect(try await claim(use(1, sealedIn: epoch)) == .ended(.revokeToken))
    // Another process with the same store knows the end too.
    let elsewhere = RefreshLedger(store: store)
    #expect(try await elsewhere.claim(use(1, sealedIn: epoch), lease: 10, now: 0) == .ended(.nothingToRevoke))
  }

  @Test("The end of a family that another process ended is remembered as well, also for tokens without rotation")
  func seenEnded() async throws {
    let epoch = store.epoch
    let holder = StoreHolder(address: "192.0.2.1")
    #expect(
      try await RefreshLedger(store: store).end(
        family, revokingGenerations: 0, holder: holder, expiry: 1_000, adoptedUntil: 0, now: 0))
    #expect(try await claim(use(0, sealedIn: epoch)) == .ended(.revokeToken))
    store.loseEntries()
    #expect(try await ledger.dutyIfEnded(use(4, sealedIn: epoch), now: 0) == .revokeToken)
  }

  @Test("A family that this process has seen ended does not come back with an older record in the new epoch")
  func olderRecordOfEndedFamily() async throws {
    let epoch = store.epoch
    let first = try await granted(use(0, sealedIn: epoch))
    #expect(try await ledger.settle(first, successor: Secret("r1"), now: 0))
    let holder = StoreHolder(address: "192.0.2.1")
    #expect(
      try await ledger.end(family, revokingGenerations: 0, holder: holder, expiry: 1_000, adoptedUntil: 0, now: 0))
    store.loseEntries()
    // The new primary of the store has the record from before the end.
    let elsewhere = RefreshLedger(store: store)
    guard case .granted(let copy) = try await elsewhere.claim(use(0, sealedIn: store.epoch), lease: 10, now: 0) else {
      Issue.record("the record cannot be created")
      return
    }
    #expect(try await elsewhere.settle(copy, successor: Secret("r1"), now: 0))
    #expect(try await claim(use(1, sealedIn: epoch)) == .ended(.revokeToken))
    #expect(try await elsewhere.claim(use(1, sealedIn: epoch), lease: 10, now: 0) == .ended(.nothingToRevoke))
  }

  @Test("A token from before the gateway does not begin its ended family again in a new epoch")
  func adopted() async throws {
    _ = try await granted(use(0, sealedIn: store.epoch, isAdopted: true))
    let holder = StoreHolder(address: "192.0.2.1")
    #expect(
      try await ledger.end(family, revokingGenerations: 0, holder: holder, expiry: 1_000, adoptedUntil: 0, now: 0))
    store.loseEntries()
    #expect(try await claim(use(0, sealedIn: store.epoch, isAdopted: true)) == .ended(.revokeToken))
  }

  @Test("Remembered ends are limited, and a later end replaces none that has not expired")
  func limit() throws {
    let ends = EndedFamilies()
    let old = EpochID(rawValue: 1)
    func end(_ number: Int, expiry: UnixTime) throws -> EndedFamilies.End {
      let bytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : 0) }
      return EndedFamilies.End(family: try #require(TransactionID(bytes: bytes)), generation: 1, expiry: expiry)
    }
    for number in 0...EndedFamilies.maximum { ends.add(try end(number, expiry: 100), in: old, now: 0) }
    #expect(ends.missing(in: old, now: 0).isEmpty)
    let missing = ends.missing(in: EpochID(rawValue: 2), now: 0)
    #expect(missing.count == EndedFamilies.maximum)
    let last = try end(EndedFamilies.maximum, expiry: 100)
    #expect(!missing.contains { $0.family == last.family })
    // Expired ends give room to later ones.
    let later = try end(9_999, expiry: 300)
    ends.add(later, in: old, now: 200)
    let new = EpochID(rawValue: 2)
    #expect(ends.missing(in: new, now: 200).count == 1)
    #expect(ends.isMissing(later.family, in: new))
    ends.add(later, in: new, now: 200)
    #expect(!ends.isMissing(later.family, in: new))
    #expect(ends.missing(in: new, now: 200).isEmpty)
    // An operation of the earlier epoch reports its end late.
    ends.add(try end(9_998, expiry: 300), in: old, now: 200)
    #expect(ends.missing(in: new, now: 200).count == 1)
  }
}
