import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

@Suite("6819-4.4.1.11-exhaustion: holders in a shared store")
struct HolderBudgetsTests {
  private static let size = 64 << 20
  private static let entry = 300
  private static let unlimited = StoreHolder(address: "127.0.0.1", isLoopback: true)
  private static let kept = StoreKind.allCases.filter { $0.properties.whenFull == .refuse }
  private static let evictable = StoreKind.allCases.filter { $0.properties.whenFull == .evict }
  private let budgets = HolderBudgets(size: size)

  /// Charges entries with the numbers from `first` on until the budget refuses or evicts one. Returns their number.
  private func charges(
    _ kind: StoreKind, _ holder: StoreHolder, from first: Int = 0, atMost limit: Int = 1_000_000,
    now: MonotonicTime = 0
  ) -> Int {
    for count in 0..<limit {
      guard let charge = charge(kind, first + count, holder, now: now), charge.evicted.isEmpty else { return count }
    }
    return limit
  }

  private func charge(
    _ kind: StoreKind, _ number: Int, _ holder: StoreHolder, now: MonotonicTime = 0
  ) -> HolderBudgets.Charge? {
    budgets.charge(.sample(kind, number), bytes: Self.entry, to: holder, lifetime: 600, now: now)
  }

  private func isUncharged(_ key: StoreKey) -> Bool { budgets.charge(of: key) == nil }

  /// Returns the number of entries that fit into the share of a kind.
  private func capacity(_ kind: StoreKind) -> Int { Self.size / 100 * kind.properties.percent / Self.entry }

