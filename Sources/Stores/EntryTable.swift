internal import Time

/// The table of one kind of entry (`StoreKind`) whose values vary in length. The entries of most of these kinds may be
/// evicted, because the loss of an entry only makes a client or user repeat a step. For any other kind, a new entry is
/// refused where an entry would have to be evicted, or where the unlisted clients would use more than half of the share.
///
/// A holder is the client and network that entries are charged to (`StoreHolder`). If there is no room for a new entry,
/// the oldest entry of the largest holder is evicted, but no holder is reduced to fewer than 16 entries in this way. A
/// holder is limited unless its requests come from this machine. If a limited holder has reached its limit, its own
/// oldest entries are evicted.
package struct EntryTable: Sendable {
  private struct Entry: Sendable {
    let key: StoreKey
    var value: [UInt8]
    /// The number of bytes that are charged for the value. It is larger than the value if room for a later value is
    /// reserved.
    var room: Int
    var expiry: UnixTime
    let holder: UInt64
    /// The neighbours among the entries of the same holder, in the order of insertion.
    var older: UInt32
    var newer: UInt32
  }

  private struct Holder: Sendable {
    var bytes = 0
    var count = 0
    var oldest = EntryTable.none
    var newest = EntryTable.none
  }

  /// The value for "no entry" in place of the number of an entry, which is an index of `entries`.
  private static let none = UInt32.max
  /// The number of a holder's entries that cannot be evicted in favour of other holders.
  package static let protectedEntries = 16
  /// The maximum number of expired entries that a write removes if there is room for its entry, so that the write takes
  /// little time. If there is no room, the write removes all expired entries.
  private static let expiredPerWrite = 8
  /// The bytes of an entry in addition to its value: its records in the table, the index and the wheel, and its part of
  /// the record of its holder.
  static let overhead = 256

  /// The maximum number of bytes of all entries.
  private let share: Int
  /// The maximum number of bytes of a limited holder with 16 entries or more. If a new entry would exceed this maximum,
  /// the oldest entries of the holder are evicted first.
  private let perHolder: Int
  private let capacity: Int
  private let isEvictable: Bool
  private var entries: [Entry?] = []
  /// The numbers of the unused elements of `entries`.
  private var free: [UInt32] = []
  private var index: [StoreKey: UInt32] = [:]
  private var holders: [UInt64: Holder] = [:]
  /// The holders with more than `protectedEntries` entries. Their oldest entries may be evicted in favour of other
  /// holders.
  private var largeHolders: Set<UInt64> = []
  private var wheel: ExpiryWheel
  private(set) var bytes = 0
  /// The bytes and number of the entries of all unlisted clients (`StoreHolder.isUnlisted`).
  private var unlisted = (bytes: 0, count: 0)
  private(set) var evictions: UInt64 = 0

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - share: the maximum number of bytes of all entries.
  ///   - perHolder: the maximum number of bytes of a limited holder.
  ///   - capacity: the maximum number of entries.
  init(_ kind: StoreKind, share: Int, perHolder: Int, capacity: Int) {
    self.share = share
    self.perHolder = perHolder
    self.capacity = capacity
    isEvictable = kind.properties.whenFull == .evict
    wheel = ExpiryWheel(tick: kind.properties.tick)
  }

  var count: Int { index.count }
  /// The used part of the share or of the capacity in percent, whichever is higher.
  var fill: Int { max(bytes * 100 / share, capacity == Int.max ? 0 : count * 100 / capacity) }

  /// Stores a value and returns `nil` if there is no entry, or only an expired one; otherwise returns the existing
  /// value. A value that has already expired is not stored. Throws `.full`.
  mutating func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) throws(StoreError) -> [UInt8]? {
    removeExpired(now: now, atMost: EntryTable.expiredPerWrite)
    if let number = index[key], let entry = entries[Int(number)] {
      guard entry.expiry <= now else { return entry.value }
      remove(number)
    }
    guard expiry > now else { return nil }
    try makeRoom(for: value.count + EntryTable.overhead, of: holder, now: now)
    insert(key, value, room: value.count, holder: holder.fingerprint, expiry: expiry, now: now)
    return nil
  }

  /// Stores an empty value that is charged as `room` bytes. Replaces an existing entry. Throws `.full`.
  mutating func reserve(
    _ key: StoreKey, _ room: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) throws(StoreError) {
    removeExpired(now: now, atMost: EntryTable.expiredPerWrite)
    remove(key)
    guard expiry > now else { return }
    try makeRoom(for: room + EntryTable.overhead, of: holder, now: now)
    insert(key, [], room: room, holder: holder.fingerprint, expiry: expiry, now: now)
  }

  /// Replaces the value `old` with `new` and returns true. Returns false if `old` is not the value, or if the entry or
  /// the new value has already expired. Throws `.full`.
  mutating func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) throws(StoreError) -> Bool {
    guard let number = index[key], let entry = entries[Int(number)], entry.expiry > now, entry.value == old,
      expiry > now
    else { return false }
    let growth = new.count - entry.room
    guard bytes + growth <= share else { throw .full }
    wheel.remove(number)
    wheel.insert(number, expiry: expiry, now: now)
    entries[Int(number)]?.value = new
    entries[Int(number)]?.room = new.count
    entries[Int(number)]?.expiry = expiry
    holders[entry.holder]?.bytes += growth
    bytes += growth
    countUnlisted(entry.holder, bytes: growth, count: 0)
    return true
  }

  func value(of key: StoreKey, now: UnixTime) -> [UInt8]? {
    guard let number = index[key], let entry = entries[Int(number)], entry.expiry > now else { return nil }
    return entry.value
  }

  mutating func remove(_ key: StoreKey) {
    if let number = index[key] { remove(number) }
  }

  // MARK: Room

  /// Evicts entries until there is room for `size` more bytes. Throws `.full` if no further entry may be evicted.
  private mutating func makeRoom(for size: Int, of holder: StoreHolder, now: UnixTime) throws(StoreError) {
    if holder.isUnlisted, !isEvictable, !hasUnlistedRoom(for: size) {
      removeExpired(now: now, atMost: Int.max)
      guard hasUnlistedRoom(for: size) else { throw .full }
    }
    if holder.isLimited {
      while let own = holders[holder.fingerprint], own.count >= EntryTable.protectedEntries,
        own.bytes + size > perHolder
      {
        guard isEvictable else { throw .full }
        evictOldest(of: holder.fingerprint)
      }
    }
    if !hasRoom(for: size) { removeExpired(now: now, atMost: Int.max) }
    while !hasRoom(for: size) {
      guard isEvictable else { throw .full }
      // The search takes little time: each of these holders has at least 17 entries, so there are not many.
      guard let largest = largeHolders.max(by: { chargedBytes(by: $0) < chargedBytes(by: $1) }) else { throw .full }
      evictOldest(of: largest)
    }
  }

  private func hasRoom(for size: Int) -> Bool { bytes + size <= share && count < capacity }

  private func hasUnlistedRoom(for size: Int) -> Bool {
    unlisted.bytes + size <= share / 2 && unlisted.count < capacity / 2
  }

  private mutating func countUnlisted(_ holder: UInt64, bytes: Int, count: Int) {
    guard StoreHolder.isUnlisted(holder) else { return }
    unlisted.bytes += bytes
    unlisted.count += count
  }

  private func chargedBytes(by holder: UInt64) -> Int { holders[holder]?.bytes ?? 0 }

  private mutating func evictOldest(of holder: UInt64) {
    guard let oldest = holders[holder]?.oldest, oldest != EntryTable.none else { return }
    remove(oldest)
    evictions += 1
  }

  /// Removes expired entries. Examines at most `limit` entries whose slot of the wheel has passed. An entry in such a
  /// slot may not have expired yet, and then stays in the table.
  private mutating func removeExpired(now: UnixTime, atMost limit: Int) {
    for _ in 0..<limit {
      guard let number = wheel.removePassed(now: now), let entry = entries[Int(number)] else { return }
      // `remove` requires the entry to be in the wheel.
      wheel.insert(number, expiry: entry.expiry, now: now)
      if entry.expiry <= now { remove(number) }
    }
  }

  // MARK: Entries

  private mutating func insert(
    _ key: StoreKey, _ value: [UInt8], room: Int, holder: UInt64, expiry: UnixTime, now: UnixTime
  ) {
    let number = free.popLast() ?? UInt32(entries.count)
    var own = holders[holder] ?? Holder()
    let entry = Entry(
      key: key, value: value, room: room, expiry: expiry, holder: holder, older: own.newest, newer: EntryTable.none)
    if Int(number) == entries.count { entries.append(entry) } else { entries[Int(number)] = entry }
    if own.newest == EntryTable.none {
      own.oldest = number
    } else {
      entries[Int(own.newest)]?.newer = number
    }
    own.newest = number
    own.count += 1
    own.bytes += room + EntryTable.overhead
    holders[holder] = own
    if own.count == EntryTable.protectedEntries + 1 { largeHolders.insert(holder) }
    bytes += room + EntryTable.overhead
    countUnlisted(holder, bytes: room + EntryTable.overhead, count: 1)
    index[key] = number
    wheel.insert(number, expiry: expiry, now: now)
  }

  private mutating func remove(_ number: UInt32) {
    guard let entry = entries[Int(number)] else { return }
    wheel.remove(number)
    index[entry.key] = nil
    entries[Int(number)] = nil
    free.append(number)
    let size = entry.room + EntryTable.overhead
    bytes -= size
    countUnlisted(entry.holder, bytes: -size, count: -1)
    if entry.older != EntryTable.none { entries[Int(entry.older)]?.newer = entry.newer }
    if entry.newer != EntryTable.none { entries[Int(entry.newer)]?.older = entry.older }
    guard var own = holders[entry.holder] else { return }
    if own.oldest == number { own.oldest = entry.newer }
    if own.newest == number { own.newest = entry.older }
    own.count -= 1
    own.bytes -= size
    holders[entry.holder] = own.count == 0 ? nil : own
    if own.count == EntryTable.protectedEntries { largeHolders.remove(entry.holder) }
  }
}
