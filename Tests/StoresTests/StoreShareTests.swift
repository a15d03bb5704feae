import Foundation
import OAuth
import RedisTestSupport
import Stores
import Synchronization
import Testing
import Time

/// The shares of the kinds, and of the holders within a kind.
@Suite("6819-4.4.1.11-exhaustion: shares of a store")
struct StoreShareTests {
  private static let evictable = StoreKind.allCases.filter { $0.properties.whenFull == .evict }
  private static let kept = StoreKind.allCases.filter { $0.properties.whenFull == .refuse }

  @Test("The shares of all kinds add up to the whole store, and their letters and names differ")
  func whole() {
    #expect(StoreKind.allCases.map(\.properties.percent).reduce(0, +) == 100)
    #expect(Set(StoreKind.allCases.map(\.rawValue)).count == StoreKind.allCases.count)
    #expect(Set(StoreKind.allCases.map(\.properties.name)).count == StoreKind.allCases.count)
    let size = 64 << 20
    let shares = MemoryStore(size: size).usage.map(\.share)
    #expect(shares.reduce(0, +) <= size)
    #expect(shares.reduce(0, +) > size * 98 / 100)
  }

  @Test("Only entries whose loss costs a repeated step are evicted")
  func evictableKinds() {
    #expect(Self.evictable == [.tokens, .answer, .state, .pushed, .device, .deviceAnswer])
    #expect(Self.kept == [.claim, .code, .family, .access, .userCode])
  }

