import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

/// Holders that fill the share of a kind together harm only themselves, in every engine.
@Suite("6819-4.4.1.11-exhaustion: many holders fill a share together")
struct StoreFillTests {
  private static let attackers = 1_000

  /// Returns a size of the store with which the share of a kind has room for `entries` short entries, or some more.
  private static func size(_ kind: StoreKind, _ engine: StoreEngine, entries: Int) -> Int {
    let isFixed = if case .fixed = kind.properties.size { true } else { false }
    let length =
      switch engine {
      case .memory: isFixed ? 120 : 260
      case .file: isFixed ? 190 : 520
      case .redis: isFixed ? 350 : 260
      }
    return max(MemoryStore.minimumSize, entries * length * 100 / kind.properties.percent)
  }

  private static func attacker(_ number: Int, isUnlisted: Bool = false) -> StoreHolder {
    StoreHolder(client: ClientID("app"), address: "10.\(number / 250).\(number % 250).1", isUnlisted: isUnlisted)
  }

  /// Lets each attacker add entries in turn until `rounds` have passed, or no attacker can add another one. Returns the
  /// numbers of the entries that were stored.
  private static func fill(
    _ fixture: StoreFixture, _ kind: StoreKind, rounds: Int, isUnlisted: Bool = false
  ) async throws -> [Int] {
    let (store, now) = (fixture.store, fixture.now)
    var stored: [Int] = []
    for round in 0..<rounds {
      let results = try await fixture.simultaneously(attackers) { number -> Int? in
        let entry = round * attackers + number
        do throws(StoreError) {
          _ = try await store.put(
            .sample(kind, entry), kind.sample(entry), holder: attacker(number, isUnlisted: isUnlisted),
            expiry: now + 20_000, now: now)
          return entry
        } catch {
          #expect(error == .full)
          return nil
        }
      }
      let added = results.compactMap { $0 }
      if added.isEmpty { break }
      stored += added
    }
    return stored
  }

