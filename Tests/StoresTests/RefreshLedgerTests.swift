import OAuth
import Stores
import Testing

@Suite("9700-2.2.2-refresh-rotation: families of refresh tokens")
struct RefreshLedgerTests {
  private let store = MemoryStore()
  private let ledger: RefreshLedger
  private let family: TransactionID

  init() throws {
    ledger = RefreshLedger(store: store)
    family = try #require(TransactionID(bytes: Array(1...16)))
  }

  private func claim(_ token: String, now: Int64 = 0) async throws -> RefreshLedger.Claim {
    try await ledger.claim(family, token: Secret(token), lease: 10, expiry: 1_000, now: now)
  }

  private func granted(_ claim: RefreshLedger.Claim) throws -> RefreshLedger.Attempt {
    guard case .granted(let attempt) = claim else {
      Issue.record("\(claim) is no grant")
      throw StoreError.full
    }
    return attempt
  }

  private func rotate(_ token: String, to successor: String, keeping kept: [UInt8] = []) async throws -> Bool {
    try await ledger.settle(
      granted(await claim(token)), successor: Secret(successor), keeping: kept, now: 0)
  }

  @Test("Each token is good once and gives the next")
  func chain() async throws {
    #expect(try await rotate("r1", to: "r2"))
    #expect(try await rotate("r2", to: "r3"))
    #expect(try await rotate("r3", to: "r4"))
  }

  @Test("The token before the one in use is a repeat, any older one is a reuse")
  func reuse() async throws {
    _ = try await rotate("r1", to: "r2")
    #expect(try await claim("r1") == .repeated)
    _ = try await rotate("r2", to: "r3")
    #expect(try await claim("r1") == .reused)
    #expect(try await claim("forged") == .reused)
  }

  @Test("A repeat of the token before is a reuse as soon as its successor is in use")
  func repeatDuringUse() async throws {
    _ = try await rotate("r1", to: "r2")
    _ = try granted(await claim("r2"))
    #expect(try await claim("r1") == .reused)
  }

  @Test("Of 20 concurrent uses of one token one is granted")
  func concurrent() async throws {
    let ledger = ledger
    let family = family
    let winners = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let claim = try? await ledger.claim(family, token: Secret("r1"), lease: 10, expiry: 1_000, now: 0)
          guard case .granted = claim else { return 0 }
          return 1
        }
      }
      return await group.reduce(0, +)
    }
    #expect(winners == 1)
    #expect(try await claim("r1") == .busy)
  }

  @Test("A use that gave nothing leaves the token good")
  func release() async throws {
    try await ledger.release(granted(await claim("r1")), now: 0)
    #expect(try await rotate("r1", to: "r2"))
    try await ledger.release(granted(await claim("r2")), now: 0)
    #expect(try await claim("r1") == .repeated)
    #expect(try await rotate("r2", to: "r3"))
  }

  @Test("A use whose process died ends by itself, and its late answer counts for nothing")
  func lease() async throws {
    let first = try granted(await claim("r1"))
    #expect(try await claim("r1", now: 9) == .busy)
    let second = try granted(await claim("r1", now: 10))
    #expect(try await ledger.settle(first, successor: Secret("r2"), keeping: [], now: 11) == false)
    #expect(try await ledger.settle(second, successor: Secret("r3"), keeping: [], now: 11))
  }

  @Test("A dead family stays dead, and its kill gives back what was kept, once")
  func kill() async throws {
    _ = try await rotate("r1", to: "r2", keeping: [7, 7])
    let attempt = try granted(await claim("r2"))
    #expect(try await ledger.isDead(family, now: 0) == false)
    #expect(try await ledger.kill(family, expiry: 1_000, now: 0) == [7, 7])
    #expect(try await ledger.kill(family, expiry: 1_000, now: 0) == nil)
    #expect(try await ledger.settle(attempt, successor: Secret("r3"), keeping: [], now: 0) == false)
    #expect(try await claim("r2") == .dead)
    #expect(try await ledger.isDead(family, now: 999))
  }

  @Test("A family dies before it was ever used, and then no token of it is good")
  func killUnused() async throws {
    #expect(try await ledger.kill(family, expiry: 1_000, now: 0) == [])
    #expect(try await claim("r1") == .dead)
  }

  @Test("A store without room grants nothing")
  func full() async throws {
    let store = MemoryStore(maximumEntries: 1, shards: 1)
    let ledger = RefreshLedger(store: store)
    _ = try await store.put(StoreKey(.claim, id: [1]), [1], expiry: 1_000, now: 0)
    await #expect(throws: StoreError.full) {
      try await ledger.claim(family, token: Secret("r1"), lease: 10, expiry: 1_000, now: 0)
    }
  }
}
