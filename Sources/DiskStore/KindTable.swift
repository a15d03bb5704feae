internal import SQLite
internal import Stores
internal import Time

/// The entries of one kind: a table of the file, and the counts that limit how much room each holder uses.
///
/// The rules are those of `MemoryStore`. If the share of a kind is full, new entries are refused, or the oldest entry of
/// the largest holder is evicted (`StoreKind.WhenFull`).
///
/// Not Sendable: only the store's thread uses it.
final class KindTable {
  /// The percentage of a share at which the operator is warned, and the percentage below which the use must fall before
  /// the next warning.
  private static let warningPercentage = 80
  private static let resetPercentage = 70
  /// The maximum number of entries that a sweep examines if an operation finds no room.
  private static let maximumSweep = 4_096
  /// The bytes of an entry in table and indexes, without its value. The number for values that vary in length is
  /// higher, because they leave about half of their last page empty.
  private static let fixedLengthOverhead = 112
  private static let variableLengthOverhead = 512

  let kind: StoreKind
  private(set) var usage: StoreUsage
  /// True after a warning that the share is nearly full.
  private var wasWarned = false
  /// The maximum number of entries; `Int.max` if only their bytes are limited.
  private let capacity: Int
  /// The bytes that a limited holder (`StoreHolder.isLimited`) may use, for a kind whose values vary in length. A
  /// holder with fewer than `EntryTable.protectedEntries` entries may use more.
  private let maximumBytesPerHolder: Int
  private let isEvictable: Bool
  /// True if the values vary in length. Their bytes are counted by holder, and the entries of other kinds by number.
  private let countsBytes: Bool
  /// The number of entries of each holder, without those that an earlier process added; for a kind whose values have
  /// a fixed length.
  private var charges: HolderCharges
  /// The maximum number of entries of a limited holder in `charges`.
  private let chargeLimit: Int
  /// The bytes and entries of each holder, for a kind whose values vary in length.
  private var holderShares = HolderShares()
  /// The id of the next entry.
  private var nextID: Int64 = 1
  /// The id of the first entry that this process adds. Earlier entries are not in `charges`.
  private var firstID: Int64 = 1
  private let statements: KindStatements

  /// Opens the table of a kind and counts its entries.
  ///
  /// - Parameters:
  ///   - size: the maximum bytes of the whole store.
  ///   - entries: the maximum number of entries of the kind, in place of the limit from `size`.
  init(_ kind: StoreKind, in database: Database, size: Int, entries: Int?) throws(SQLiteError) {
    self.kind = kind
    let properties = kind.properties
    usage = StoreUsage(kind)
    switch properties.size {
    case .fixed(let length):
      capacity = entries ?? KindTable.capacity(kind, size: size) ?? 0
      usage.share = capacity * (length + KindTable.fixedLengthOverhead)
      usage.capacity = capacity
    case .upTo:
      usage.share = size / 100 * properties.percent
      capacity = entries ?? Int.max
    }
    maximumBytesPerHolder = usage.share / properties.holderDivisor
    isEvictable = properties.whenFull == .evict
    if case .upTo = properties.size { countsBytes = true } else { countsBytes = false }
    chargeLimit = max(EntryTable.protectedEntries, capacity / properties.holderDivisor)
    charges = HolderCharges(limit: chargeLimit, unlistedLimit: capacity / 2)
    statements = try KindStatements(kind, in: database)
    nextID = try database.number("SELECT coalesce(max(id), 0) + 1 FROM \(properties.name)")
    firstID = nextID
    try load(from: database)
  }

  /// Returns the number of entries that fit into a store of `size` bytes; `nil` for values that vary in length.
  static func capacity(_ kind: StoreKind, size: Int) -> Int? {
    guard case .fixed(let length) = kind.properties.size else { return nil }
    return size / 100 * kind.properties.percent / (length + fixedLengthOverhead)
  }

