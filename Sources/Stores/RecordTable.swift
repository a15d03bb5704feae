internal import Time

/// A shard of the table of one kind of entry (`StoreKind`) whose values have a fixed length. It needs no allocation per
/// entry.
///
/// Entries are never evicted. They are found through a hash index with 4 bytes per slot (open addressing, linear
/// probing, deletion by backward shift). The seed of the hash differs in every process.
struct RecordTable: Sendable {
  /// The part of a record in front of its value: the key (`high` and `low`), the expiry in seconds since 1970, and the
  /// result of `HolderCharges.charge`. In a free record, `expiry` is 0, and `low` is the number of the next free
  /// record.
  private struct Head: Sendable {
    var high: UInt64 = 0
    var low: UInt64 = 0
    var expiry: UInt32 = 0
    var charge: UInt32 = 0

    /// The time at which the record expires.
    var end: UnixTime { UnixTime(seconds: Int64(expiry)) }
  }

  /// The value for "no record" in place of the number of a record.
  private static let none = UInt32.max
  /// The maximum number of expired records that a write removes if there is room, so that no write takes long.
  private static let expiredPerWrite = 8
  /// The number of slots that the index has at first.
  private static let initialIndexSize = 64

  private let kind: StoreKind
  private let length: Int
  private let charges: HolderCharges
  private var heads = ChunkedArray<Head>(Head())
  private var values: [[UInt8]] = []
  private var index: [UInt32] = []
  private var wheel: ExpiryWheel
  /// The number of records that were ever allocated, including free ones.
  private var allocatedCount = 0
  /// The first of the list of free records.
  private var firstFree = RecordTable.none
  private var count = 0

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - length: the length of a value in bytes.
  ///   - charges: the counts of the entries and holders, shared by all shards of the kind.
  init(_ kind: StoreKind, length: Int, charges: HolderCharges) {
    self.kind = kind
    self.length = length
    self.charges = charges
    wheel = ExpiryWheel(tick: kind.properties.tick)
  }

  /// Returns the number of bytes of a record: its head and value, its part of the wheel, and its part of the index. The
  /// index doubles when it is three quarters full, so it may have 8/3 slots for each record.
  static func recordLength(valueLength: Int) -> Int {
    MemoryLayout<Head>.stride + valueLength + ExpiryWheel.recordLength + MemoryLayout<UInt32>.stride * 8 / 3 + 1
  }

