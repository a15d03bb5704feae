import OAuth
import Stores
import Testing

@Suite("I-token: the single use of a code")
struct RedemptionLedgerTests {
  private let store = MemoryStore()
  private let ledger: RedemptionLedger
  private let transaction: TransactionID

  init() throws {
    ledger = RedemptionLedger(store: store)
    transaction = try #require(TransactionID(bytes: Array(1...16)))
  }

  private func claim(_ verifier: String = "verifier", client: String = "mail") async throws -> RedemptionLedger.Claim {
    try await ledger.claim(
      transaction, client: ClientID(client), verifier: Secret(verifier), expiry: 60, now: 0)
  }

  private func granted(_ claim: RedemptionLedger.Claim) throws -> RedemptionLedger.Attempt {
    guard case .granted(let attempt) = claim else {
      Issue.record("\(claim) is no grant")
      throw StoreError.full
    }
    return attempt
  }

  @Test("I-token: a code is claimed once")
  func once() async throws {
    let attempt = try granted(await claim())
    #expect(!attempt.isRetry)
    #expect(try await claim() == .claimed)
    #expect(try await ledger.spend(attempt, now: 0))
    #expect(try await claim() == .spent(kept: []))
  }

  @Test("A replay learns what was kept with the tokens, and one entry is all that a code ever takes")
  func kept() async throws {
    #expect(try await ledger.spend(granted(await claim()), keeping: [7, 8], now: 0))
    #expect(try await claim() == .spent(kept: [7, 8]))
    #expect(store.count == 1)
  }

  @Test("A store without room for what is to be kept still knows that the code was used")
  func noRoomToKeep() async throws {
    let store = MemoryStore(maximumBytes: 64, shards: 1)
    let ledger = RedemptionLedger(store: store)
    let first = try await ledger.claim(transaction, client: ClientID("mail"), verifier: nil, expiry: 60, now: 0)
    #expect(try await ledger.spend(granted(first), keeping: [UInt8](repeating: 1, count: 100), now: 0) == false)
    let second = try await ledger.claim(transaction, client: ClientID("mail"), verifier: nil, expiry: 60, now: 0)
    #expect(second == .spent(kept: []))
  }

  @Test("An answer that comes after the claim has ended still marks the code")
  func lateSpend() async throws {
    let attempt = try granted(await claim())
    try await store.remove(StoreKey(.claim, id: transaction.bytes), now: 0)
    #expect(try await ledger.spend(attempt, keeping: [7], now: 0))
    #expect(try await claim() == .spent(kept: [7]))
  }

  @Test("6749-4.1.2-single-use: of 20 concurrent redemptions one is granted")
  func concurrent() async throws {
    let ledger = ledger
    let transaction = transaction
    let winners = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let claim = try? await ledger.claim(
            transaction, client: ClientID("mail"), verifier: Secret("v"), expiry: 60, now: 0)
          guard case .granted = claim else { return 0 }
          return 1
        }
      }
      return await group.reduce(0, +)
    }
    #expect(winners == 1)
  }

  @Test("I-token: a claim that sent no complete request is released, and the code is as good as before")
  func release() async throws {
    try await ledger.release(granted(await claim()), now: 0)
    let attempt = try granted(await claim("another"))
    #expect(!attempt.isRetry)
  }

  @Test("I-token: after a request without an answer the same client with the same verifier may retry, alone")
  func unsettled() async throws {
    try await ledger.leaveUnsettled(granted(await claim()), now: 0)
    #expect(try await claim("another") == .claimed)
    #expect(try await claim(client: "other") == .claimed)
    let retry = try granted(await claim())
    #expect(retry.isRetry)
    #expect(try await claim() == .claimed)

    // A retry that sent nothing, and one without an answer, leave the code open for a retry and not more.
    try await ledger.release(retry, now: 0)
    #expect(try await claim("another") == .claimed)
    let second = try granted(await claim())
    #expect(second.isRetry)
    try await ledger.leaveUnsettled(second, now: 0)
    let third = try granted(await claim())
    #expect(third.isRetry)
    try await ledger.spend(third, now: 0)
    #expect(try await claim() == .spent(kept: []))
  }

  @Test("A client id does not run into the verifier")
  func separation() async throws {
    try await ledger.leaveUnsettled(granted(await claim("bc", client: "a")), now: 0)
    #expect(try await claim("c", client: "ab") == .claimed)
  }

  @Test("A claim outlives its code by as much as the clocks of the store may be off")
  func margin() async throws {
    _ = try await claim()
    let last = 60 + store.clockTolerance - 1
    let late = try await ledger.claim(
      transaction, client: ClientID("mail"), verifier: nil, expiry: 60, now: last)
    #expect(late == .claimed)
  }

  @Test("A store that is full is an error and no grant")
  func full() async throws {
    let store = MemoryStore(maximumEntries: 1, shards: 1)
    #expect(try await store.put(StoreKey(.state, id: [1]), [], expiry: 100, now: 0))
    await #expect(throws: StoreError.full) {
      try await RedemptionLedger(store: store).claim(
        transaction, client: ClientID("mail"), verifier: nil, expiry: 60, now: 0)
    }
  }
}
