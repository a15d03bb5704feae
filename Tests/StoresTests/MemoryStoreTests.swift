import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

@Suite("The memory store")
struct MemoryStoreTests {
  /// One kind of each of the two tables.
  private static let kinds = [StoreKind.claim, .state]
  private static let unlimited = StoreHolder(address: "127.0.0.1", isLoopback: true)

  private let store = MemoryStore(size: 32 << 20)

  private func put(
    _ key: StoreKey, _ number: Int = 1, expiry: UnixTime = 10, now: UnixTime = 0
  ) async throws -> [UInt8]? {
    try await store.put(key, key.kind.sample(number), holder: MemoryStoreTests.unlimited, expiry: expiry, now: now)
  }

  private func time(_ seconds: Int) -> UnixTime { UnixTime(seconds: Int64(seconds)) }

  @Test("After a pause of any length expired entries are cleared, and later entries stay", arguments: kinds)
  func pause(kind: StoreKind) async throws {
    // Beyond the last slot of the wheel, and far beyond it.
    let late = StoreKey.sample(kind, 1_000)
    _ = try await put(late, expiry: 40_000_000)
    for number in 0..<40 { _ = try await put(.sample(kind, number), expiry: time(100 + number * 100)) }
    for number in 0..<200 {
      let key = StoreKey.sample(kind, 5_000 + number)
      _ = try await put(key, expiry: 30_000_001, now: 30_000_000)
      _ = try await store.take(key, now: 30_000_000)
    }
    #expect(store.count == 1)
    #expect(try await store.get(late, now: 39_999_999) != nil)
    #expect(try await store.get(late, now: 40_000_000) == nil)
  }

  /// The index moves entries when an entry in front of them is removed.
  @Test("Thousands of entries are found after any order of puts and takes", arguments: kinds)
  func churn(kind: StoreKind) async throws {
    var live: Set<Int> = []
    for step in 0..<12_000 {
      let number = step * 7_919 % 3_001
      let key = StoreKey.sample(kind, number)
      if live.remove(number) != nil {
        #expect(try await store.take(key, now: 0) == kind.sample(number))
      } else {
        #expect(
          try await store.put(key, kind.sample(number), holder: MemoryStoreTests.unlimited, expiry: 1_000_000, now: 0)
            == nil)
        live.insert(number)
      }
    }
    #expect(store.count == live.count)
    for number in 0..<3_001 {
      let value = try await store.get(.sample(kind, number), now: 0)
      #expect(value == (live.contains(number) ? kind.sample(number) : nil))
    }
  }

  @Test("6819-5.1.4.1.3-at-rest: a key made from a secret does not contain it")
  func hashedKeys() {
    let secret = Array("SplxlOBeZQQYbYS6WxSbIA".utf8)
    let key = StoreKey(.claim, hashing: secret)
    #expect(key.bytes.count == StoreKey.byteCount)
    #expect(!key.bytes.contains(secret))
    #expect(key == StoreKey(.claim, hashing: secret))
    #expect(key != StoreKey(.claim, hashing: secret + [0]))
  }

  @Test("Of many concurrent callers one takes the entry", arguments: kinds)
  func concurrency(kind: StoreKind) async throws {
    let store = store
    let key = StoreKey.sample(kind)
    for _ in 0..<50 {
      #expect(try await put(key) == nil)
      let winners = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { (try? await store.take(key, now: 0)) == nil ? 0 : 1 } }
        return await group.reduce(0, +)
      }
      #expect(winners == 1)
    }
  }

  @Test("Each store has an epoch of its own")
  func epochs() {
    #expect(store.epoch != MemoryStore(size: MemoryStore.minimumSize).epoch)
    #expect(store.epoch != .none)
  }

  @Test(
    "After the clock has gone far forward and back, entries expire on time, and a full kind gets room again",
    arguments: StoreKind.allCases.filter { $0.properties.whenFull == .refuse })
  func clockJump(kind: StoreKind) async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize)
    let start: UnixTime = 1_700_000_000
    let jump: Seconds = 400 * 86_400
    _ = try await store.put(
      .sample(kind, 0), kind.sample(), holder: .sample(), expiry: start + jump + 60, now: start + jump)
    var number = 0
    for round in 0..<3 {
      let now = start + Seconds(round * 100_000)
      var stored = 0
      do throws(StoreError) {
        while true {
          number += 1
          _ = try await store.put(
            .sample(kind, number), kind.sample(), holder: .sample(number % 5_000), expiry: now + 60, now: now)
          stored += 1
        }
      } catch {
        #expect(error == .full)
      }
      #expect(stored > 100, "round \(round)")
    }
  }
}