  @Test(
    "A full share refuses new entries, keeps live ones, and has room again when they expire",
    arguments: StoreEngine.withShares, kept)
  func refuses(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [kind: 100]) { store async throws in
      for number in 0..<100 { try await store.add(.sample(kind, number), .sample(number), seconds: 20_000) }
      #expect(
        await failure {
          try await store.add(.sample(kind, 200), .sample(200), seconds: 40_000)
        } == .full)
      try store.pass(seconds: 19_999)
      for number in 0..<100 { #expect(try await store.get(.sample(kind, number)) != nil) }
      #expect(try store.usage(kind).refusals == 1)
      #expect(try store.usage(kind).evictions == 0)
      try store.pass(seconds: 20_001)
      try await store.add(.sample(kind, 200), .sample(200), seconds: 50_000)
      #expect(store.count < 100)
    }
  }

  @Test(
    "A full share does not take room from the other kinds", arguments: StoreEngine.withShares, StoreKind.allCases)
  func others(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [kind: 1]) { store async throws in
      try await store.add(.sample(kind, 1), .sample())
      let isEvictable = kind.properties.whenFull == .evict
      #expect(await failure { try await store.add(.sample(kind, 2), .sample()) } == (isEvictable ? nil : .full))
      #expect(try await (store.get(.sample(kind, 1)) == nil) == isEvictable)
      for other in StoreKind.allCases where other != kind { try await store.add(.sample(other), .sample()) }
    }
  }

  @Test("Records of access tokens are limited by bytes: a holder above its part is refused, and keeps its entries")
  func limitsOfBytes() async throws {
    for engine in StoreEngine.withShares {
      try await engine.run(size: 8 << 20) { store async throws in
        let kind = StoreKind.access
        var number = 0
        while await failure({ try await store.add(.sample(kind, number), .sample(2)) }) == nil {
          number += 1
          try #require(number < 10_000)
        }
        let usage = try store.usage(kind)
        #expect(number > 16 && usage.evictions == 0 && usage.entries == number)
        #expect(usage.bytes <= usage.share / kind.properties.holderDivisor)
        #expect(try await store.get(.sample(kind, 0)) != nil)
        try await store.add(.sample(kind, 100_000), .sample(3))
      }
    }
  }

  @Test(
    "One client and network cannot fill a share that is never evicted", arguments: StoreEngine.withShares,
    [StoreKind.claim, .code, .family])
  func limits(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [kind: 1_600]) { store async throws in
      // The last entry is permitted at own * 1,600 * divisor <= (1,600 - own)^2.
      let limit = kind == .family ? 48 : 90
      for number in 0..<limit { try await store.add(.sample(kind, number), .sample(7)) }
      #expect(await failure { try await store.add(.sample(kind, limit), .sample(7)) } == .full)
      // Other holders are not affected, nor is another client of the same network.
      try await store.add(.sample(kind, limit + 1), .sample(8))
      try await store.add(.sample(kind, limit + 2), StoreHolder(client: ClientID("other"), address: "10.0.7.1"))
      // The room is charged to the holder that made the entry, and is returned with the entry.
      for number in 0..<2 { _ = try await store.take(.sample(kind, number)) }
      try await store.add(.sample(kind, limit + 3), .sample(7))
      #expect(await failure { try await store.add(.sample(kind, limit + 4), .sample(7)) } == .full)
    }
  }

  @Test(
    "All clients that the policy does not list have half of a share that is never evicted, from however many networks",
    arguments: StoreEngine.withShares, kept)
  func unlisted(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: 8 << 20, entries: [kind: 200]) { store async throws in
      func unlisted(_ number: Int) -> StoreHolder {
        // Some of the requests come from this machine.
        StoreHolder(address: "10.1.\(number % 250).1", isLoopback: number % 10 == 0, isUnlisted: true)
      }
      for number in 0..<100 { try await store.add(.sample(kind, number), unlisted(number), seconds: 20_000) }
      #expect(await failure { try await store.add(.sample(kind, 300), unlisted(200)) } == .full)
      #expect(await failure { try await store.add(.sample(kind, 301), unlisted(210)) } == .full)
      // Listed clients have the other half, also in the networks of the others.
      for number in 100..<200 {
        try await store.add(.sample(kind, number), StoreHolder(client: ClientID("app"), address: "10.1.\(number).1"))
      }
      for number in 0..<200 { #expect(try await store.get(.sample(kind, number)) != nil) }
      // Their room is returned with an entry, and when entries expire.
      for number in 100..<150 { _ = try await store.take(.sample(kind, number)) }
      #expect(await failure { try await store.add(.sample(kind, 302), unlisted(201)) } == .full)
      _ = try await store.take(.sample(kind, 0))
      _ = try await store.take(.sample(kind, 1))
      for number in 203..<205 { try await store.add(.sample(kind, number + 100), unlisted(number)) }
      #expect(await failure { try await store.add(.sample(kind, 305), unlisted(202)) } == .full)
    }
  }

  @Test(
    "A holder above its part of an evictable share loses its own oldest entries", arguments: StoreEngine.withShares,
    evictable)
  func ownOldest(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: 8 << 20) { store async throws in
      try await store.add(.sample(kind, 100_000), .sample(1))
      let share = try store.usage(kind).share
      var puts = 0
      while try store.usage(kind).evictions < 10 {
        // Later entries expire earlier, so only the age can decide.
        try await store.add(.sample(kind, puts), .sample(2), seconds: Seconds(20_000 - puts))
        puts += 1
        try #require(puts < 10_000)
      }
      #expect(try store.usage(kind).bytes <= share / kind.properties.holderDivisor + 1_000)
      for number in 0..<10 { #expect(try await store.get(.sample(kind, number)) == nil) }
      #expect(try await store.get(.sample(kind, 10)) != nil)
      #expect(try await store.get(.sample(kind, 100_000)) != nil)
    }
  }

  @Test(
    "A full share evicts from the largest holder, and no holder falls below 16 entries or an equal part",
    arguments: StoreEngine.withShares, evictable)
  func largestHolder(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: 8 << 20, entries: [kind: 60]) { store async throws in
      var number = 0
      for (holder, count) in [(1, 16), (2, 24), (3, 20)] {
        for _ in 0..<count {
          try await store.add(.sample(kind, number), .sample(holder))
          number += 1
        }
      }
      // The next entries come from new holders: 4 evict from the largest, then one from each in turn, and none below
      // 16.
      for step in 0..<12 { try await store.add(.sample(kind, 1_000 + step), .sample(100 + step)) }
      #expect(try store.usage(kind).evictions == 12)
      var live: [Int] = []
      for number in 0..<60 where try await store.get(.sample(kind, number)) != nil { live.append(number) }
      #expect(live.filter { $0 < 16 }.count == 16)
      #expect(live.filter { (16..<40).contains($0) } == Array(24..<40))
      #expect(live.filter { $0 >= 40 } == Array(44..<60))
      // With more holders, 16 entries are more than an equal part. All three lose entries, and no holder of one entry.
      for step in 0..<30 { try await store.add(.sample(kind, 2_000 + step), .sample(200 + step)) }
      #expect(try store.usage(kind).evictions == 42)
      #expect(try store.usage(kind).refusals == 0)
      for holder in [0..<16, 16..<40, 40..<60] {
        var left = 0
        for number in holder where try await store.get(.sample(kind, number)) != nil { left += 1 }
        #expect(left >= 60 / 45)
        #expect(left == 6)
      }
      for step in 0..<30 { #expect(try await store.get(.sample(kind, 2_000 + step)) != nil) }
    }
  }

  @Test(
    "Requests from this machine are not limited by holder, and can still be evicted for others",
    arguments: StoreEngine.withShares)
  func loopback(engine: StoreEngine) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [.claim: 160, .state: 40]) { store async throws in
      let local = StoreHolder(address: "127.0.0.1", isLoopback: true)
      for number in 0..<160 { try await store.add(.sample(.claim, number), local) }
      for number in 0..<40 { try await store.add(.sample(.state, number), local) }
      try await store.add(.sample(.state, 100), .sample(1))
      #expect(try await store.get(.sample(.state, 0)) == nil)
    }
  }

  @Test(
    "Reserved room is charged at once, and the room that the value does not need is returned",
    arguments: StoreEngine.withShares)
  func reserved(engine: StoreEngine) async throws {
    try await engine.run(size: 8 << 20) { fixture async throws in
      let store = fixture.store
      let key = StoreKey.sample(.answer)
      try await store.reserve(key, bytes: 16_384, holder: .sample(), expiry: 100, now: 0)
      let reserved = try fixture.usage(.answer).bytes
      #expect(reserved > 16_384)
      let value = [UInt8](repeating: 7, count: 1_000)
      #expect(try await store.replace(key, [], with: value, expiry: 50, now: 0))
      #expect(try fixture.usage(.answer).bytes == reserved - 15_384)
      // A reservation replaces the previous value, and its removal returns all of its room.
      try await store.reserve(key, bytes: 16_384, holder: .sample(), expiry: 100, now: 0)
      #expect(try fixture.usage(.answer).bytes == reserved)
      #expect(try await store.remove(key, [], now: 0))
      #expect(try fixture.usage(.answer).bytes == 0)
      #expect(try fixture.usage(.answer).entries == 0)
    }
  }

  @Test("A reservation evicts the oldest entry of its holder without room", arguments: StoreEngine.withShares)
  func reservationEvicts(engine: StoreEngine) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [.answer: 1]) { fixture async throws in
      let store = fixture.store
      try await fixture.add(.sample(.answer, 1), .sample())
      try await store.reserve(.sample(.answer, 2), bytes: 100, holder: .sample(), expiry: 100, now: 0)
      #expect(try await fixture.get(.sample(.answer, 1)) == nil)
      #expect(try fixture.usage(.answer).evictions == 1)
    }
  }

  @Test("Reserved room is kept if the share fills up meanwhile", arguments: StoreEngine.withShares)
  func reservedStays(engine: StoreEngine) async throws {
    try await engine.run(size: 8 << 20) { fixture async throws in
      let store = fixture.store
      let key = StoreKey.sample(.answer, 1_000)
      try await store.reserve(key, bytes: 16_384, holder: .sample(1), expiry: 100, now: 0)
      for number in 0..<500 {
        _ = try? await store.put(
          .sample(.answer, number), [UInt8](repeating: 1, count: 4_096), holder: .sample(2 + number % 50), expiry: 100,
          now: 0)
      }
      let usage = try fixture.usage(.answer)
      #expect(usage.refusals + usage.evictions > 0)
      let value = [UInt8](repeating: 7, count: 16_384)
      #expect(try await store.replace(key, [], with: value, expiry: 100, now: 0))
      let filled = try fixture.usage(.answer)
      #expect(filled.bytes <= filled.share)
    }
  }

  @Test("A state that any client can create is at most 4 KiB long")
  func stateLength() {
    #expect(StoreKind.state.properties.size == .upTo(4_096))
  }

  @Test(
    "The operator is warned once when four fifths of a share are in use, and again after relief",
    arguments: StoreEngine.withShares, kept)
  func warning(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [kind: 100]) { store async throws in
      let warnings = Warnings()
      store.store.reportShortages { usage in warnings.kinds.withLock { $0.append(usage.kind) } }
      for number in 0..<79 { try await store.add(.sample(kind, number), .sample(number)) }
      #expect(warnings.seen.isEmpty)
      for number in 79..<90 { try await store.add(.sample(kind, number), .sample(number)) }
      #expect(warnings.seen == [kind])
      for number in 0..<40 { _ = try await store.take(.sample(kind, number)) }
      for number in 90..<130 { try await store.add(.sample(kind, number), .sample(number)) }
      #expect(warnings.seen == [kind, kind])
    }
  }

  @Test(
    "Writes clear expired entries, so that a store in use does not grow", arguments: StoreEngine.withShares,
    [StoreKind.claim, .state])
  func sweeping(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      for second in 0..<500 {
        for number in 0..<3 {
          try await store.add(.sample(kind, second * 3 + number), .sample(second), seconds: Seconds(1 + number * 7))
        }
        try store.pass(seconds: 1)
      }
      #expect(store.count < 200)
    }
  }

  private final class Warnings: Sendable {
    let kinds = Mutex<[StoreKind]>([])
    var seen: [StoreKind] { kinds.withLock { $0 } }
  }

  @Test("1,000,000 families of refresh tokens take at most 160 MiB")
  func families() throws {
    // The charge for a family, which covers its record, its place in the wheel and its part of the index.
    let store = MemoryStore(size: 256 << 20, entries: [.family: 1_000_000])
    let usage = try #require(store.usage.first { $0.kind == .family })
    #expect(usage.share <= 160 << 20)
    guard case .fixed(let length) = StoreKind.family.properties.size else {
      Issue.record("a family has no fixed length")
      return
    }
    #expect(length <= 80)
  }
}

