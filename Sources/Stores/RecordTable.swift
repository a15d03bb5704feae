internal import Synchronization

/// A shard of the entries of one kind with values of fixed length: a flat table without an allocation per entry.
///
/// Entries are never evicted. They are found through a hash index with 4 bytes per place (open addressing, linear
/// probing, deletion by backward shift). The hash differs in every process.
struct RecordTable: Sendable {
  /// The fixed part of a record. `expiry` is 0 for a free record, and `low` is then the number of the next free one.
  private struct Head: Sendable {
    var high: UInt64 = 0
    var low: UInt64 = 0
    var expiry: UInt32 = 0
    var holder: UInt16 = 0
  }

  private static let none = UInt32.max
  /// The maximum number of expired records that one write removes, so that no write pays for all of them.
  private static let sweep = 8
  private static let smallestIndex = 64

  private let kind: StoreKind
  private let length: Int
  private let capacity: Int
  private let charges: HolderCharges
  private var heads = Slabs<Head>(Head())
  private var values: [[UInt8]] = []
  private var index: [UInt32] = []
  private var wheel: ExpiryWheel
  private var used = 0
  private var free = RecordTable.none
  private(set) var count = 0
  /// The used part of the capacity in percent.
  var fill: Int { count * 100 / capacity }

  /// Creates an empty table.
  ///
  /// - Parameters:
  ///   - length: the length of a value in bytes.
  ///   - capacity: the maximum number of records.
  ///   - charges: the counts of the holders, shared by all shards of the kind.
  init(_ kind: StoreKind, length: Int, capacity: Int, charges: HolderCharges) {
    self.kind = kind
    self.length = length
    self.capacity = capacity
    self.charges = charges
    wheel = ExpiryWheel(tick: kind.row.tick)
  }

  /// Returns the maximum bytes of a record: its head and value, its place in the wheel, and its part of the index,
  /// which is at least three eighths full.
  static func recordLength(_ length: Int) -> Int {
    MemoryLayout<Head>.stride + length + ExpiryWheel.recordLength + MemoryLayout<UInt32>.stride * 8 / 3 + 1
  }

