import OAuth
import Stores
import Synchronization
import Time

/// A store that records all keys and values that were ever written, and counts the operations.
final class SpyStore: EphemeralStore {
  private let store = MemoryStore()
  private let seen = Mutex<[[UInt8]]>([])
  private let operations = Mutex<[StoreKind: Int]>([:])

  var epoch: EpochID { store.epoch }
  var dump: [[UInt8]] { seen.withLock { $0 } }

  /// The number of operations on entries of this kind.
  func operationCount(_ kind: StoreKind) -> Int { operations.withLock { $0[kind, default: 0] } }

  private func count(_ key: StoreKey) { operations.withLock { $0[key.kind, default: 0] += 1 } }

  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    count(key)
    seen.withLock { $0 += [key.bytes, value] }
    return try await store.put(key, value, holder: holder, expiry: expiry, now: now)
  }

  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    count(key)
    seen.withLock { $0.append(key.bytes) }
    try await store.reserve(key, bytes: bytes, holder: holder, expiry: expiry, now: now)
  }

  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    count(key)
    seen.withLock { $0.append(new) }
    return try await store.replace(key, old, with: new, expiry: expiry, now: now)
  }

  func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    count(key)
    return try await store.get(key, now: now)
  }

  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    count(key)
    return try await store.take(key, now: now)
  }

  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    count(key)
    return try await store.remove(key, value, now: now)
  }
}

/// A store that a test can make unavailable.
final class BrittleStore: EphemeralStore {
  private let store = MemoryStore()
  private let away = Mutex(false)
  /// The changes to make as soon as the store is back.
  private let changes = Mutex<[(key: StoreKey, old: [UInt8], new: [UInt8]?, expiry: UnixTime)]>([])

  var epoch: EpochID { store.epoch }

  var isAway: Bool {
    get { away.withLock { $0 } }
    set { away.withLock { $0 = newValue } }
  }

  private func check() async throws(StoreError) {
    if isAway { throw .unavailable("switched off") }
    let waiting = changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
    for change in waiting {
      if let new = change.new {
        _ = try await store.replace(change.key, change.old, with: new, expiry: change.expiry, now: 0)
      } else {
        _ = try await store.remove(change.key, change.old, now: 0)
      }
    }
  }

  func replaceLater(_ key: StoreKey, _ old: [UInt8], with new: [UInt8]?, expiry: UnixTime) async {
    changes.withLock { $0.append((key, old, new, expiry)) }
  }

  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try await check()
    return try await store.put(key, value, holder: holder, expiry: expiry, now: now)
  }

  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    try await check()
    try await store.reserve(key, bytes: bytes, holder: holder, expiry: expiry, now: now)
  }

  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    try await check()
    return try await store.replace(key, old, with: new, expiry: expiry, now: now)
  }

  func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await check()
    return try await store.get(key, now: now)
  }

  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await check()
    return try await store.take(key, now: now)
  }

  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    try await check()
    return try await store.remove(key, value, now: now)
  }
}
