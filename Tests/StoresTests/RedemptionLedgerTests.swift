import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

@Suite("I-token: the single use of a code")
struct RedemptionLedgerTests {
  private let store = MemoryStore()
  private let ledger: RedemptionLedger
  private let transaction: TransactionID

  init() throws {
    ledger = RedemptionLedger(store: store)
    transaction = try #require(TransactionID(bytes: Array(1...16)))
  }

  private func claim(
    _ verifier: String = "verifier", client: String = "mail", now: UnixTime = 0
  ) async throws -> RedemptionLedger.Claim {
    try await ledger.claim(
      transaction, client: ClientID(client), verifier: Secret(verifier), holder: .sample(), epoch: store.epoch,
      lease: 20, expiry: 60, now: now)
  }

  private func granted(_ claim: RedemptionLedger.Claim) throws -> RedemptionLedger.Attempt {
    guard case .granted(let attempt) = claim else {
      Issue.record("\(claim) is no grant")
      throw StoreError.full
    }
    return attempt
  }

  @Test("I-token: a code can be claimed once")
  func once() async throws {
    let attempt = try granted(await claim())
    #expect(!attempt.isRetry)
    #expect(try await claim() == .busy)
    try await ledger.spend(attempt, now: 0)
    #expect(try await claim() == .spent)
  }

  @Test("A replay gets the kept tokens once, and a code has one fixed record next to them")
  func kept() async throws {
    let attempt = try granted(await claim())
    try await ledger.spend(attempt, now: 0)
    #expect(try await ledger.storeTokens([7, 8], of: attempt, now: 0))
    #expect(store.count == 2)
    #expect(try await claim() == .spent)
    #expect(try await ledger.takeTokens(of: transaction, now: 0) == [7, 8])
    #expect(try await ledger.takeTokens(of: transaction, now: 0) == nil)
    #expect(try await claim() == .spent)
  }