  @Test(
    "A holder may add entries while it has only a part of the free ones, for a kind that is never evicted",
    arguments: kept)
  func limit(kind: StoreKind) {
    let made = charges(kind, .sample(1))
    let (capacity, divisor) = (capacity(kind), kind.properties.holderDivisor)
    func isPermitted(_ own: Int) -> Bool { own * capacity * divisor <= (capacity - own) * (capacity - own) }
    #expect(isPermitted(made - 2) && !isPermitted(made + 1))
    // Neither another holder nor another kind is affected.
    #expect(charge(kind, 900_000, .sample(2)) != nil)
    for other in StoreKind.allCases { #expect((charge(other, 900_001, .sample(1)) != nil) == (other != kind)) }
  }

  @Test("A holder above its part of an evictable kind loses its own oldest entry", arguments: evictable)
  func part(kind: StoreKind) throws {
    #expect(charge(kind, 900_000, .sample(2)) != nil)
    let made = charges(kind, .sample(1))
    let part = capacity(kind) / kind.properties.holderDivisor
    #expect((part - 1...part).contains(made))
    // `charges` has already evicted the first one.
    #expect(try #require(charge(kind, 900_001, .sample(1))).evicted == [.sample(kind, 1)])
    // An entry that was taken frees its room.
    budgets.undo(try #require(budgets.charge(of: .sample(kind, 2))))
    #expect(try #require(charge(kind, 900_002, .sample(1))).evicted == [])
  }

  @Test(
    "1,000 holders that fill the kinds one after the other leave room for another one", arguments: kept, [false, true])
  func together(kind: StoreKind, isUnlisted: Bool) {
    // The largest kind needs too many steps to be filled by holders in turn, and shows nothing else.
    let budgets = HolderBudgets(size: 20_000 * Self.entry * 100 / kind.properties.percent * (isUnlisted ? 2 : 1))
    func charge(_ number: Int, _ holder: StoreHolder) -> Bool {
      budgets.charge(.sample(kind, number), bytes: Self.entry, to: holder, lifetime: 600, now: 0) != nil
    }
    func holder(_ number: Int) -> StoreHolder {
      StoreHolder(address: "10.\(number / 250).\(number % 250).1", isUnlisted: isUnlisted)
    }
    var number = 0
    for index in 0..<1_000 {
      let before = number
      while charge(number, holder(index)) { number += 1 }
      #expect(number > before, "\(index)")
    }
    #expect(number > 15_000)
    #expect(charge(number, holder(1_000)))
    #expect(charge(number + 1, .sample(60_000)))
  }

  @Test("In a full share of an evictable kind the largest holder loses its oldest entry", arguments: evictable)
  func eviction(kind: StoreKind) throws {
    let most = charges(kind, Self.unlimited)
    #expect(most == capacity(kind))
    for number in 0..<20 {
      let added = try #require(charge(kind, 900_000 + number, .sample(number)))
      // `charges` has already evicted the first one.
      #expect(added.evicted == [.sample(kind, number + 1)])
    }
    #expect(budgets.bytes <= Self.size / 100 * kind.properties.percent)
  }

  @Test("Requests from this machine are limited by the share of the kind alone", arguments: kept)
  func loopback(kind: StoreKind) {
    #expect(charges(kind, Self.unlimited) == capacity(kind))
    for other in StoreKind.allCases { #expect((charge(other, 900_000, Self.unlimited) != nil) == (other != kind)) }
  }

  @Test("An entry is charged until it expires", arguments: [StoreKind.claim, .family])
  func expiry(kind: StoreKind) {
    let all = charges(kind, Self.unlimited)
    #expect(charge(kind, 900_000, Self.unlimited, now: 599_000) == nil)
    // The slots of the family's wheel have 8,192 s.
    #expect(charges(kind, Self.unlimited, now: 20_000_000) == all)
  }

  @Test("An entry that was not made is not charged, and an expired one is not given back twice")
  func notMade() throws {
    for kind in [StoreKind.claim, .state] {
      for _ in 0..<5 { budgets.undo(try #require(charge(kind, 1, .sample(1)))) }
      #expect(budgets.bytes == 0)
    }
    let early = try #require(charge(.claim, 1, .sample(1)))
    #expect(charge(.claim, 2, .sample(1), now: 1_000_000) != nil)
    budgets.undo(early)
    #expect(budgets.bytes == Self.entry)
  }

  @Test("The charge of a removed entry ends, once, and does not end again when it would have expired", arguments: kept)
  func removal(kind: StoreKind) throws {
    let key = StoreKey.sample(kind, 1)
    #expect(isUncharged(key))
    budgets.keep(try #require(charge(kind, 1, .sample(1))))
    budgets.keep(try #require(charge(kind, 2, .sample(1))))
    let removed = try #require(budgets.charge(of: key))
    for _ in 0..<2 {
      budgets.undo(removed)
      #expect(isUncharged(key))
      #expect(budgets.bytes == Self.entry)
    }
    // A new entry of the key is another charge.
    budgets.keep(try #require(charge(kind, 1, .sample(2))))
    budgets.undo(removed)
    #expect(budgets.bytes == 2 * Self.entry)
    // The other entries expire once.
    #expect(charge(kind, 3, .sample(3), now: 20_000_000) != nil)
    budgets.undo(removed)
    #expect(isUncharged(key))
    #expect(budgets.bytes == Self.entry)
  }

  @Test("Any number of entries that are removed leave no charge, and the other entries keep theirs", arguments: kept)
  func removals(kind: StoreKind) throws {
    for number in 0..<1_000 { budgets.keep(try #require(charge(kind, number, Self.unlimited))) }
    for number in 0..<1_000 where !number.isMultiple(of: 3) {
      budgets.undo(try #require(budgets.charge(of: .sample(kind, number))))
    }
    #expect(budgets.bytes == 334 * Self.entry)
    for number in 0..<1_000 {
      #expect(isUncharged(.sample(kind, number)) != number.isMultiple(of: 3), "\(number)")
    }
    for number in stride(from: 0, to: 1_000, by: 3) {
      budgets.undo(try #require(budgets.charge(of: .sample(kind, number))))
    }
    #expect(budgets.bytes == 0)
    #expect(charges(kind, Self.unlimited) == capacity(kind))
  }

  @Test("A key has one charge, also if it is uncertain whether an entry was stored")
  func uncertain() throws {
    let key = StoreKey.sample(.family, 1)
    for isCertain in [false, false, true, false, true] {
      budgets.keep(try #require(charge(.family, 1, .sample(1))), isCertain: isCertain)
      #expect(budgets.bytes == Self.entry)
    }
    let stored = try #require(budgets.charge(of: key))
    budgets.undoUnlessStored(stored)
    #expect(budgets.bytes == Self.entry)
    budgets.undo(stored)
    #expect(budgets.bytes == 0)
    let pending = try #require(charge(.family, 1, .sample(1)))
    budgets.keep(pending, isCertain: false)
    for _ in 0..<2 { budgets.undoUnlessStored(pending) }
    // The entry was withdrawn before its failure was recorded.
    budgets.keep(pending, isCertain: false)
    #expect(budgets.bytes == 0)
  }

  @Test("All unlisted clients together have half of a share that is never evicted")
  func unlisted() {
    for kind in Self.kept {
      let local = StoreHolder(address: "127.0.0.1", isLoopback: true, isUnlisted: true)
      #expect(charges(kind, local) == Self.size / 100 * kind.properties.percent / 2 / Self.entry)
      #expect(charge(kind, 900_000, .sample(1)) != nil)
    }
  }
}