  /// Stores a value if the key has no live record; otherwise returns the existing value. Throws `.full`.
  mutating func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: Int64, now: Int64
  ) throws(StoreError) -> [UInt8]? {
    clear(now: now, atMost: RecordTable.sweep)
    if let place = place(of: key) {
      let record = index[place]
      guard Int64(heads[record].expiry) <= now else { return self.value(record) }
      remove(at: place)
    }
    guard expiry > now else { return nil }
    guard value.count == length else { throw .unavailable("a value of the wrong length for its kind") }
    if count >= capacity { clear(now: now, atMost: Int.max) }
    guard count < capacity, let charge = charges.charge(holder) else { throw .full }
    let record = allocate()
    heads[record] = Head(high: key.high, low: key.low, expiry: RecordTable.seconds(expiry), holder: charge)
    set(record, value)
    wheel.insert(record, expiry: expiry, now: now)
    count += 1
    if count * 4 > index.count * 3 { grow() } else { link(record) }
    return nil
  }

  /// Replaces `old` by `new` if `old` is the live value. Returns true if it was.
  mutating func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: Int64, now: Int64
  ) throws(StoreError) -> Bool {
    guard let record = live(key, now: now), value(record) == old, expiry > now else { return false }
    guard new.count == length else { throw .unavailable("a value of the wrong length for its kind") }
    set(record, new)
    heads[record].expiry = RecordTable.seconds(expiry)
    wheel.remove(record)
    wheel.insert(record, expiry: expiry, now: now)
    return true
  }

  func value(of key: StoreKey, now: Int64) -> [UInt8]? {
    live(key, now: now).map { value($0) }
  }

  mutating func remove(_ key: StoreKey) {
    if let place = place(of: key) { remove(at: place) }
  }

  // MARK: Records

  /// Returns the number of the record of `key` unless it has expired.
  private func live(_ key: StoreKey, now: Int64) -> UInt32? {
    guard let place = place(of: key), Int64(heads[index[place]].expiry) > now else { return nil }
    return index[place]
  }

  private mutating func allocate() -> UInt32 {
    if free != RecordTable.none {
      let record = free
      free = UInt32(truncatingIfNeeded: heads[record].low)
      return record
    }
    let record = UInt32(used)
    used += 1
    if Int(record) / Slabs<Head>.length >= values.count {
      values.append([UInt8](repeating: 0, count: Slabs<Head>.length * length))
    }
    return record
  }

  private func value(_ record: UInt32) -> [UInt8] {
    let start = Int(record) % Slabs<Head>.length * length
    return Array(values[Int(record) / Slabs<Head>.length][start..<start + length])
  }

  private mutating func set(_ record: UInt32, _ value: [UInt8]) {
    let start = Int(record) % Slabs<Head>.length * length
    for offset in 0..<length { values[Int(record) / Slabs<Head>.length][start + offset] = value[offset] }
  }

  /// Returns seconds since 1970 in 32 bits, which suffice until 2106.
  private static func seconds(_ expiry: Int64) -> UInt32 { UInt32(clamping: expiry) }

  /// Removes expired records. Looks at up to `limit` records whose slot has passed; files those again that have not
  /// expired.
  private mutating func clear(now: Int64, atMost limit: Int) {
    for _ in 0..<limit {
      guard let record = wheel.passed(now: now) else { return }
      let head = heads[record]
      wheel.insert(record, expiry: Int64(head.expiry), now: now)
      if Int64(head.expiry) <= now { remove(StoreKey(kind, high: head.high, low: head.low)) }
    }
  }

  // MARK: The index

  /// Returns the place in the index where the search for a key begins.
  private func home(_ high: UInt64, _ low: UInt64) -> Int {
    var hasher = Hasher()
    hasher.combine(high)
    hasher.combine(low)
    return hasher.finalize() & (index.count - 1)
  }

  private func place(of key: StoreKey) -> Int? {
    guard !index.isEmpty else { return nil }
    var place = home(key.high, key.low)
    while index[place] != RecordTable.none {
      let head = heads[index[place]]
      if head.high == key.high, head.low == key.low { return place }
      place = (place + 1) & (index.count - 1)
    }
    return nil
  }

  private mutating func link(_ record: UInt32) {
    let head = heads[record]
    var place = home(head.high, head.low)
    while index[place] != RecordTable.none { place = (place + 1) & (index.count - 1) }
    index[place] = record
  }

  private mutating func grow() {
    let size = max(RecordTable.smallestIndex, index.count * 2)
    index = [UInt32](repeating: RecordTable.none, count: size)
    for record in 0..<UInt32(used) where heads[record].expiry != 0 { link(record) }
  }

  private mutating func remove(at place: Int) {
    let record = index[place]
    wheel.remove(record)
    charges.release(heads[record].holder)
    heads[record] = Head(low: UInt64(free))
    free = record
    count -= 1
    // Backward shift: records after the gap move into it, but never before the place where their search begins.
    var gap = place
    var next = (place + 1) & (index.count - 1)
    while index[next] != RecordTable.none {
      let head = heads[index[next]]
      let distance = (next - home(head.high, head.low)) & (index.count - 1)
      if distance >= (next - gap) & (index.count - 1) {
        index[gap] = index[next]
        gap = next
      }
      next = (next + 1) & (index.count - 1)
    }
    index[gap] = RecordTable.none
  }
}

/// The number of entries of each holder within one kind, so that no holder fills the whole share.
///
/// The counts are kept in 65,535 places, chosen by hash. So one holder in 65,535 shares its limit with an attacker.
final class HolderCharges: Sendable {
  private static let places = UInt64(UInt16.max)

  private let limit: UInt32
  private let counts = Mutex<[UInt32]>([])

  /// Creates the counts of one kind.
  ///
  /// - Parameter limit: the maximum number of entries of a limited holder.
  init(limit: Int) {
    self.limit = UInt32(clamping: limit)
  }

  /// Counts an entry. Returns the place to pass to `release`, 0 for a holder without a limit, or `nil` if the holder
  /// has reached its limit.
  func charge(_ holder: StoreHolder) -> UInt16? {
    guard holder.isLimited else { return 0 }
    let place = Int(holder.fingerprint % HolderCharges.places) + 1
    return counts.withLock { counts in
      if counts.isEmpty { counts = [UInt32](repeating: 0, count: Int(HolderCharges.places) + 1) }
      guard counts[place] < limit else { return nil }
      counts[place] += 1
      return UInt16(place)
    }
  }

  /// Removes an entry from the count of its holder.
  func release(_ place: UInt16) {
    guard place != 0 else { return }
    counts.withLock { $0[Int(place)] -= 1 }
  }
}
