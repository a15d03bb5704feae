import Foundation
import OAuth
import Stores
import Synchronization
import Testing
import Time

/// The shares of the kinds, and of the holders within a kind.
@Suite("6819-4.4.1.11-exhaustion: shares of the memory store")
struct StoreShareTests {
  private static let evictable = StoreKind.allCases.filter { $0.row.whenFull == .evict }
  private static let kept = StoreKind.allCases.filter { $0.row.whenFull == .refuse }

  private func put(
    _ store: MemoryStore, _ key: StoreKey, _ holder: StoreHolder, expiry: UnixTime = 1_000, now: UnixTime = 0
  ) async throws {
    let existing = try await store.put(key, key.kind.sample(), holder: holder, expiry: expiry, now: now)
    #expect(existing == nil)
  }

  @Test("The shares of all kinds add up to the whole store, and their letters and names differ")
  func whole() {
    #expect(StoreKind.allCases.map(\.row.percent).reduce(0, +) == 100)
    #expect(Set(StoreKind.allCases.map(\.rawValue)).count == StoreKind.allCases.count)
    #expect(Set(StoreKind.allCases.map(\.row.name)).count == StoreKind.allCases.count)
    let size = 64 << 20
    let shares = MemoryStore(size: size).usage.map(\.share)
    #expect(shares.reduce(0, +) <= size)
    #expect(shares.reduce(0, +) > size * 98 / 100)
  }

  @Test("Only entries whose loss costs a repeated step are evicted")
  func evictableKinds() {
    #expect(Self.evictable == [.tokens, .answer, .state, .pushed])
    #expect(Self.kept == [.claim, .code, .family])
  }

