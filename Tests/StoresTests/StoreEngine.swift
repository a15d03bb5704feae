import DiskStore
import Foundation
import OAuth
import Policy
import Reactor
import RedisStore
import RedisTestSupport
import Stores
import Testing
import Time

/// The engines on which the suites run. A new engine is one more case and the store that a test gets for it.
enum StoreEngine: String, CaseIterable, CustomTestStringConvertible {
  case memory
  case file
  case redis

  var testDescription: String { rawValue }

  /// The engines that give each kind a share and evict entries. The others have only limits by holder and expiry.
  static let withShares = allCases.filter(\.hasShares)

  private var hasShares: Bool {
    switch self {
    case .memory, .file: true
    case .redis: false
    }
  }

  /// Runs `body` on a worker with a new, empty store.
  ///
  /// - Parameters:
  ///   - size: the bytes of the store.
  ///   - entries: the maximum number of entries of some kinds, for an engine with shares.
  func run(
    size: Int = 32 << 20, entries: [StoreKind: Int] = [:],
    _ body: @escaping @Sendable (StoreFixture) async throws -> Void
  ) async throws {
    switch self {
    case .memory: try await StoreFixture.run(MemoryStore(size: size, entries: entries), body)
    case .file:
      try await StoreFolder.with { folder in
        let store = try FileStore(path: folder.path("state.db"), size: size, entries: entries)
        defer { store.close() }
        try await StoreFixture.run(store, body)
      }
    case .redis:
      let server = try RedisProcess.shared.get()
      var settings = server.settings
      settings.size = size
      settings.keyPrefix = "test-\(UInt64.random(in: 0...UInt64.max)):"
      let (store, prefix) = (RedisStore(settings), settings.keyPrefix)
      try await StoreFixture.run(
        store, now: SystemClock.unixTime(), pass: { try server.pass(seconds: Int($0.count), below: prefix) },
        start: { try await store.startAndConnect(on: $0) }, stop: { await store.stop() }, body)
    }
  }
}

/// A store and the clock of its test.
final class StoreFixture {
  let store: any EphemeralStore
  private let workers: [Worker]
  private(set) var now: UnixTime
  private let letPass: @Sendable (Seconds) throws -> Void

  private init(
    _ store: any EphemeralStore, _ workers: [Worker], now: UnixTime,
    _ letPass: @escaping @Sendable (Seconds) throws -> Void
  ) {
    self.store = store
    self.workers = workers
    self.now = now
    self.letPass = letPass
  }

  /// Runs `body` on the first of two workers.
  ///
  /// - Parameters:
  ///   - now: the time at which the test's clock starts.
  ///   - pass: lets time pass for an engine that reads its own clock.
  ///   - start: prepares the store for use on the workers.
  ///   - stop: ends the store.
  static func run(
    _ store: any EphemeralStore, now: UnixTime = 0, pass: @escaping @Sendable (Seconds) throws -> Void = { _ in },
    start: ([Worker]) async throws -> Void = { _ in }, stop: () async -> Void = {},
    _ body: @escaping @Sendable (StoreFixture) async throws -> Void
  ) async throws {
    let workers = try (0..<2).map { try Worker(index: $0) }
    for worker in workers { try worker.start(name: "store-test") }
    try await start(workers)
    let task = await workers[0].launch { _ in
      try await body(StoreFixture(store, workers, now: now, pass))
    }
    let outcome = await task.result
    await stop()
    for worker in workers { await worker.stop() }
    try outcome.get()
  }

  /// Advances the clock.
  func pass(seconds: Seconds) throws {
    now += seconds
    try letPass(seconds)
  }

  /// Runs `body` `count` times at the same time, on both workers, and returns all results.
  func simultaneously<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) async throws -> Result
  ) async throws -> [Result] {
    var tasks: [Task<Result, any Error>] = []
    for number in 0..<count {
      await tasks.append(workers[number % workers.count].launch { _ in try await body(number) })
    }
    var results: [Result] = []
    for task in tasks { try await results.append(task.value) }
    return results
  }

  // MARK: Steps of tests

  /// Stores a sample value of the kind. Returns the existing value, or `nil` if there was none.
  func put(
    _ key: StoreKey, _ number: Int = 1, holder: StoreHolder? = nil, seconds: Seconds = 60
  ) async throws -> [UInt8]? {
    try await store.put(
      key, key.kind.sample(number), holder: holder ?? StoreHolder(address: "127.0.0.1", isLoopback: true),
      expiry: now + seconds, now: now)
  }

  /// Stores a sample value of the kind under a key without an entry.
  func add(_ key: StoreKey, _ holder: StoreHolder, seconds: Seconds = 1_000) async throws {
    let existing = try await put(key, holder: holder, seconds: seconds)
    #expect(existing == nil)
  }

  func get(_ key: StoreKey) async throws -> [UInt8]? { try await store.get(key, now: now) }
  func take(_ key: StoreKey) async throws -> [UInt8]? { try await store.take(key, now: now) }

  func remove(_ key: StoreKey, _ number: Int) async throws -> Bool {
    try await store.remove(key, key.kind.sample(number), now: now)
  }

  func replace(_ key: StoreKey, _ old: Int, with new: Int, seconds: Seconds = 60) async throws -> Bool {
    try await store.replace(key, key.kind.sample(old), with: key.kind.sample(new), expiry: now + seconds, now: now)
  }

  func usage(_ kind: StoreKind) throws -> StoreUsage {
    try #require(store.usage.first { $0.kind == kind })
  }

  /// The number of entries of all kinds, for an engine that counts them.
  var count: Int { store.usage.reduce(0) { $0 + $1.entries } }
}

/// Returns the error that `body` throws; `nil` if it throws none. `#expect(throws:)` would run `body` outside of the
/// worker.
func failure(_ body: () async throws -> Void) async -> StoreError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? StoreError
  }
}

extension Worker {
  /// Starts a task on the worker, in the way in which the worker starts its activities.
  func launch<Result: Sendable>(
    _ body: @escaping @Sendable (isolated Worker) async throws -> Result
  ) -> Task<Result, any Error> {
    Task.immediate { try await self.perform(body) }
  }

  private func perform<Result: Sendable>(
    _ body: @Sendable (isolated Worker) async throws -> Result
  ) async throws -> Result {
    try await body(self)
  }
}

/// A directory for the files of a test, removed when the test ends.
struct StoreFolder: Sendable {
  private let root: String

  func path(_ name: String) -> String { root + "/" + name }

  static func with(_ body: (StoreFolder) async throws -> Void) async throws {
    // In memory if the system has such a directory: these tests check content, and each operation is synced.
    let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let root = parent + "/proofgate-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: root) }
    try await body(StoreFolder(root: root))
  }
}