  @Test(
    "After 1,000 holders have filled a kind, a new and an old small holder get in, and no kept record is lost",
    arguments: StoreEngine.allCases, StoreKind.allCases)
  func together(engine: StoreEngine, kind: StoreKind) async throws {
    let isKept = kind.properties.whenFull == .refuse
    // In a share of 4,500 entries that is never evicted, each attacker gets several, so the old holder may have two.
    try await engine.run(size: Self.size(kind, engine, entries: isKept ? 4_500 : 1_500)) { fixture async throws in
      let old = StoreHolder(client: ClientID("app"), address: "192.0.2.1")
      try await fixture.add(.sample(kind, 1_000_000), old, seconds: 20_000)
      let stored = try await Self.fill(fixture, kind, rounds: isKept ? 40 : 4)
      // The share is full: an attacker is refused, or an entry is evicted for each new one.
      if isKept {
        #expect(await failure { try await fixture.add(.sample(kind, 2_000_000), Self.attacker(7)) } == .full)
      } else {
        if StoreEngine.withShares.contains(engine) { #expect(try fixture.usage(kind).evictions > 0) }
        try await fixture.add(.sample(kind, 2_000_000), Self.attacker(7))
      }
      for number in 0..<20 {
        let new = StoreHolder(client: ClientID("app"), address: "198.51.\(number).1")
        try await fixture.add(.sample(kind, 3_000_000 + number), new)
      }
      #expect(try await fixture.get(.sample(kind, 1_000_000)) != nil)
      try await fixture.add(.sample(kind, 1_000_001), old)
      #expect(try await fixture.get(.sample(kind, 1_000_000)) != nil)
      guard isKept else { return }
      let (store, now) = (fixture.store, fixture.now)
      let found = try await fixture.simultaneously(stored.count) { index in
        try await store.get(.sample(kind, stored[index]), now: now) != nil
      }
      #expect(!found.contains(false))
    }
  }

  @Test(
    "After 1,000 holders of unlisted clients have filled their half, a new one and a listed one get in",
    arguments: StoreEngine.allCases, [StoreKind.claim, .access])
  func unlisted(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: Self.size(kind, engine, entries: 4_000)) { fixture async throws in
      _ = try await Self.fill(fixture, kind, rounds: 20, isUnlisted: true)
      #expect(
        await failure {
          try await fixture.add(.sample(kind, 2_000_000), Self.attacker(7, isUnlisted: true))
        } == .full)
      try await fixture.add(.sample(kind, 3_000_000), StoreHolder(address: "198.51.100.1", isUnlisted: true))
      for number in 0..<10 {
        try await fixture.add(
          .sample(kind, 3_000_001 + number), StoreHolder(client: ClientID("app"), address: "198.51.100.1"))
      }
    }
  }

  @Test(
    "A holder that fills an evictable share loses only entries of its own", arguments: StoreEngine.withShares,
    StoreKind.allCases.filter { $0.properties.whenFull == .evict })
  func largeHolder(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: 8 << 20, entries: [kind: 200]) { fixture async throws in
      // Two large holders, one of them without a limit of its own, and ten small ones with 1 to 10 entries.
      let large = [StoreHolder(address: "127.0.0.1", isLoopback: true), StoreHolder.sample(5_000)]
      for holder in 0..<10 {
        for number in 0...holder { try await fixture.add(.sample(kind, holder * 100 + number), .sample(holder)) }
      }
      let capacity = 200 - 55
      for number in 0..<400 {
        try await fixture.add(.sample(kind, 10_000 + number), large[number % 2])
      }
      for holder in 0..<10 {
        for number in 0...holder { #expect(try await fixture.get(.sample(kind, holder * 100 + number)) != nil) }
      }
      var remaining = 0
      for number in 0..<400 where try await fixture.get(.sample(kind, 10_000 + number)) != nil { remaining += 1 }
      #expect(remaining <= capacity && remaining > 0)
      #expect(try await fixture.get(.sample(kind, 10_399)) != nil)
    }
  }

  @Test(
    "Of many holders with one entry each, the one whose entry is the oldest loses it", arguments: StoreEngine.withShares
  )
  func oldest(engine: StoreEngine) async throws {
    try await engine.run(size: 8 << 20, entries: [.state: 50]) { fixture async throws in
      for number in 0..<50 { try await fixture.add(.sample(.state, number), .sample(number)) }
      for number in 50..<80 {
        try await fixture.add(.sample(.state, number), .sample(number))
        #expect(try await fixture.get(.sample(.state, number - 50)) == nil)
        #expect(try await fixture.get(.sample(.state, number - 49)) != nil)
      }
    }
  }

  @Test("A long entry of a small holder fits into a share that short entries of others fill")
  func longEntry() async throws {
    for engine in StoreEngine.withShares {
      try await engine.run(size: MemoryStore.minimumSize) { fixture async throws in
        let (store, now) = (fixture.store, fixture.now)
        let kind = StoreKind.pushed
        for number in 0..<500 { try await fixture.add(.sample(kind, number), .sample(number)) }
        #expect(try fixture.usage(kind).evictions > 0)
        let long = [UInt8](repeating: 1, count: 16_384)
        for number in 0..<4 {
          _ = try await store.put(
            .sample(kind, 1_000 + number), long, holder: .sample(1_000), expiry: now + 100, now: now)
        }
        // With the second one the holder would become larger than every other one, so it loses its own first one.
        for number in 0..<4 { #expect(try await (fixture.get(.sample(kind, 1_000 + number)) != nil) == (number == 3)) }
        let usage = try fixture.usage(kind)
        #expect(usage.bytes <= usage.share)
        // An entry that no share can hold evicts nothing.
        #expect(usage.refusals == 0)
      }
    }
  }

  @Test(
    "A holder that has used its part may add entries again when others free room", arguments: StoreEngine.withShares,
    [StoreKind.claim, .family])
  func freed(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [kind: 1_600]) { fixture async throws in
      let properties = kind.properties
      func part(free: Int) -> Int { free * free / (1_600 * properties.holderDivisor) }
      // Others use half of the share.
      for number in 0..<800 { try await fixture.add(.sample(kind, number), .sample(number)) }
      var own = 0
      while await failure({ try await fixture.add(.sample(kind, 10_000 + own), .sample(5_000)) }) == nil {
        own += 1
        try #require(own < 1_600)
      }
      // The last entry was permitted, and the next one is not.
      #expect(own - 1 <= part(free: 800 - own + 1))
      #expect(own > part(free: 800 - own))
      for number in 0..<400 { _ = try await fixture.take(.sample(kind, number)) }
      var more = 0
      while await failure({ try await fixture.add(.sample(kind, 20_000 + more), .sample(5_000)) }) == nil {
        more += 1
        try #require(more < 1_600)
      }
      #expect(own + more - 1 <= part(free: 1_200 - own - more + 1))
      #expect(own + more > part(free: 1_200 - own - more))
    }
  }

  @Test("Expired entries of all shards make room for a holder that has used its part")
  func expired() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize)
    try await StoreFixture.run(store) { fixture async throws in
      var own = 0
      while await failure({ try await fixture.add(.sample(.claim, own), .sample(1), seconds: 60) }) == nil {
        own += 1
        try #require(own < 10_000)
      }
      try fixture.pass(seconds: 60)
      for number in 0..<own { try await fixture.add(.sample(.claim, 10_000 + number), .sample(1), seconds: 60) }
    }
  }
}