  /// Stores a value and returns `nil` if there is no record, or only an expired one; otherwise returns the existing
  /// value. A value that has already expired is not stored. Throws `.full`, or `.unavailable` for a value of the wrong
  /// length.
  mutating func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) throws(StoreError) -> [UInt8]? {
    removeExpired(now: now, atMost: RecordTable.expiredPerWrite)
    if let slot = slot(of: key) {
      let record = index[slot]
      guard heads[record].end <= now else { return self.value(record) }
      remove(at: slot)
    }
    guard expiry > now else { return nil }
    guard value.count == length else { throw .unavailable("a value of the wrong length for its kind") }
    guard let charge = charges.charge(holder.fingerprint, isLimited: holder.isLimited) else { throw .full }
    let record = allocate()
    heads[record] = Head(high: key.high, low: key.low, expiry: RecordTable.seconds(expiry), charge: charge)
    set(record, value)
    wheel.insert(record, expiry: expiry, now: now)
    count += 1
    if count * 4 > index.count * 3 { grow() } else { addToIndex(record) }
    return nil
  }

  /// Replaces the value `old` with `new` and returns true. Returns false if `old` is not the value, or if the record or
  /// the new value has already expired. Throws `.unavailable` for a value of the wrong length.
  mutating func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) throws(StoreError) -> Bool {
    guard let record = validRecord(of: key, now: now), value(record) == old, expiry > now else { return false }
    guard new.count == length else { throw .unavailable("a value of the wrong length for its kind") }
    set(record, new)
    heads[record].expiry = RecordTable.seconds(expiry)
    wheel.remove(record)
    wheel.insert(record, expiry: expiry, now: now)
    return true
  }

  func value(of key: StoreKey, now: UnixTime) -> [UInt8]? {
    validRecord(of: key, now: now).map { value($0) }
  }

  mutating func remove(_ key: StoreKey) {
    if let slot = slot(of: key) { remove(at: slot) }
  }

  // MARK: Records

  /// Returns the number of the record of `key`; `nil` if no record has this key, or if it has expired.
  private func validRecord(of key: StoreKey, now: UnixTime) -> UInt32? {
    guard let slot = slot(of: key), heads[index[slot]].end > now else { return nil }
    return index[slot]
  }

  private mutating func allocate() -> UInt32 {
    if firstFree != RecordTable.none {
      let record = firstFree
      firstFree = UInt32(truncatingIfNeeded: heads[record].low)
      return record
    }
    let record = UInt32(allocatedCount)
    allocatedCount += 1
    if Int(record) / ChunkedArray<Head>.chunkLength >= values.count {
      values.append([UInt8](repeating: 0, count: ChunkedArray<Head>.chunkLength * length))
    }
    return record
  }

  private func value(_ record: UInt32) -> [UInt8] {
    let start = Int(record) % ChunkedArray<Head>.chunkLength * length
    return Array(values[Int(record) / ChunkedArray<Head>.chunkLength][start..<start + length])
  }

  private mutating func set(_ record: UInt32, _ value: [UInt8]) {
    let start = Int(record) % ChunkedArray<Head>.chunkLength * length
    values[Int(record) / ChunkedArray<Head>.chunkLength].replaceSubrange(start..<start + length, with: value)
  }

  /// Returns seconds since 1970 in 32 bits, which suffice until 2106.
  private static func seconds(_ expiry: UnixTime) -> UInt32 { UInt32(clamping: expiry.seconds) }

  /// Removes expired records. Examines at most `limit` records whose slot of the wheel has passed. A record in such a
  /// slot may not have expired yet, and then stays in the table.
  mutating func removeExpired(now: UnixTime, atMost limit: Int) {
    for _ in 0..<limit {
      guard let record = wheel.removePassed(now: now) else { return }
      let head = heads[record]
      // `remove` requires the record to be in the wheel.
      wheel.insert(record, expiry: head.end, now: now)
      if head.end <= now { remove(StoreKey(kind, high: head.high, low: head.low)) }
    }
  }

  // MARK: The index

  /// Returns the slot of the index in which the search for a key begins.
  private func firstSlot(_ high: UInt64, _ low: UInt64) -> Int {
    var hasher = Hasher()
    hasher.combine(high)
    hasher.combine(low)
    return hasher.finalize() & (index.count - 1)
  }

  private func slot(of key: StoreKey) -> Int? {
    guard !index.isEmpty else { return nil }
    var slot = firstSlot(key.high, key.low)
    while index[slot] != RecordTable.none {
      let head = heads[index[slot]]
      if head.high == key.high, head.low == key.low { return slot }
      slot = (slot + 1) & (index.count - 1)
    }
    return nil
  }

  private mutating func addToIndex(_ record: UInt32) {
    let head = heads[record]
    var slot = firstSlot(head.high, head.low)
    while index[slot] != RecordTable.none { slot = (slot + 1) & (index.count - 1) }
    index[slot] = record
  }

  private mutating func grow() {
    let size = max(RecordTable.initialIndexSize, index.count * 2)
    index = [UInt32](repeating: RecordTable.none, count: size)
    for record in 0..<UInt32(allocatedCount) where heads[record].expiry != 0 { addToIndex(record) }
  }

  private mutating func remove(at slot: Int) {
    let record = index[slot]
    wheel.remove(record)
    charges.release(heads[record].charge)
    heads[record] = Head(low: UInt64(firstFree))
    firstFree = record
    count -= 1
    // Backward shift: a record after the gap moves into the gap, unless the search for it begins after the gap.
    var gap = slot
    var next = (slot + 1) & (index.count - 1)
    while index[next] != RecordTable.none {
      let head = heads[index[next]]
      let distance = (next - firstSlot(head.high, head.low)) & (index.count - 1)
      if distance >= (next - gap) & (index.count - 1) {
        index[gap] = index[next]
        gap = next
      }
      next = (next + 1) & (index.count - 1)
    }
    index[gap] = RecordTable.none
  }
}