  /// Counts the entries of the file: at the start, and after a transaction that failed.
  func load(from database: Database) throws(SQLiteError) {
    holderShares = HolderShares()
    charges = HolderCharges(limit: chargeLimit, unlistedLimit: capacity / 2)
    if !countsBytes {
      usage.entries = Int(try database.number("SELECT count(*) FROM \(kind.properties.name)"))
      usage.bytes = usage.entries * bytesPerEntry
      // Entries of an earlier process are not charged to a holder. A holder that is not counted has the index 0.
      let charged = try database.prepare(
        "SELECT holder, count(*), id >= ? AS own FROM \(kind.properties.name) WHERE holder > 0 GROUP BY holder, own")
      try charged.bind(1, firstID)
      while try charged.step() {
        charges.restore(
          UInt16(truncatingIfNeeded: charged.number(0)), count: Int(charged.number(1)),
          isOfThisProcess: charged.number(2) == 1)
      }
      return
    }
    usage.entries = 0
    usage.bytes = 0
    let all = try database.prepare("SELECT holder, count(*), sum(room) FROM \(kind.properties.name) GROUP BY holder")
    while try all.step() {
      let count = Int(all.number(1))
      let bytes = Int(all.number(2)) + count * KindTable.variableLengthOverhead
      holderShares.add(UInt64(bitPattern: all.number(0)), bytes: bytes, count: count)
      usage.entries += count
      usage.bytes += bytes
    }
  }

  /// The bytes that are counted for an entry, without the room of a value that varies in length.
  private var bytesPerEntry: Int {
    if case .fixed(let length) = kind.properties.size {
      length + KindTable.fixedLengthOverhead
    } else {
      KindTable.variableLengthOverhead
    }
  }

  // MARK: Operations

