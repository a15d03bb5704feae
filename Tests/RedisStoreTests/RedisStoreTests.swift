import OAuth
import Policy
import Reactor
import RedisStore
import RedisTestSupport
import Stores
import Testing
import Time

extension StoreOnWorkers {
  func put(_ key: StoreKey, _ number: Int = 1, seconds: Seconds = 60) async throws(StoreError) -> [UInt8]? {
    // Entries expire by the server's clock, so only the lifetime matters.
    let now: UnixTime = 0
    return try await store.put(
      key, key.kind.sample(number), holder: StoreHolder(address: "127.0.0.1", isLoopback: true), expiry: now + seconds,
      now: now)
  }

  func replace(_ key: StoreKey, _ old: Int, with new: Int) async throws(StoreError) -> Bool {
    try await store.replace(key, key.kind.sample(old), with: key.kind.sample(new), expiry: 60, now: 0)
  }

  func remove(_ key: StoreKey, _ number: Int) async throws(StoreError) -> Bool {
    try await store.remove(key, key.kind.sample(number), now: 0)
  }

  func get(_ key: StoreKey) async throws(StoreError) -> [UInt8]? { try await store.get(key, now: 0) }
  func take(_ key: StoreKey) async throws(StoreError) -> [UInt8]? { try await store.take(key, now: 0) }
}

@Suite("A store in Redis", .serialized)
struct RedisStoreTests {
  @Test("Entries are put once, compared, replaced, taken and removed", arguments: StoreKind.allCases)
  func lifeCycle(kind: StoreKind) async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      let key = StoreKey.sample(kind)
      #expect(try await store.get(key) == nil)
      #expect(try await store.put(key, 1) == nil)
      #expect(try await store.put(key, 2) == kind.sample(1))
      #expect(try await !store.replace(key, 9, with: 2))
      #expect(try await store.replace(key, 1, with: 2))
      #expect(try await store.get(key) == kind.sample(2))
      #expect(try await !store.remove(key, 1))
      #expect(try await store.take(key) == kind.sample(2))
      #expect(try await store.take(key) == nil)
      #expect(try await store.put(key, 3) == nil)
      #expect(try await store.remove(key, 3))
      #expect(try await store.get(key) == nil)
    }
  }

  @Test("Entries that are removed do not fill a small store", arguments: [StoreKind.claim, .family])
  func released(kind: StoreKind) async throws {
    let server = try RedisProcess()
    var settings = server.settings
    settings.size = 1 << 20
    try await StoreOnWorkers.run(settings) { store async throws in
      for number in 0..<2_000 {
        let key = StoreKey.sample(kind, number)
        try #require(try await store.put(key, 1) == nil)
        // An entry that exists is not charged again.
        #expect(try await store.put(key, 2) != nil)
        #expect(try await store.replace(key, 1, with: 3))
        if number.isMultiple(of: 2) {
          #expect(try await store.remove(key, 3))
        } else {
          #expect(try await store.take(key) != nil)
        }
      }
    }
  }

  @Test("Entries that are withdrawn later, or that a server without memory refuses, do not fill a small store")
  func withdrawn() async throws {
    let server = try RedisProcess()
    var settings = server.settings
    settings.size = 1 << 20
    try await StoreOnWorkers.run(settings) { store async throws in
      let expiry = SystemClock.unixTime() + 60
      for number in 0..<500 {
        let key = StoreKey.sample(.claim, number)
        try #require(try await store.put(key, 1) == nil)
        await store.store.replaceLater(key, key.kind.sample(1), with: nil, expiry: expiry)
        #expect(try await store.get(key) == nil)
      }
      try server.command("CONFIG", "SET", "maxmemory", "1")
      for number in 0..<500 {
        await #expect(throws: StoreError.self) { try await store.put(.sample(.claim, number)) }
      }
      try server.command("CONFIG", "SET", "maxmemory", "0")
      #expect(try await store.put(.sample(.claim)) == nil)
    }
  }

  @Test("The script is sent once and then called by its digest")
  func scripts() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      _ = try await store.put(.sample(.claim), 1)
      for number in 1..<5 { #expect(try await store.replace(.sample(.claim), number, with: number + 1)) }
    }
    let counts = try server.command("INFO", "commandstats")
    #expect(counts.contains("cmdstat_eval:calls=1,"))
    #expect(
      counts.split(whereSeparator: \.isNewline).contains {
        $0.hasPrefix("cmdstat_evalsha:calls=4,") && $0.contains("failed_calls=1")
      })
  }
}
