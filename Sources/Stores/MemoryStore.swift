internal import Synchronization

/// The store of a single replica: hash tables behind locks that are held for one operation and never across an await.
///
/// Operations complete without suspending. Nothing wakes up to expire entries: every write clears a few that are due.
public final class MemoryStore: EphemeralStore {
  private final class Shard: Sendable {
    let table: Mutex<MemoryTable>

    init(maximumEntries: Int, maximumBytes: Int) {
      table = Mutex(MemoryTable(maximumEntries: maximumEntries, maximumBytes: maximumBytes))
    }
  }

  private let shards: [Shard]

  /// - Parameters:
  ///   - maximumEntries: in all; refused beyond with `full`. The default is a family of refresh tokens for each of
  ///     500,000 apps in use, beside a minute of 1,600 logins a second.
  ///   - maximumBytes: of keys and values in all, beside about 200 bytes per entry.
  ///   - shards: tables with a lock each, among which entries are spread evenly.
  public init(maximumEntries: Int = 1_000_000, maximumBytes: Int = 64 << 20, shards: Int = 16) {
    precondition(shards > 0 && maximumEntries >= shards, "at least one entry per shard")
    self.shards = (0..<shards).map { _ in
      Shard(maximumEntries: maximumEntries / shards, maximumBytes: maximumBytes / shards)
    }
  }

  /// One process has one clock, which a time server may set back by seconds.
  public var clockTolerance: Int64 { 5 }

  /// Entries now held, those included that are due but not cleared yet.
  public var count: Int {
    shards.reduce(0) { sum, shard in sum + shard.table.withLock { $0.count } }
  }

  public func put(_ key: StoreKey, _ value: [UInt8], expiry: Int64, now: Int64) async throws(StoreError) -> Bool {
    try shard(key).table.withLock { table throws(StoreError) in
      try table.put(key, .value(value), expiry: expiry, now: now)
    }
  }

  public func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: Int64, now: Int64
  ) async throws(StoreError) -> Bool {
    try shard(key).table.withLock { table throws(StoreError) in
      try table.replace(key, old, with: new, expiry: expiry, now: now)
    }
  }

  public func get(_ key: StoreKey, now: Int64) async throws(StoreError) -> [UInt8]? {
    shard(key).table.withLock { $0.value(key, now: now) }
  }

  public func take(_ key: StoreKey, now: Int64) async throws(StoreError) -> [UInt8]? {
    shard(key).table.withLock { table in
      guard let value = table.value(key, now: now) else { return nil }
      table.remove(key)
      return value
    }
  }

  public func increment(
    _ key: StoreKey, by amount: Int, expiry: Int64, now: Int64
  ) async throws(StoreError) -> Int {
    try shard(key).table.withLock { table throws(StoreError) in
      try table.increment(key, by: amount, expiry: expiry, now: now)
    }
  }

  public func remove(_ key: StoreKey, now: Int64) async throws(StoreError) {
    shard(key).table.withLock { $0.remove(key) }
  }

  private func shard(_ key: StoreKey) -> Shard {
    shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))]
  }
}
