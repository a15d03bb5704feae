internal import Time

/// The table of one kind of entry (`StoreKind`) whose values vary in length. The entries of most of these kinds may be
/// evicted, because the loss of an entry only makes a client or user repeat a step. For any other kind, a new entry is
/// refused where an entry would have to be evicted, or where the unlisted clients would use more than half of the share.
///
/// A holder is the client and network that entries are charged to (`StoreHolder`). If there is no room for a new entry,
/// the oldest entry of the largest holder is evicted, or of the requesting holder if it would become larger than that one
/// (`HolderShares.victim`). A holder is limited unless its requests come from this machine. If a limited holder has
/// reached its limit, its own oldest entries are evicted. For a kind whose entries are not evicted, the limit falls with
/// the free part of the share (`StoreKind.Properties.permits`).
package struct EntryTable: Sendable {
  private struct Entry: Sendable {
    let key: StoreKey
    var value: [UInt8]
    /// The number of bytes that are charged for the value. It is larger than the value if room for a later value is
    /// reserved.
    var room: Int
    var expiry: UnixTime
    /// The number of the holder in `shares`.
    let holder: UInt32
    /// The neighbours among the entries of the same holder, in the order of insertion.
    var older: UInt32
    var newer: UInt32
  }

  /// The first and the last entry of a holder.
  private struct Ends: Sendable {
    var oldest = EntryTable.none
    var newest = EntryTable.none
  }

  /// The value for "no entry" in place of the number of an entry, which is an index of `entries`.
  private static let none = UInt32.max
  /// The number of entries that a holder of an evictable kind may have even if they exceed its part of the share.
  package static let permittedEntries = 16
  /// The maximum number of expired entries that a write removes if there is room for its entry, so that the write takes
  /// little time. If there is no room, the write removes all expired entries.
  private static let expiredPerWrite = 8
  /// The bytes of an entry in addition to its value: its records in the table, the index and the wheel, and its part of
  /// the record of its holder.
  static let overhead = 256

  /// The maximum number of bytes of all entries.
  private let share: Int
  private let properties: StoreKind.Properties
  private let capacity: Int
  private let isEvictable: Bool
  private var entries: [Entry?] = []
  /// The numbers of the unused elements of `entries`.
  private var free: [UInt32] = []
  private var index: [StoreKey: UInt32] = [:]
  private var shares = HolderShares()
  /// The entries of each holder, by its number in `shares`.
  private var ends: [Ends] = []
  private var wheel: ExpiryWheel
  private(set) var evictions: UInt64 = 0
  /// The keys of evicted entries that the caller has not taken yet; `nil` if the caller needs no keys.
  private var evictedKeys: [StoreKey]?

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - share: the maximum number of bytes of all entries.
  ///   - capacity: the maximum number of entries.
  ///   - keepsEvictedKeys: true if the caller needs the keys of evicted entries (`takeEvictedKeys`).
  init(_ kind: StoreKind, share: Int, capacity: Int, keepsEvictedKeys: Bool = false) {
    self.share = share
    evictedKeys = keepsEvictedKeys ? [] : nil
    self.capacity = capacity
    properties = kind.properties
    isEvictable = kind.properties.whenFull == .evict
    wheel = ExpiryWheel(tick: kind.properties.tick)
  }

  var count: Int { index.count }
  /// The bytes of all entries.
  var bytes: Int { shares.total.bytes }
  /// The used part of the share or of the capacity in percent, whichever is higher.
  var fill: Int { max(bytes * 100 / share, capacity == Int.max ? 0 : count * 100 / max(1, capacity)) }

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
    shares.change(entry.holder, by: growth)
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

  /// Makes room for an entry of `size` bytes. Throws `.full` if the kind's entries are not evicted and there is no room
  /// for this holder, or if the share is smaller than the entry.
  private mutating func makeRoom(for size: Int, of holder: StoreHolder, now: UnixTime) throws(StoreError) {
    guard isEvictable else {
      if isPermitted(size, holder) { return }
      removeExpired(now: now, atMost: Int.max)
      guard isPermitted(size, holder) else { throw .full }
      return
    }
    guard size <= share, capacity > 0 else { throw .full }
    if holder.isLimited {
      while let own = shares.share(of: holder.fingerprint), own.count >= EntryTable.permittedEntries,
        own.bytes + size > share / properties.holderDivisor
      {
        evictOldest(ofNumber: shares.number(of: holder.fingerprint))
      }
    }
    if !hasRoom(for: size) { removeExpired(now: now, atMost: Int.max) }
    while !hasRoom(for: size) {
      guard let victim = shares.victim(for: holder.fingerprint) else { throw .full }
      evictOldest(ofNumber: victim)
    }
  }

  private func entry(_ number: UInt32) -> Entry? { number == EntryTable.none ? nil : entries[Int(number)] }

  /// Returns the keys of the entries that were evicted since the last call.
  mutating func takeEvictedKeys() -> [StoreKey] {
    defer { if evictedKeys != nil { evictedKeys = [] } }
    return evictedKeys ?? []
  }

  private func hasRoom(for size: Int) -> Bool { bytes + size <= share && count < capacity }

  /// True if the holder may add an entry of `size` bytes that will not be evicted.
  private func isPermitted(_ size: Int, _ holder: StoreHolder) -> Bool {
    shares.permits(
      size, holder.fingerprint, isLimited: holder.isLimited, share: share, capacity: capacity, properties)
  }

  private mutating func evictOldest(ofNumber holder: UInt32?) {
    guard let holder, let entry = entry(ends[Int(holder)].oldest) else { return }
    evictedKeys?.append(entry.key)
    remove(ends[Int(holder)].oldest)
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
    let size = room + EntryTable.overhead
    let owner = shares.add(size, to: holder)
    while ends.count <= Int(owner) { ends.append(Ends()) }
    let newest = ends[Int(owner)].newest
    let entry = Entry(
      key: key, value: value, room: room, expiry: expiry, holder: owner, older: newest, newer: EntryTable.none)
    if Int(number) == entries.count { entries.append(entry) } else { entries[Int(number)] = entry }
    if newest == EntryTable.none { ends[Int(owner)].oldest = number } else { entries[Int(newest)]?.newer = number }
    ends[Int(owner)].newest = number
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
    if entry.older != EntryTable.none { entries[Int(entry.older)]?.newer = entry.newer }
    if entry.newer != EntryTable.none { entries[Int(entry.newer)]?.older = entry.older }
    if ends[Int(entry.holder)].oldest == number { ends[Int(entry.holder)].oldest = entry.newer }
    if ends[Int(entry.holder)].newest == number { ends[Int(entry.holder)].newest = entry.older }
    shares.remove(size, from: entry.holder)
  }
}