/// Resident memory as the kernel counts it. Other tests of the process change it too.
@Suite("The memory of a memory store")
struct StoreMemoryTests {
  /// The resident memory in bytes.
  private func resident() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(pages.count > 1 ? Int(pages[1]) : nil) * 4_096
  }

  @Test("200,000 families of refresh tokens take at most 32 MiB, and 1,000,000 at most 160 MiB")
  func families() async throws {
    // A test that allocates at the same time can only fail one measurement. All stores live until the end, so that none
    // reuses the memory of another.
    var stores: [MemoryStore] = []
    var growth: [Int] = []
    while growth.count < 4, growth.allSatisfy({ $0 > 32 << 20 }) {
      let store = MemoryStore(size: 128 << 20)
      stores.append(store)
      growth.append(try await self.growth(filling: store))
      #expect(store.count == 200_000)
    }
    #expect(growth.contains { $0 <= 32 << 20 }, "bytes: \(growth)")
    withExtendedLifetime(stores) {}
  }

  /// The bytes by which the process grows while 200,000 families are stored.
  private func growth(filling store: MemoryStore) async throws -> Int {
    let holder = StoreHolder(address: "127.0.0.1", isLoopback: true)
    let before = try resident()
    for number in 0..<200_000 {
      _ = try await store.put(
        .sample(.family, number), StoreKind.family.sample(), holder: holder, expiry: 7_776_000, now: 0)
    }
    return try resident() - before
  }
}
