import Stores
import Testing

@Suite("The memory store")
struct MemoryStoreTests {
  private let store = MemoryStore()
  private let key = StoreKey(.claim, id: [1])

  @Test("An entry is put once, read often and taken once")
  func lifeCycle() async throws {
    #expect(try await store.get(key, now: 0) == nil)
    #expect(try await store.put(key, [1], expiry: 10, now: 0))
    #expect(try await !store.put(key, [2], expiry: 10, now: 0))
    #expect(try await store.get(key, now: 9) == [1])
    #expect(try await store.get(key, now: 9) == [1])
    #expect(try await store.take(key, now: 9) == [1])
    #expect(try await store.take(key, now: 9) == nil)
    #expect(try await store.put(key, [3], expiry: 10, now: 9))
  }

  @Test("An entry is gone the second it expires, and its key is free again")
  func expiry() async throws {
    #expect(try await store.put(key, [1], expiry: 10, now: 0))
    #expect(try await store.get(key, now: 10) == nil)
    #expect(try await store.take(key, now: 10) == nil)
    #expect(try await store.put(key, [2], expiry: 20, now: 10))
    #expect(try await store.get(key, now: 19) == [2])
  }

  @Test("An entry that is put expired leaves nothing behind")
  func bornExpired() async throws {
    _ = try await store.put(key, [1], expiry: 10, now: 10)
    #expect(store.count == 0)
  }

  @Test("The same bytes in another namespace are another entry")
  func namespaces() async throws {
    for namespace in StoreKey.Namespace.allCases {
      #expect(try await store.put(StoreKey(namespace, id: [1]), [namespace.rawValue], expiry: 10, now: 0))
    }
    #expect(Set(StoreKey.Namespace.allCases.map(\.rawValue)).count == StoreKey.Namespace.allCases.count)
  }

  @Test("A removed entry is gone, and removing what is not there does nothing")
  func removal() async throws {
    try await store.remove(key, now: 0)
    #expect(try await store.put(key, [1], expiry: 10, now: 0))
    try await store.remove(key, now: 0)
    #expect(try await store.get(key, now: 0) == nil)
  }

  @Test("A counter counts until its first expiry and then begins anew")
  func counters() async throws {
    #expect(try await store.increment(key, by: 2, expiry: 10, now: 0) == 2)
    #expect(try await store.increment(key, by: 3, expiry: 99, now: 9) == 5)
    #expect(try await store.increment(key, by: -5, expiry: 99, now: 9) == 0)
    #expect(try await store.increment(key, by: 1, expiry: 99, now: 10) == 1)
    #expect(try await store.increment(key, by: Int.max, expiry: 99, now: 11) == Int.max)
    #expect(try await store.get(key, now: 11) == nil)
  }

  @Test("6819-4.4.1.11-exhaustion: a full store refuses what is new and keeps what is live")
  func bounded() async throws {
    let store = MemoryStore(maximumEntries: 100, shards: 1)
    for number in 0..<100 {
      #expect(try await store.put(StoreKey(.claim, id: [UInt8(number)]), [1], expiry: 10, now: 0))
    }
    let late = StoreKey(.claim, id: [200])
    await #expect(throws: StoreError.full) { try await store.put(late, [1], expiry: 20, now: 9) }
    await #expect(throws: StoreError.full) { try await store.increment(late, by: 1, expiry: 20, now: 9) }
    for number in 0..<100 {
      #expect(try await store.get(StoreKey(.claim, id: [UInt8(number)]), now: 9) == [1])
    }
    #expect(try await store.put(late, [1], expiry: 20, now: 10))
    #expect(store.count < 100)
  }

  @Test("What anybody can make fills half of the entries, and single use goes on")
  func reservedEntries() async throws {
    let store = MemoryStore(maximumEntries: 100, shards: 1)
    for number in 0..<50 {
      #expect(try await store.put(StoreKey(.state, id: [UInt8(number)]), [1], expiry: 10, now: 0))
    }
    for namespace in StoreKey.Namespace.allCases where namespace.isOpenToAnybody {
      let late = StoreKey(namespace, id: [200])
      await #expect(throws: StoreError.full) { try await store.put(late, [1], expiry: 20, now: 0) }
    }
    for number in 0..<50 {
      #expect(try await store.put(StoreKey(.claim, id: [UInt8(number)]), [1], expiry: 10, now: 0))
    }
    await #expect(throws: StoreError.full) { try await store.put(StoreKey(.claim, id: [99]), [1], expiry: 20, now: 0) }
    // What is taken or removed makes room again.
    #expect(try await store.take(StoreKey(.state, id: [0]), now: 0) == [1])
    #expect(try await store.put(StoreKey(.state, id: [0]), [1], expiry: 20, now: 0))
  }

