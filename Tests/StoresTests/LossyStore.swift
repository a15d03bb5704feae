import OAuth
import Stores
import Synchronization
import Time

/// A store that loses its entries and begins another epoch, or fails, on demand.
final class LossyStore: EphemeralStore {
  /// The moment of a failure.
  enum Failure {
    /// The operation has no effect.
    case before
    /// The operation has its effect, but its outcome is unknown to the caller.
    case after
  }

  private struct Change {
    let key: StoreKey
    let old: [UInt8]
    let new: [UInt8]?
    let expiry: UnixTime
  }

  private let current = Mutex(MemoryStore(size: MemoryStore.minimumSize))
  private let failure = Mutex<Failure?>(nil)
  private let changes = Mutex<[Change]>([])

  private var memory: MemoryStore { current.withLock { $0 } }
  var epoch: EpochID { memory.epoch }

  var fails: Failure? {
    get { failure.withLock { $0 } }
    set { failure.withLock { $0 = newValue } }
  }

  /// Removes all entries and begins another epoch.
  func loseEntries() { current.withLock { $0 = MemoryStore(size: MemoryStore.minimumSize) } }

  /// Performs the changes that wait until the store answers again.
  func changeNow() async throws {
    let waiting = changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
    for change in waiting {
      if let new = change.new {
        _ = try await memory.replace(change.key, change.old, with: new, expiry: change.expiry, now: 0)
      } else {
        _ = try await memory.remove(change.key, change.old, now: 0)
      }
    }
  }

  func replaceLater(_ key: StoreKey, _ old: [UInt8], with new: [UInt8]?, expiry: UnixTime) async {
    changes.withLock { $0.append(Change(key: key, old: old, new: new, expiry: expiry)) }
  }

  private func check(_ moment: Failure) throws(StoreError) {
    if fails == moment { throw .unavailable("it fails on demand") }
  }

  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try check(.before)
    let existing = try await memory.put(key, value, holder: holder, expiry: expiry, now: now)
    // Without an effect, there is nothing that the caller could miss.
    if existing == nil { try check(.after) }
    return existing
  }

  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    try await memory.reserve(key, bytes: bytes, holder: holder, expiry: expiry, now: now)
  }

  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    try check(.before)
    let isDone = try await memory.replace(key, old, with: new, expiry: expiry, now: now)
    try check(.after)
    return isDone
  }

  func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? { try await memory.get(key, now: now) }

  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await memory.take(key, now: now)
  }

  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    try check(.before)
    let isDone = try await memory.remove(key, value, now: now)
    try check(.after)
    return isDone
  }
}
