import OAuth
import Stores
import Synchronization
import Time

/// One process with a store that several processes share.
final class SharedStore: EphemeralStore {
  private let memory: MemoryStore
  /// The processes that the store finds gone.
  private let gone: Gone
  private let own = Mutex(ClaimantID())
  private let count = Mutex(0)

  private final class Gone: Sendable {
    let claimants = Mutex<Set<ClaimantID>>([])
  }

  var epoch: EpochID { memory.epoch }
  /// The number of holds that have not ended.
  var holds: Int { count.withLock { $0 } }

  private init(_ memory: MemoryStore, _ gone: Gone) {
    self.memory = memory
    self.gone = gone
  }

  /// Creates the processes of a store.
  static func processes(_ count: Int) -> [SharedStore] {
    let memory = MemoryStore(size: MemoryStore.minimumSize)
    let gone = Gone()
    return (0..<count).map { _ in SharedStore(memory, gone) }
  }

  /// Lets the store find this process gone. Its later claims are those of another one.
  func disappear() {
    let id = own.withLock { own in
      defer { own = ClaimantID() }
      return own
    }
    _ = gone.claimants.withLock { $0.insert(id) }
  }

  func beginHold() -> ClaimantID {
    count.withLock { $0 += 1 }
    return own.withLock { $0 }
  }

  func endHold() { count.withLock { $0 -= 1 } }

  func isAlive(_ claimant: ClaimantID, for time: Milliseconds) -> Bool { own.withLock { $0 == claimant } }

  func isGone(_ claimant: ClaimantID) async -> Bool { gone.claimants.withLock { $0.contains(claimant) } }

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

  func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    try await memory.take(key, now: now)
  }

  func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    try await memory.remove(key, value, now: now)
  }
}