  /// Stores a value and returns `nil` if the key has no unexpired entry. Otherwise returns the value of that entry.
  func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) throws(SQLiteError) -> Result<[UInt8]?, StoreError> {
    if let row = try statements.row(of: key) {
      guard row.expiry <= now else { return .success(row.value) }
      try remove(row)
    }
    return try add(key, value, room: value.count, holder: holder, expiry: expiry, now: now).map { nil }
  }

  /// Replaces the entry of the key, if there is one, by an empty value with room for `bytes` bytes.
  func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) throws(SQLiteError) -> Result<Void, StoreError> {
    if let row = try statements.row(of: key) { try remove(row) }
    return try add(key, [], room: bytes, holder: holder, expiry: expiry, now: now)
  }

  /// Replaces `old` by `new` and returns true, if `old` is the value and `expiry` is after `now`. Otherwise changes
  /// nothing and returns false.
  func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) throws(SQLiteError) -> Result<Bool, StoreError> {
    guard let row = try unexpiredRow(of: key, now: now), row.value == old, expiry > now else { return .success(false) }
    var room = new.count
    if case .fixed(let length) = kind.properties.size {
      guard new.count == length else { return .failure(KindTable.wrongLength) }
      room = 0
    } else {
      // A value that is longer than the room of its entry may use only the free part of the share. No other entry is
      // evicted for it.
      guard new.count <= row.room || usage.bytes + new.count - row.room <= usage.share else { return .failure(.full) }
      holderShares.add(UInt64(bitPattern: row.holder), bytes: new.count - row.room, count: 0)
      usage.bytes += new.count - row.room
    }
    try statements.update(row, value: new, expiry: expiry, room: room)
    return .success(true)
  }

  /// Returns the value of a key; `nil` without an entry.
  func value(of key: StoreKey, now: UnixTime) throws(SQLiteError) -> [UInt8]? {
    try unexpiredRow(of: key, now: now)?.value
  }

  /// Removes an entry and returns its value.
  ///
  /// - Parameter expected: the value that the entry must have; `nil` for any.
  func take(_ key: StoreKey, _ expected: [UInt8]?, now: UnixTime) throws(SQLiteError) -> [UInt8]? {
    guard let row = try unexpiredRow(of: key, now: now), expected == nil || expected == row.value else { return nil }
    try remove(row)
    return row.value
  }

  /// Examines at most `limit` entries that are due (`KindStatements.schema`). Removes those that have expired.
  func sweep(now: UnixTime, atMost limit: Int) throws(SQLiteError) {
    guard usage.entries > 0 else { return }
    for row in try statements.due(now: now, atMost: limit) {
      if row.expiry <= now { try remove(row) } else { try statements.postpone(row) }
    }
  }

  /// Counts an entry that could not be stored.
  func countRefusal() { usage.refusals += 1 }

  /// Returns true if the operator has to be warned that the share is nearly full, and records that this warning was
  /// given. A second warning follows only after the use has fallen below `resetPercentage`.
  func takeDueWarning() -> Bool {
    let percentageOfEntries = capacity == Int.max ? 0 : usage.entries * 100 / max(1, capacity)
    let percentage = max(usage.bytes * 100 / max(1, usage.share), percentageOfEntries)
    if percentage < KindTable.resetPercentage { wasWarned = false }
    guard percentage >= KindTable.warningPercentage, !wasWarned else { return false }
    wasWarned = true
    return true
  }

  // MARK: Room

  private static let wrongLength = StoreError.unavailable("a value of the wrong length for its kind")

  /// Adds an entry for a key that has none. `room` is the number of bytes that are charged for a value that varies in
  /// length; it may exceed `value.count`.
  private func add(
    _ key: StoreKey, _ value: [UInt8], room: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) throws(SQLiteError) -> Result<Void, StoreError> {
    // An entry that would already have expired is not stored.
    guard expiry > now else { return .success(()) }
    var storedHolder = Int64(bitPattern: holder.fingerprint)
    var storedRoom = 0
    if case .fixed(let length) = kind.properties.size {
      guard value.count == length else { return .failure(KindTable.wrongLength) }
      if usage.entries >= capacity { try sweep(now: now, atMost: KindTable.maximumSweep) }
      var charged = usage.entries < capacity ? charges.charge(holder) : nil
      if charged == nil, holder.isUnlisted, usage.entries < capacity {
        try sweep(now: now, atMost: KindTable.maximumSweep)
        charged = charges.charge(holder)
      }
      guard let holderIndex = charged else { return .failure(.full) }
      storedHolder = Int64(holderIndex)
      usage.bytes += bytesPerEntry
    } else {
      let size = room + KindTable.variableLengthOverhead
      guard try makeRoom(for: size, of: holder, now: now) else { return .failure(.full) }
      holderShares.add(holder.fingerprint, bytes: size, count: 1)
      usage.bytes += size
      storedRoom = room
    }
    usage.entries += 1
    try statements.insert(
      key, KindStatements.Row(id: nextID, expiry: expiry, holder: storedHolder, room: storedRoom, value: value))
    nextID += 1
    return .success(())
  }

  /// Makes room for an entry of `size` bytes that `holder` adds. First evicts entries of `holder` as long as it would
  /// exceed its limit with the new entry. Then removes expired entries of any holder, and at last evicts entries of the
  /// largest holders. Returns false if there is still no room.
  private func makeRoom(for size: Int, of holder: StoreHolder, now: UnixTime) throws(SQLiteError) -> Bool {
    if holder.isUnlisted, !isEvictable, !hasUnlistedRoom(for: size) {
      try sweep(now: now, atMost: KindTable.maximumSweep)
      guard hasUnlistedRoom(for: size) else { return false }
    }
    if holder.isLimited {
      while holderShares.count(holder.fingerprint) >= EntryTable.protectedEntries,
        holderShares.bytes(holder.fingerprint) + size > maximumBytesPerHolder
      {
        guard isEvictable, try evictOldest(of: holder.fingerprint) else { return false }
      }
    }
    if !hasRoom(for: size) { try sweep(now: now, atMost: KindTable.maximumSweep) }
    while !hasRoom(for: size) {
      guard isEvictable, let largest = holderShares.largest, try evictOldest(of: largest) else { return false }
    }
    return true
  }

  private func hasRoom(for size: Int) -> Bool {
    usage.bytes + size <= usage.share && usage.entries < capacity
  }

  /// True if the entries of all unlisted clients are within half of the share with another one of `size` bytes.
  private func hasUnlistedRoom(for size: Int) -> Bool {
    holderShares.unlisted.bytes + size <= usage.share / 2 && holderShares.unlisted.count < capacity / 2
  }

  private func evictOldest(of holder: UInt64) throws(SQLiteError) -> Bool {
    guard let row = try statements.oldest(of: holder) else { return false }
    try remove(row)
    usage.evictions += 1
    return true
  }

  private func unexpiredRow(of key: StoreKey, now: UnixTime) throws(SQLiteError) -> KindStatements.Row? {
    guard let row = try statements.row(of: key), row.expiry > now else { return nil }
    return row
  }

  private func remove(_ row: KindStatements.Row) throws(SQLiteError) {
    try statements.delete(row.id)
    usage.entries -= 1
    if countsBytes {
      let size = row.room + KindTable.variableLengthOverhead
      usage.bytes -= size
      holderShares.remove(UInt64(bitPattern: row.holder), bytes: size)
    } else {
      usage.bytes -= bytesPerEntry
      charges.release(UInt16(truncatingIfNeeded: row.holder), isOfThisProcess: row.id >= firstID)
    }
  }
}