  @Test("A full share refuses new entries, keeps live ones, and has room again when they expire", arguments: kept)
  func refuses(kind: StoreKind) async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [kind: 100])
    for number in 0..<100 {
      try await put(store, .sample(kind, number), .sample(number), expiry: 20_000)
    }
    await #expect(throws: StoreError.full) { try await put(store, .sample(kind, 200), .sample(200), expiry: 40_000) }
    for number in 0..<100 { #expect(try await store.get(.sample(kind, number), now: 19_999) != nil) }
    #expect(usage(store, kind).refusals == 1)
    #expect(usage(store, kind).evictions == 0)
    try await put(store, .sample(kind, 200), .sample(200), expiry: 90_000, now: 40_000)
    #expect(store.count < 100)
  }

  @Test("A full share does not take room from the other kinds", arguments: StoreKind.allCases)
  func others(kind: StoreKind) async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [kind: 1])
    try await put(store, .sample(kind, 1), .sample())
    await #expect(throws: StoreError.full) { try await put(store, .sample(kind, 2), .sample()) }
    for other in StoreKind.allCases where other != kind { try await put(store, .sample(other), .sample()) }
  }

  @Test("One client and network cannot fill a share that is never evicted", arguments: kept)
  func limits(kind: StoreKind) async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [kind: 1_600])
    let limit = 1_600 / kind.row.holders
    for number in 0..<limit { try await put(store, .sample(kind, number), .sample(7)) }
    await #expect(throws: StoreError.full) { try await put(store, .sample(kind, limit), .sample(7)) }
    // Other holders are not affected, nor is another client of the same network.
    try await put(store, .sample(kind, limit + 1), .sample(8))
    try await put(
      store, .sample(kind, limit + 2), StoreHolder(client: ClientID("other"), address: "10.0.7.1"))
    // The room is charged to the holder that made the entry, and is returned with the entry.
    _ = try await store.take(.sample(kind, 0), now: 0)
    try await put(store, .sample(kind, limit + 3), .sample(7))
  }

  @Test("A holder above its part of an evictable share loses its own oldest entries", arguments: evictable)
  func ownOldest(kind: StoreKind) async throws {
    let store = MemoryStore(size: 8 << 20)
    try await put(store, .sample(kind, 100_000), .sample(1))
    let share = usage(store, kind).share
    var puts = 0
    while usage(store, kind).evictions < 10 {
      try await put(store, .sample(kind, puts), .sample(2))
      puts += 1
      try #require(puts < 10_000)
    }
    #expect(usage(store, kind).bytes <= share / kind.row.holders + 1_000)
    for number in 0..<10 { #expect(try await store.get(.sample(kind, number), now: 0) == nil) }
    #expect(try await store.get(.sample(kind, 10), now: 0) != nil)
    #expect(try await store.get(.sample(kind, 100_000), now: 0) != nil)
  }

  @Test("A full share evicts from the largest holder, and no holder falls below 16 entries", arguments: evictable)
  func largestHolder(kind: StoreKind) async throws {
    let store = MemoryStore(size: 8 << 20, entries: [kind: 60])
    var number = 0
    for (holder, count) in [(1, 16), (2, 24), (3, 20)] {
      for _ in 0..<count {
        try await put(store, .sample(kind, number), .sample(holder))
        number += 1
      }
    }
    // The next entries come from new holders: 4 evict from the largest, then one from each in turn, and none below 16.
    for step in 0..<12 { try await put(store, .sample(kind, 1_000 + step), .sample(100 + step)) }
    #expect(usage(store, kind).evictions == 12)
    let live = try await (0..<60).asyncFilter { try await store.get(.sample(kind, $0), now: 0) != nil }
    #expect(live.filter { $0 < 16 }.count == 16)
    #expect(live.filter { (16..<40).contains($0) } == Array(24..<40))
    #expect(live.filter { $0 >= 40 } == Array(44..<60))
    await #expect(throws: StoreError.full) { try await put(store, .sample(kind, 2_000), .sample(200)) }
    #expect(usage(store, kind).refusals == 1)
  }

  @Test("Requests from this machine are not limited by holder, and can still be evicted for others")
  func loopback() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.claim: 160, .state: 40])
    let local = StoreHolder(address: "127.0.0.1", isLoopback: true)
    for number in 0..<160 { try await put(store, .sample(.claim, number), local) }
    for number in 0..<40 { try await put(store, .sample(.state, number), local) }
    try await put(store, .sample(.state, 100), .sample(1))
    #expect(try await store.get(.sample(.state, 0), now: 0) == nil)
  }

  @Test("A value longer than its kind allows is refused", arguments: evictable)
  func tooLong(kind: StoreKind) async throws {
    guard case .upTo(let longest) = kind.row.size else { return }
    let store = MemoryStore()
    let value = [UInt8](repeating: 1, count: longest + 1)
    await #expect(throws: StoreError.tooLong) {
      try await store.put(.sample(kind), value, holder: .sample(), expiry: 10, now: 0)
    }
    #expect(
      try await store.put(.sample(kind), value.dropLast(), holder: .sample(), expiry: 10, now: 0) == nil)
  }

  @Test("Reserved room is charged at once, and the room that the value does not need is returned")
  func reserved() async throws {
    let store = MemoryStore(size: 8 << 20)
    let key = StoreKey.sample(.answer)
    try await store.reserve(key, bytes: 16_384, holder: .sample(), expiry: 100, now: 0)
    let reserved = usage(store, .answer).bytes
    #expect(reserved > 16_384)
    #expect(try await store.get(key, now: 0) == [])
    let value = [UInt8](repeating: 7, count: 1_000)
    #expect(try await store.replace(key, [], with: value, expiry: 50, now: 0))
    #expect(usage(store, .answer).bytes == reserved - 15_384)
    #expect(try await store.get(key, now: 49) == value)
    #expect(try await store.get(key, now: 50) == nil)
    // A reservation replaces the previous value, and its removal returns all of its room.
    try await store.reserve(key, bytes: 16_384, holder: .sample(), expiry: 100, now: 0)
    #expect(usage(store, .answer).bytes == reserved)
    #expect(try await store.remove(key, [], now: 0))
    #expect(usage(store, .answer).bytes == 0)
    #expect(usage(store, .answer).entries == 0)
  }

  @Test("A reservation is refused and counted without room, and refused for a value too long or of fixed length")
  func reservationRefused() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.answer: 1])
    try await put(store, .sample(.answer, 1), .sample())
    await #expect(throws: StoreError.full) {
      try await store.reserve(.sample(.answer, 2), bytes: 100, holder: .sample(), expiry: 100, now: 0)
    }
    #expect(usage(store, .answer).refusals == 1)
    await #expect(throws: StoreError.tooLong) {
      try await store.reserve(.sample(.answer, 2), bytes: 16_385, holder: .sample(), expiry: 100, now: 0)
    }
    await #expect(throws: StoreError.tooLong) {
      try await store.reserve(.sample(.claim, 2), bytes: 10, holder: .sample(), expiry: 100, now: 0)
    }
  }

  @Test("Reserved room is kept if the share fills up meanwhile")
  func reservedStays() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize)
    let key = StoreKey.sample(.answer, 1_000)
    try await store.reserve(key, bytes: 16_384, holder: .sample(1), expiry: 100, now: 0)
    for number in 0..<500 {
      _ = try? await store.put(
        .sample(.answer, number), [UInt8](repeating: 1, count: 4_096), holder: .sample(2 + number % 50), expiry: 100,
        now: 0)
    }
    #expect(usage(store, .answer).refusals + usage(store, .answer).evictions > 0)
    let value = [UInt8](repeating: 7, count: 16_384)
    #expect(try await store.replace(key, [], with: value, expiry: 100, now: 0))
    #expect(usage(store, .answer).bytes <= usage(store, .answer).share)
  }

  @Test("A state that any client can create is at most 512 bytes long")
  func stateLength() {
    #expect(StoreKind.state.row.size == .upTo(512))
  }

  @Test("The operator is warned once when four fifths of a share are in use, and again after relief", arguments: kept)
  func warning(kind: StoreKind) async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [kind: 100])
    let warnings = Warnings()
    store.reportShortages { usage in warnings.kinds.withLock { $0.append(usage.kind) } }
    for number in 0..<79 { try await put(store, .sample(kind, number), .sample(number)) }
    #expect(warnings.seen.isEmpty)
    for number in 79..<90 { try await put(store, .sample(kind, number), .sample(number)) }
    #expect(warnings.seen == [kind])
    for number in 0..<40 { _ = try await store.take(.sample(kind, number), now: 0) }
    for number in 90..<130 { try await put(store, .sample(kind, number), .sample(number)) }
    #expect(warnings.seen == [kind, kind])
  }

  private final class Warnings: Sendable {
    let kinds = Mutex<[StoreKind]>([])
    var seen: [StoreKind] { kinds.withLock { $0 } }
  }

  private func usage(_ store: MemoryStore, _ kind: StoreKind) -> StoreUsage {
    store.usage.first { $0.kind == kind } ?? store.usage[0]
  }

  @Test("1,000,000 families of refresh tokens take at most 160 MiB")
  func families() {
    // The charge for a family, which covers its record, its place in the wheel and its part of the index.
    let store = MemoryStore(size: 256 << 20, entries: [.family: 1_000_000])
    #expect(usage(store, .family).share <= 160 << 20)
    guard case .fixed(let length) = StoreKind.family.row.size else {
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

@Suite("Holders of entries")
struct StoreHolderTests {
  @Test(
    "Addresses of one site have one holder",
    arguments: [
      ("192.0.2.1", "192.0.2.254"), ("2001:db8:0:ff00::1", "2001:db8:0:ffff::1"), ("::ffff:192.0.2.1", "192.0.2.9"),
      ("::ffff:c000:201", "192.0.2.9"),
    ])
  func same(one: String, other: String) {
    #expect(StoreHolder(address: one) == StoreHolder(address: other))
  }

  @Test(
    "Addresses of different sites have different holders",
    arguments: [
      ("192.0.2.1", "192.0.3.1"), ("2001:db8:0:fe00::1", "2001:db8:0:ff00::1"), ("::1", "2001:db8::1"),
      ("gateway", "other"),
    ])
  func different(one: String, other: String) {
    #expect(StoreHolder(address: one) != StoreHolder(address: other))
  }
}

extension Sequence where Element: Sendable {
  fileprivate func asyncFilter(_ isIncluded: (Element) async throws -> Bool) async rethrows -> [Element] {
    var result: [Element] = []
    for element in self where try await isIncluded(element) { result.append(element) }
    return result
  }
}
