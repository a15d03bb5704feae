import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

/// Successors that a client has got and that the store could not record: the process knows them all the same.
@Suite("Records of refresh tokens that the store could not write")
struct UnwrittenRecordsTests {
  private let store = LossyStore()
  private let ledger: RefreshLedger
  private let family: TransactionID

  init() throws {
    ledger = RefreshLedger(store: store)
    family = try #require(TransactionID(bytes: Array(1...16)))
  }

  private func use(_ generation: Int, window: Seconds = 0) -> RefreshUse {
    let grant = RefreshGrant(
      family: family, generation: generation, epoch: store.epoch,
      binding: ClientBinding(clientID: ClientID("mail"), scope: nil, upstreamClientID: ClientID("mail")),
      upstreamRefreshToken: Secret("upstream"), issuedAt: 0)
    var use = RefreshUse(grant, token: Secret("r\(generation)"), address: "192.0.2.1", isLoopback: false)
    use.idleLifetime = 1_000
    use.reuseWindow = window
    return use
  }

  private func claim(_ generation: Int, window: Seconds = 0, now: UnixTime) async throws -> RefreshLedger.Claim {
    try await ledger.claim(use(generation, window: window), lease: 10, now: now)
  }

  /// Uses the first token. The store fails when the successor is to be recorded.
  private func useFirst(_ failure: LossyStore.Failure) async throws {
    guard case .granted(let attempt) = try await claim(0, now: 0) else { throw StoreError.full }
    store.fails = failure
    await #expect(throws: StoreError.self) { _ = try await ledger.settle(attempt, successor: Secret("r1"), now: 0) }
  }

  @Test(
    "A token whose successor the store could not record is used up, also after the lease of its claim",
    arguments: [LossyStore.Failure.before, .after])
  func used(failure: LossyStore.Failure) async throws {
    try await useFirst(failure)
    #expect(try await claim(0, now: 1) == .reused)
    #expect(try await claim(0, window: 60, now: 1) == .repeated)
    #expect(try await claim(0, now: 500) == .reused)
    store.fails = nil
    #expect(try await claim(0, now: 500) == .reused)
    try await store.changeNow()
    #expect(try await claim(0, now: 500) == .reused)
    guard case .granted = try await claim(1, now: 500) else {
      Issue.record("the successor is not accepted")
      return
    }
  }

  @Test("The successor that the store could not record is accepted as soon as the store answers")
  func successor() async throws {
    try await useFirst(.before)
    store.fails = nil
    guard case .granted(let attempt) = try await claim(1, now: 1) else {
      Issue.record("the successor is not accepted")
      return
    }
    // The change that waited has no effect on the claim that came after it.
    try await store.changeNow()
    #expect(try await ledger.settle(attempt, successor: Secret("r2"), now: 1))
    #expect(try await claim(1, now: 1) == .reused)
  }
}