  @Test("What anybody can make fills half of the bytes, however large its entries are")
  func reservedBytes() async throws {
    let store = MemoryStore(maximumEntries: 100, maximumBytes: 1000, shards: 1)
    let large = [UInt8](repeating: 0, count: 499)
    #expect(try await store.put(StoreKey(.state, id: [1]), large, expiry: 10, now: 0))
    let more = StoreKey(.state, id: [2])
    await #expect(throws: StoreError.full) { try await store.put(more, [1], expiry: 10, now: 0) }
    await #expect(throws: StoreError.full) {
      try await store.replace(StoreKey(.state, id: [1]), large, with: large + [0], expiry: 10, now: 0)
    }
    #expect(try await store.put(StoreKey(.family, id: [1]), large, expiry: 10, now: 0))
    try await store.remove(StoreKey(.state, id: [1]), now: 0)
    #expect(try await store.put(more, large, expiry: 10, now: 0))
  }

  @Test("The bytes of a store are bounded too, and come back")
  func boundedBytes() async throws {
    let store = MemoryStore(maximumEntries: 100, maximumBytes: 1000, shards: 1)
    let big = [UInt8](repeating: 0, count: 900)
    #expect(try await store.put(key, big, expiry: 10, now: 0))
    let other = StoreKey(.claim, id: [2])
    await #expect(throws: StoreError.full) { try await store.put(other, big, expiry: 10, now: 0) }
    #expect(try await store.take(key, now: 0) == big)
    #expect(try await store.put(other, big, expiry: 10, now: 0))
  }

  @Test("Writes clear what is due, so that a store in use does not grow")
  func sweeping() async throws {
    for second in 0..<2000 {
      for number in 0..<5 {
        let id = [UInt8(second >> 8), UInt8(second & 0xff), UInt8(number)]
        #expect(
          try await store.put(StoreKey(.claim, id: id), [1], expiry: Int64(second + 1 + number * 7), now: Int64(second))
        )
      }
    }
    #expect(store.count < 500)
  }

  @Test("Entries that are put and taken again and again leave no trace")
  func churn() async throws {
    let store = MemoryStore(maximumEntries: 4, shards: 1)
    for number in 0..<5000 {
      let key = StoreKey(.claim, id: [UInt8(number % 7)])
      #expect(try await store.put(key, [1], expiry: 1_000_000, now: 0))
      #expect(try await store.take(key, now: 0) == [1])
    }
    #expect(store.count == 0)
  }

  @Test("A key that came back lives as long as its new entry, not its old one")
  func comeback() async throws {
    #expect(try await store.put(key, [1], expiry: 10, now: 0))
    try await store.remove(key, now: 0)
    #expect(try await store.put(key, [2], expiry: 100, now: 0))
    for number in 0..<50 {
      _ = try await store.put(StoreKey(.device, id: [UInt8(number)]), [1], expiry: 30, now: 20)
    }
    #expect(try await store.get(key, now: 20) == [2])
  }

  @Test("The heap gives what is due first, whatever the order of putting")
  func order() async throws {
    let store = MemoryStore(maximumEntries: 500, shards: 1)
    for number in 0..<500 {
      let expiry = Int64(1 + (number * 7919) % 500)
      #expect(
        try await store.put(
          StoreKey(.claim, id: [UInt8(number >> 8), UInt8(number & 0xff)]), [], expiry: expiry, now: 0))
    }
    // Each write at second n clears the one entry that is due then.
    for second in 1...499 {
      _ = try await store.put(StoreKey(.device, id: [1]), [], expiry: Int64(second), now: Int64(second))
      #expect(store.count == 500 - second)
    }
  }

  @Test("6819-5.1.4.1.3-at-rest: a key made from a secret does not contain it")
  func hashedKeys() {
    let secret = Array("SplxlOBeZQQYbYS6WxSbIA".utf8)
    let key = StoreKey(.claim, hashing: secret)
    #expect(key.bytes.count == 32)
    #expect(!key.bytes.contains(secret))
    #expect(key == StoreKey(.claim, hashing: secret))
    #expect(key != StoreKey(.claim, hashing: secret + [0]))
  }

  @Test("Of many concurrent callers one takes the entry")
  func concurrency() async throws {
    let store = store
    let key = key
    for _ in 0..<50 {
      #expect(try await store.put(key, [1], expiry: 10, now: 0))
      let winners = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { (try? await store.take(key, now: 0)) == nil ? 0 : 1 } }
        return await group.reduce(0, +)
      }
      #expect(winners == 1)
    }
  }
}

@Suite("Replacing in the memory store")
struct MemoryStoreReplaceTests {
  private let store = MemoryStore(maximumEntries: 4, maximumBytes: 100, shards: 1)
  private let key = StoreKey(.family, id: [1])

  @Test("A value is replaced only where the old one is there")
  func compares() async throws {
    #expect(try await !store.replace(key, [1], with: [2], expiry: 10, now: 0))
    _ = try await store.put(key, [1], expiry: 10, now: 0)
    #expect(try await !store.replace(key, [9], with: [2], expiry: 10, now: 0))
    #expect(try await store.replace(key, [1], with: [2], expiry: 20, now: 0))
    #expect(try await store.get(key, now: 15) == [2])
    #expect(try await !store.replace(key, [2], with: [3], expiry: 30, now: 20))
  }

  @Test("A longer value needs room, and a thousand replacements take none")
  func room() async throws {
    _ = try await store.put(key, [1], expiry: 10, now: 0)
    await #expect(throws: StoreError.full) {
      try await store.replace(key, [1], with: [UInt8](repeating: 0, count: 200), expiry: 10, now: 0)
    }
    for round in 1...1_000 {
      let old = [UInt8(truncatingIfNeeded: round)]
      #expect(try await store.replace(key, old, with: [UInt8(truncatingIfNeeded: round + 1)], expiry: 10, now: 0))
    }
    #expect(store.count == 1)
    await store.expectRoom(for: 90)
  }
}

extension MemoryStore {
  fileprivate func expectRoom(for count: Int) async {
    let stored = try? await put(
      StoreKey(.family, id: [2]), [UInt8](repeating: 0, count: count), expiry: 10, now: 0)
    #expect(stored == true)
  }
}
