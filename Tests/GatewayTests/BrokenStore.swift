import OAuth
import Stores
import Synchronization
import Time

/// A store that fails or loses its entries on demand.
final class BrokenStore: EphemeralStore {
  private let current = Mutex(MemoryStore())
  private let error: StoreError
  private let broken = Mutex(false)

  private var memory: MemoryStore { current.withLock { $0 } }
  var epoch: EpochID { memory.epoch }

  init(_ error: StoreError) {
    self.error = error
  }

  var isBroken: Bool {
    get { broken.withLock { $0 } }
    set { broken.withLock { $0 = newValue } }
  }

  /// Removes all entries and begins another epoch.
  func loseEntries() { current.withLock { $0 = MemoryStore() } }

  private func check() throws(StoreError) {
    if isBroken { throw error }
  }

  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try check()
    return try await memory.put(key, value, holder: holder, expiry: expiry, now: now)
  }

  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    try check()
    try await memory.reserve(key, bytes: bytes, holder: holder, expiry: expiry, now: now)
  }

  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    try check()
    return try await memory.replace(key, old, with: new, expiry: expiry, now: now)
  }

  func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try check()
    return try await memory.get(key, now: now)
  }

  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try check()
    return try await memory.take(key, now: now)
  }

  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    try check()
    return try await memory.remove(key, value, now: now)
  }
}
