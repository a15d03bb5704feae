import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

@Suite("Claims of a process that has ended or was stopped")
struct GoneProcessTests {
  private let first: SharedStore
  private let second: SharedStore
  private let transaction: TransactionID

  init() throws {
    let processes = SharedStore.processes(2)
    (first, second) = (processes[0], processes[1])
    transaction = try #require(TransactionID(bytes: Array(1...16)))
  }

  private func redeem(
    _ store: SharedStore, _ verifier: String = "verifier", client: String = "mail"
  ) async throws -> RedemptionLedger.Claim {
    try await RedemptionLedger(store: store).claim(
      transaction, client: ClientID(client), verifier: Secret(verifier), holder: .sample(), epoch: store.epoch,
      lease: 20, expiry: 60, now: 0)
  }

  private func redemption(_ store: SharedStore) async throws -> RedemptionLedger.Attempt {
    guard case .granted(let attempt) = try await redeem(store) else {
      Issue.record("the code is not granted")
      throw StoreError.full
    }
    return attempt
  }

  @Test("I-token: the same client with the same verifier takes over the code of a gone process, one request at a time")
  func code() async throws {
    _ = try await redemption(first)
    #expect(try await redeem(second) == .busy)
    first.disappear()
    #expect(try await redeem(second, "another") == .claimedByOther)
    #expect(try await redeem(second, client: "other") == .claimedByOther)
    let retry = try await redemption(second)
    #expect(retry.isRetry)
    #expect(try await redeem(second) == .busy)
    #expect(try await redeem(first) == .busy)
    #expect(try await RedemptionLedger(store: second).spend(retry, now: 0))
    #expect(try await redeem(first) == .spent)
  }

  @Test("I-token: a process that returns does not contact the upstream, and delivers no tokens for a lost code")
  func returned() async throws {
    let ledger = RedemptionLedger(store: first)
    let attempt = try await redemption(first)
    #expect(ledger.isHeld(attempt, for: 1_000))
    first.disappear()
    #expect(!ledger.isHeld(attempt, for: 0))
    let retry = try await redemption(second)
    #expect(try await !ledger.spend(attempt, now: 0))
    #expect(try await redeem(first) == .busy)
    #expect(try await RedemptionLedger(store: second).spend(retry, now: 0))
    #expect(try await !ledger.spend(attempt, now: 0))
  }

  @Test("The claim of a gone process that no request has taken over is still its own")
  func unnoticed() async throws {
    let attempt = try await redemption(first)
    first.disappear()
    #expect(try await RedemptionLedger(store: first).spend(attempt, now: 0))
    #expect(try await redeem(second) == .spent)
  }

  private func use(_ store: SharedStore) -> RefreshUse {
    let grant = RefreshGrant(
      family: transaction, generation: 0, epoch: store.epoch,
      binding: ClientBinding(clientID: ClientID("mail"), scope: nil, upstreamClientID: ClientID("mail")),
      upstreamRefreshToken: Secret("upstream"), issuedAt: 0)
    var use = RefreshUse(grant, token: Secret("r0"), address: "192.0.2.1", isLoopback: false, isAdopted: false)
    use.idleLifetime = 1_000
    return use
  }

  private func refresh(_ store: SharedStore, now: UnixTime = 0) async throws -> RefreshLedger.Attempt? {
    let claim = try await RefreshLedger(store: store).claim(use(store), lease: 10, now: now)
    if case .granted(let attempt) = claim { return attempt }
    #expect(claim == .busy)
    return nil
  }

  @Test("A refresh of a gone process is taken over, and its late response does not count")
  func refreshes() async throws {
    let attempt = try #require(try await refresh(first))
    #expect(try await refresh(second) == nil)
    first.disappear()
    #expect(!RefreshLedger(store: first).isHeld(attempt, for: 0))
    let retry = try #require(try await refresh(second))
    #expect(retry.tookOverClaim)
    #expect(retry.tookOverBeforeLeaseEnd)
    #expect(try await !RefreshLedger(store: first).settle(attempt, successor: Secret("other"), now: 0))
    #expect(try await RefreshLedger(store: second).settle(retry, successor: Secret("r1"), now: 0))
  }

  @Test("A refresh that took over and got no token leaves the claim to the process that was stopped")
  func restored() async throws {
    let attempt = try #require(try await refresh(first))
    first.disappear()
    let retry = try #require(try await refresh(second))
    try await RefreshLedger(store: second).release(retry, now: 0)
    #expect(try await RefreshLedger(store: first).settle(attempt, successor: Secret("r1"), now: 0))
  }

  @Test("After the lease, a refresh takes over without asking for the process, and is not before its end")
  func afterLease() async throws {
    _ = try #require(try await refresh(first))
    let retry = try #require(try await refresh(second, now: UnixTime(seconds: 10) + second.clockTolerance))
    #expect(retry.tookOverClaim)
    #expect(!retry.tookOverBeforeLeaseEnd)
  }

  @Test(
    "In memory and in a file, each claim of another process is that of an ended one", arguments: StoreEngine.withShares)
  func oneProcess(engine: StoreEngine) async throws {
    try await engine.run { fixture in
      let own = fixture.store.beginHold()
      #expect(fixture.store.isAlive(own, for: 1_000))
      #expect(await !fixture.store.isGone(own))
      #expect(await fixture.store.isGone(ClaimantID()))
      fixture.store.endHold()
    }
  }

  @Test("Each claim begins a hold, and each refusal and each end of a claim ends it")
  func holds() async throws {
    let codes = RedemptionLedger(store: first)
    let released = try await redemption(first)
    #expect(first.holds == 1)
    #expect(try await redeem(first) == .busy)
    #expect(first.holds == 1)
    try await codes.release(released, now: 0)
    #expect(first.holds == 0)
    try await codes.leaveUnsettled(redemption(first), now: 0)
    try await codes.release(redemption(first), now: 0)
    #expect(first.holds == 0)
    try await codes.spend(redemption(first), now: 0)
    #expect(try await redeem(first) == .spent)
    #expect(first.holds == 0)
    let families = RefreshLedger(store: first)
    let unused = try #require(try await refresh(first))
    try await families.release(unused, now: 0)
    #expect(first.holds == 0)
    let attempt = try #require(try await refresh(first))
    #expect(try await refresh(first) == nil)
    #expect(first.holds == 1)
    _ = try await families.settle(attempt, successor: Secret("r1"), now: 0)
    #expect(first.holds == 0)
  }
}