  @Test("A store without room for tokens still knows that the code was used", arguments: [1, 20_000])
  func noRoomToKeep(length: Int) async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.tokens: 0])
    let ledger = RedemptionLedger(store: store)
    let first = try granted(
      await ledger.claim(
        transaction, client: ClientID("mail"), verifier: nil, holder: .sample(), epoch: store.epoch, lease: 20,
        expiry: 60, now: 0))
    try await ledger.spend(first, now: 0)
    #expect(try await ledger.storeTokens([UInt8](repeating: 1, count: length), of: first, now: 0) == false)
    let second = try await ledger.claim(
      transaction, client: ClientID("mail"), verifier: nil, holder: .sample(), epoch: store.epoch, lease: 20,
      expiry: 60, now: 0)
    #expect(second == .spent)
  }

  @Test("A late release does not change the claim of a later request")
  func lateRelease() async throws {
    let first = try granted(await claim())
    try await ledger.release(first, now: 0)
    _ = try granted(await claim())
    try await ledger.release(first, now: 0)
    #expect(try await claim() == .busy)
    try await ledger.leaveUnsettled(first, now: 0)
    #expect(try await claim() == .busy)
    try await ledger.spend(first, now: 0)
    #expect(try await claim() == .busy)
  }

  @Test("The same client with the same verifier does not share a claim: of two requests one is granted")
  func nonce() async throws {
    let first = try granted(await claim())
    #expect(try await claim() == .busy)
    try await ledger.release(first, now: 0)
    #expect(try granted(await claim()) != first)
  }

  @Test("A response that arrives after the claim has ended still marks the code as used")
  func lateSpend() async throws {
    let attempt = try granted(await claim())
    _ = try await store.take(StoreKey(.claim, id: transaction), now: 0)
    try await ledger.spend(attempt, now: 0)
    #expect(try await claim() == .spent)
  }

  @Test("6749-4.1.2-single-use: of 20 concurrent redemptions one is granted")
  func concurrent() async throws {
    let ledger = ledger
    let store = store
    let transaction = transaction
    let winners = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let claim = try? await ledger.claim(
            transaction, client: ClientID("mail"), verifier: Secret("v"), holder: .sample(), epoch: store.epoch,
            lease: 20, expiry: 60, now: 0)
          guard case .granted = claim else { return 0 }
          return 1
        }
      }
      return await group.reduce(0, +)
    }
    #expect(winners == 1)
  }

  @Test("I-token: a claim without a complete request is released, and the code stays valid")
  func release() async throws {
    try await ledger.release(granted(await claim()), now: 0)
    let attempt = try granted(await claim("another"))
    #expect(!attempt.isRetry)
  }

  @Test("I-token: after a request without a response only the same client with the same verifier may retry")
  func unsettled() async throws {
    try await ledger.leaveUnsettled(granted(await claim()), now: 0)
    #expect(try await claim("another") == .claimedByOther)
    #expect(try await claim(client: "other") == .claimedByOther)
    let retry = try granted(await claim())
    #expect(retry.isRetry)
    #expect(try await claim() == .busy)

    // A retry without a request, and a retry without a response, leave the code open for one more retry.
    try await ledger.release(retry, now: 0)
    #expect(try await claim("another") == .claimedByOther)
    let second = try granted(await claim())
    #expect(second.isRetry)
    try await ledger.leaveUnsettled(second, now: 0)
    let third = try granted(await claim())
    #expect(third.isRetry)
    try await ledger.spend(third, now: 0)
    #expect(try await claim() == .spent)
  }

  @Test("I-token: after its lease a claim may be taken over by the same client with the same verifier, one at a time")
  func lease() async throws {
    let first = try granted(await claim())
    let last = UnixTime(seconds: 19) + store.clockTolerance
    let end = last + 1
    #expect(try await claim(now: last) == .busy)
    #expect(try await claim("another", now: end) == .claimedByOther)
    #expect(try await claim(client: "other", now: end) == .claimedByOther)
    let retry = try granted(await claim(now: end))
    #expect(retry.isRetry)
    #expect(try await claim(now: end) == .busy)
    // The first request has lost its claim, so it cannot change the claim of the retry.
    try await ledger.release(first, now: end)
    try await ledger.leaveUnsettled(first, now: end)
    #expect(try await claim(now: end) == .busy)
    try await ledger.spend(retry, now: end)
    #expect(try await claim(now: end) == .spent)
  }

  @Test("The end of a claim that the store could not record is recorded later, and the claim of a retry is taken back")
  func later() async throws {
    let store = LossyStore()
    let ledger = RedemptionLedger(store: store)
    func claim() async throws -> RedemptionLedger.Claim {
      try await ledger.claim(
        transaction, client: ClientID("mail"), verifier: nil, holder: .sample(), epoch: store.epoch, lease: 20,
        expiry: 60, now: 0)
    }
    let first = try granted(await claim())
    store.fails = .before
    await #expect(throws: StoreError.self) { try await ledger.leaveUnsettled(first, now: 0) }
    store.fails = nil
    #expect(try await claim() == .busy)
    try await store.changeNow()
    let second = try granted(await claim())
    #expect(second.isRetry)
    try await ledger.leaveUnsettled(second, now: 0)
    // The claim is made, but the store does not say so.
    store.fails = .after
    await #expect(throws: StoreError.self) { _ = try await claim() }
    store.fails = nil
    #expect(try await claim() == .busy)
    try await store.changeNow()
    let third = try granted(await claim())
    // The release of a claim is done later as well.
    store.fails = .before
    await #expect(throws: StoreError.self) { try await ledger.release(third, now: 0) }
    store.fails = nil
    try await store.changeNow()
    #expect(try granted(await claim()).isRetry)
  }

  @Test(
    "A code whose end the store could not record is refused as spent, while the store fails and after it has recorded it",
    arguments: [LossyStore.Failure.before, .after])
  func unwritten(failure: LossyStore.Failure) async throws {
    let store = LossyStore()
    let ledger = RedemptionLedger(store: store)
    // After the end of the lease, the claim could otherwise be taken over.
    func claim(_ ledger: RedemptionLedger, now: UnixTime) async throws -> RedemptionLedger.Claim {
      try await ledger.claim(
        transaction, client: ClientID("mail"), verifier: nil, holder: .sample(), epoch: store.epoch, lease: 20,
        expiry: 60, now: now)
    }
    let attempt = try granted(await claim(ledger, now: 0))
    store.fails = failure
    await #expect(throws: StoreError.self) { try await ledger.spend(attempt, now: 0) }
    #expect(try await claim(ledger, now: 1) == .spent)
    store.fails = nil
    #expect(try await claim(ledger, now: 50) == .spent)
    try await store.changeNow()
    #expect(try await claim(RedemptionLedger(store: store), now: 50) == .spent)
  }

  @Test("The client id and the verifier are separated in the digest")
  func separation() async throws {
    try await ledger.leaveUnsettled(granted(await claim("bc", client: "a")), now: 0)
    #expect(try await claim("c", client: "ab") == .claimedByOther)
  }

  @Test("A claim outlives its code by the clock tolerance of the store")
  func margin() async throws {
    _ = try await claim()
    let last = UnixTime(seconds: 59) + store.clockTolerance
    let late = try await ledger.claim(
      transaction, client: ClientID("mail"), verifier: nil, holder: .sample(), epoch: store.epoch, lease: 20,
      expiry: 60, now: last)
    #expect(late == .claimedByOther)
  }

  @Test("A full store is an error and grants nothing")
  func full() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.claim: 1])
    _ = try await store.put(.sample(.claim), StoreKind.claim.sample(), holder: .sample(), expiry: 100, now: 0)
    await #expect(throws: StoreError.full) {
      try await RedemptionLedger(store: store).claim(
        transaction, client: ClientID("mail"), verifier: nil, holder: .sample(1), epoch: store.epoch, lease: 20,
        expiry: 60, now: 0)
    }
  }
}
