import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

@Suite("6819-4.4.1.11-exhaustion: holders in a shared store")
struct HolderBudgetsTests {
  private let budgets = HolderBudgets()

  private func charges(
    _ kind: StoreKind, _ holder: StoreHolder, lifetime: Seconds = 600, now: MonotonicTime = 0
  ) -> Int {
    var count = 0
    while count < 1_000_000, budgets.charge(kind, to: holder, lifetime: lifetime, now: now) { count += 1 }
    return count
  }

  @Test("A holder may make as many entries at once as its part of a memory store", arguments: StoreKind.allCases)
  func limit(kind: StoreKind) {
    #expect(charges(kind, .sample(1)) == HolderBudgets.maximumBurst(of: kind))
    #expect(HolderBudgets.maximumBurst(of: kind) >= 16)
    // Neither another holder nor another kind is affected.
    #expect(budgets.charge(kind, to: .sample(2), lifetime: 600, now: 0))
  }

  @Test("The budget refills within the lifetime of an entry")
  func refill() {
    let all = charges(.state, .sample(1))
    let half = charges(.state, .sample(1), now: 300_000)
    #expect(abs(half - all / 2) < all / 20)
    _ = charges(.state, .sample(1), now: 300_000)
    #expect(abs(charges(.state, .sample(1), now: 900_000) - all) < all / 20)
  }

  @Test("An entry that was not made is not charged", arguments: StoreKind.allCases)
  func notMade(kind: StoreKind) {
    for _ in 0..<5 {
      #expect(budgets.charge(kind, to: .sample(1), lifetime: 600, now: 0))
      budgets.giveBack(kind, to: .sample(1), lifetime: 600, now: 0)
    }
    #expect(charges(kind, .sample(1)) == HolderBudgets.maximumBurst(of: kind))
  }

  @Test(
    "All unlisted clients together may make a quarter of the entries of a memory store at once, if they are never evicted"
  )
  func unlisted() {
    for kind in StoreKind.allCases {
      let limit = HolderBudgets.unlistedBurst(of: kind)
      var made = 0
      for network in 0..<1_000 where made <= limit {
        let holder = StoreHolder(address: "10.\(network / 250).\(network % 250).1", isUnlisted: true)
        made += charges(kind, holder)
      }
      if kind.properties.whenFull == .refuse { #expect(made == limit) } else { #expect(made > limit) }
      // Listed clients are not affected, nor is an entry that was given back.
      #expect(budgets.charge(kind, to: .sample(1), lifetime: 600, now: 0))
      guard kind.properties.whenFull == .refuse else { continue }
      let local = StoreHolder(address: "127.0.0.1", isLoopback: true, isUnlisted: true)
      #expect(!budgets.charge(kind, to: local, lifetime: 600, now: 0))
      budgets.giveBack(kind, to: local, lifetime: 600, now: 0)
      #expect(budgets.charge(kind, to: local, lifetime: 600, now: 0))
    }
  }

  @Test("Requests from this machine are not limited")
  func loopback() {
    let holder = StoreHolder(address: "127.0.0.1", isLoopback: true)
    #expect(
      (0..<HolderBudgets.maximumBurst(of: .pushed) + 10).allSatisfy { _ in
        budgets.charge(.pushed, to: holder, lifetime: 90, now: 0)
      })
  }
}
