import OAuth
import Stores
import Synchronization
import Time

/// A store that loses its entries and begins another epoch on demand.
final class LossyStore: EphemeralStore {
  private let current = Mutex(MemoryStore(size: MemoryStore.minimumSize))

  private var memory: MemoryStore { current.withLock { $0 } }
  var epoch: EpochID { memory.epoch }

  /// Removes all entries and begins another epoch.
  func loseEntries() { current.withLock { $0 = MemoryStore(size: MemoryStore.minimumSize) } }

  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try await memory.put(key, value, holder: holder, expiry: expiry, now: now)
  }

  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    try await memory.reserve(key, bytes: bytes, holder: holder, expiry: expiry, now: now)
  }

  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    try await memory.replace(key, old, with: new, expiry: expiry, now: now)
  }

  func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? { try await memory.get(key, now: now) }

  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? { try await memory.take(key, now: now) }

  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    try await memory.remove(key, value, now: now)
  }
}
