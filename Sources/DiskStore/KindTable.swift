internal import Cryptography
internal import SQLite
internal import Stores
internal import Time

/// The entries of one kind: a table of the file, and the counts that limit how much room each holder uses.
///
/// The rules are those of `MemoryStore`. If the share of a kind is full, new entries are refused, or the oldest entry of
/// the largest holder is evicted (`StoreKind.WhenFull`). The entries remain charged to their holders after a restart.
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
  private let properties: StoreKind.Properties
  private let isEvictable: Bool
  /// True if the values vary in length. Their bytes are counted by holder, and the entries of other kinds by number.
  private let countsBytes: Bool
  /// The number of entries of each holder, for a kind whose values have a fixed length.
  private var charges: HolderCharges
  /// The bytes and entries of each holder, for a kind whose values vary in length.
  private var shares = HolderShares()
  /// The key of the fingerprints of holders.
  private let holderKey: HMACSHA256
  /// The id of the next entry.
  private var nextID: Int64 = 1
  private let statements: KindStatements

  /// Opens the table of a kind and counts its entries.
  ///
  /// - Parameters:
  ///   - size: the maximum bytes of the whole store.
  ///   - entries: the maximum number of entries of the kind, in place of the limit from `size`.
  ///   - holderKey: the key of the fingerprints of holders.
  init(
    _ kind: StoreKind, in database: Database, size: Int, entries: Int?, holderKey: HMACSHA256
  ) throws(SQLiteError) {
    self.kind = kind
    self.holderKey = holderKey
    properties = kind.properties
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
    isEvictable = properties.whenFull == .evict
    if case .upTo = properties.size { countsBytes = true } else { countsBytes = false }
    charges = HolderCharges(kind, capacity: capacity)
    statements = try KindStatements(kind, in: database)
    try load()
  }

  /// Returns the number of entries that fit into a store of `size` bytes; `nil` for values that vary in length.
  static func capacity(_ kind: StoreKind, size: Int) -> Int? {
    guard case .fixed(let length) = kind.properties.size else { return nil }
    return size / 100 * kind.properties.percent / (length + fixedLengthOverhead)
  }

  /// Counts the entries of the file: at the start, and after a transaction that failed.
  func load() throws(SQLiteError) {
    shares = HolderShares()
    charges = HolderCharges(kind, capacity: capacity)
    usage.entries = 0
    usage.bytes = 0
    nextID = 1
    try statements.visit { row in
      let (fingerprint, bytes) = (UInt64(bitPattern: row.holder), row.room + bytesPerEntry)
      if countsBytes { _ = shares.add(bytes, to: fingerprint) } else { charges.restore(fingerprint) }
      usage.entries += 1
      usage.bytes += bytes
      nextID = row.id + 1
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
      if let holder = shares.number(of: UInt64(bitPattern: row.holder)) {
        shares.change(holder, by: new.count - row.room)
      }
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
    // An unlimited holder of a listed client is not counted among entries of fixed length.
    let isCounted = countsBytes || holder.isLimited || holder.isUnlisted
    let fingerprint = isCounted ? holder.fingerprint(holderKey) : 0
    var storedRoom = 0
    if case .fixed(let length) = kind.properties.size {
      guard value.count == length else { return .failure(KindTable.wrongLength) }
      guard try charge(holder, fingerprint, now: now) else { return .failure(.full) }
      usage.bytes += bytesPerEntry
    } else {
      let size = room + KindTable.variableLengthOverhead
      guard try makeRoom(for: size, of: holder, fingerprint, now: now) else { return .failure(.full) }
      _ = shares.add(size, to: fingerprint)
      usage.bytes += size
      storedRoom = room
    }
    usage.entries += 1
    try statements.insert(
      key,
      KindStatements.Row(
        id: nextID, expiry: expiry, holder: Int64(bitPattern: fingerprint), room: storedRoom, value: value))
    nextID += 1
    return .success(())
  }

  /// Counts an entry of fixed length. Returns false if there is no room for it, also after a sweep.
  private func charge(_ holder: StoreHolder, _ fingerprint: UInt64, now: UnixTime) throws(SQLiteError) -> Bool {
    if charges.charge(fingerprint, isLimited: holder.isLimited) != nil { return true }
    try sweep(now: now, atMost: KindTable.maximumSweep)
    return charges.charge(fingerprint, isLimited: holder.isLimited) != nil
  }

  /// Makes room for an entry of `size` bytes, by the rules of `EntryTable`. Removes expired entries of any holder first.
  /// Returns false if there is no room.
  private func makeRoom(
    for size: Int, of holder: StoreHolder, _ fingerprint: UInt64, now: UnixTime
  ) throws(SQLiteError) -> Bool {
    guard isEvictable else {
      if isPermitted(size, holder, fingerprint) { return true }
      try sweep(now: now, atMost: KindTable.maximumSweep)
      return isPermitted(size, holder, fingerprint)
    }
    guard size <= usage.share, capacity > 0 else { return false }
    if holder.isLimited {
      while let own = shares.share(of: fingerprint), own.count >= EntryTable.permittedEntries,
        own.bytes + size > usage.share / properties.holderDivisor
      {
        guard try evictOldest(of: fingerprint) else { return false }
      }
    }
    if !hasRoom(for: size) { try sweep(now: now, atMost: KindTable.maximumSweep) }
    while !hasRoom(for: size) {
      guard let victim = shares.victim(for: fingerprint) else { return false }
      guard try evictOldest(of: shares[victim].fingerprint) else { return false }
    }
    return true
  }

  private func hasRoom(for size: Int) -> Bool {
    usage.bytes + size <= usage.share && usage.entries < capacity
  }

  /// True if the holder may add an entry of `size` bytes that will not be evicted.
  private func isPermitted(_ size: Int, _ holder: StoreHolder, _ fingerprint: UInt64) -> Bool {
    shares.permits(
      size, fingerprint, isLimited: holder.isLimited, share: usage.share, capacity: capacity, properties)
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
      if let holder = shares.number(of: UInt64(bitPattern: row.holder)) { shares.remove(size, from: holder) }
    } else {
      usage.bytes -= bytesPerEntry
      charges.release(fingerprint: UInt64(bitPattern: row.holder))
    }
  }
}
