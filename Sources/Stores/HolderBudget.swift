internal import Time

/// The bytes of the entries of one kind that this process has made in a store of several processes, by holder, until the
/// entries expire.
///
/// An entry is described by a digest of its key, its holder, its bytes and its expiry, in 32 bytes without an
/// allocation. Times are those of the monotonic clock.
///
///     (no charge) --add--> pending --keep--> stored or uncertain
///     undo, expiry: from any state to (no charge)
///
/// At most one charge of a key is stored or uncertain, because the store has at most one entry of a key. These charges
/// are found by their key, through a hash index (open addressing, linear probing, deletion by backward shift). The
/// digests of the keys have a seed that differs in every process, so a client cannot choose keys with the same digest.
struct HolderBudget: Sendable {
  private enum State: UInt8, Sendable {
    /// It is not known yet if the entry is stored. The charge cannot be found by its key.
    case pending
    case stored
    /// The operation that stores the entry has failed, but may have been executed.
    case uncertain
  }

  /// The description of one entry.
  private struct Record: Sendable {
    /// The digest of the key.
    var digest: UInt64 = 0
    /// The number of the holder in `holders`; `HolderAmounts.none` for a holder that is not counted. In a free record,
    /// the number of the next free record.
    var holder: UInt32 = 0
    var bytes: UInt32 = 0
    var expiry: UInt32 = 0
    /// The number of the charge; 0 in a free record.
    var charge: UInt32 = 0
    var state = State.pending
  }

  /// A charge that can be undone.
  struct Charge: Sendable {
    fileprivate let record: UInt32
    fileprivate let number: UInt32
  }

  private static let none = UInt32.max
  private static let initialIndexSize = 64

  /// The bytes of all entries.
  private(set) var bytes = 0
  /// The bytes of the entries of all unlisted clients.
  private(set) var unlistedBytes = 0
  private var holders = HolderAmounts()
  private var records = ChunkedArray<Record>(Record())
  private var wheel: ExpiryWheel
  private var allocatedCount = 0
  private var firstFree = HolderBudget.none
  private var lastCharge: UInt32 = 0
  /// The numbers of the records that are not pending, by digest.
  private var index: [UInt32] = []
  /// The number of records in the index.
  private var indexedCount = 0

  init(_ kind: StoreKind) {
    wheel = ExpiryWheel(tick: kind.properties.tick)
  }

  /// Returns the bytes of a holder.
  func bytes(of holder: StoreHolder) -> Int { holders.amount(of: holder.fingerprint) }

  /// Adds an entry. The charge is pending.
  mutating func add(
    _ key: StoreKey, _ size: Int, of holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) -> Charge {
    let record = allocate()
    lastCharge = lastCharge == UInt32.max ? 1 : lastCharge + 1
    let isCounted = holder.isLimited || holder.isUnlisted
    let number = isCounted ? holders.add(size, to: holder.fingerprint) : HolderAmounts.none
    records[record] = Record(
      digest: HolderBudget.digest(key), holder: number, bytes: UInt32(clamping: size),
      expiry: UInt32(clamping: expiry.seconds), charge: lastCharge)
    bytes += size
    if holder.isUnlisted { unlistedBytes += size }
    wheel.insert(record, expiry: expiry, now: now)
    return Charge(record: record, number: lastCharge)
  }

  /// Ends the pending state of a charge: the entry is stored, or may be stored if `isCertain` is false. An earlier
  /// charge of the key ends, because its entry no longer exists. If it is uncertain that the new entry is stored, the
  /// charge of an entry that was certainly stored remains instead.
  mutating func keep(_ charge: Charge, isCertain: Bool) {
    guard isValid(charge), records[charge.record].state == .pending else { return }
    if let earlier = record(of: records[charge.record].digest) {
      if !isCertain, records[earlier].state == .stored {
        end(charge.record)
        return
      }
      end(earlier)
    }
    records[charge.record].state = isCertain ? .stored : .uncertain
    addToIndex(charge.record)
  }

  /// Returns the charge of a key; `nil` if the key has no charge or only pending ones.
  func charge(of key: StoreKey) -> Charge? {
    record(of: HolderBudget.digest(key)).map { Charge(record: $0, number: records[$0].charge) }
  }

  /// Removes the entry of a charge, unless it has expired or was removed before.
  mutating func undo(_ charge: Charge) {
    if isValid(charge) { end(charge.record) }
  }

  /// Removes the entry of a charge, unless it is certain that the entry was stored.
  mutating func undoUnlessStored(_ charge: Charge) {
    if isValid(charge), records[charge.record].state != .stored { end(charge.record) }
  }

  /// Removes expired entries. Examines at most `limit` entries whose slot of the wheel has passed.
  mutating func removeExpired(now: UnixTime, atMost limit: Int) {
    for _ in 0..<limit {
      guard let record = wheel.removePassed(now: now) else { return }
      let expiry = UnixTime(seconds: Int64(records[record].expiry))
      if expiry <= now { release(record) } else { wheel.insert(record, expiry: expiry, now: now) }
    }
  }

  private func isValid(_ charge: Charge) -> Bool { records[charge.record].charge == charge.number }

  private mutating func allocate() -> UInt32 {
    if firstFree != HolderBudget.none {
      let record = firstFree
      firstFree = records[record].holder
      return record
    }
    allocatedCount += 1
    return UInt32(allocatedCount - 1)
  }

  /// Removes a record.
  private mutating func end(_ number: UInt32) {
    wheel.remove(number)
    release(number)
  }

  /// Subtracts the bytes of a record that is not in the wheel any more, and frees it.
  private mutating func release(_ number: UInt32) {
    let record = records[number]
    if record.state != .pending { removeFromIndex(record.digest) }
    bytes -= Int(record.bytes)
    if record.holder != HolderAmounts.none {
      if StoreHolder.isUnlisted(holders.fingerprint(record.holder)) { unlistedBytes -= Int(record.bytes) }
      holders.subtract(Int(record.bytes), from: record.holder)
    }
    records[number] = Record(holder: firstFree)
    firstFree = number
  }

  // MARK: The index

  private static func digest(_ key: StoreKey) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(key.high)
    hasher.combine(key.low)
    return UInt64(truncatingIfNeeded: hasher.finalize())
  }

  /// Returns the number of the record in the index with this digest; `nil` without one.
  private func record(of digest: UInt64) -> UInt32? {
    guard !index.isEmpty else { return nil }
    let record = index[place(of: digest)]
    return record == HolderBudget.none ? nil : record
  }

  /// Returns the place in the index at which the search for a digest begins.
  private func firstPlace(_ digest: UInt64) -> Int { Int(truncatingIfNeeded: digest) & (index.count - 1) }

  /// Returns the place of a digest in the index, or the free place that ends the search for it.
  private func place(of digest: UInt64) -> Int {
    var place = firstPlace(digest)
    while index[place] != HolderBudget.none, records[index[place]].digest != digest {
      place = (place + 1) & (index.count - 1)
    }
    return place
  }

  /// Adds a record whose digest is not in the index.
  private mutating func addToIndex(_ number: UInt32) {
    if indexedCount * 4 >= index.count * 3 {
      let numbers = index
      index = [UInt32](repeating: HolderBudget.none, count: max(HolderBudget.initialIndexSize, numbers.count * 2))
      for number in numbers where number != HolderBudget.none { index[place(of: records[number].digest)] = number }
    }
    index[place(of: records[number].digest)] = number
    indexedCount += 1
  }

  private mutating func removeFromIndex(_ digest: UInt64) {
    var gap = place(of: digest)
    guard index[gap] != HolderBudget.none else { return }
    indexedCount -= 1
    // Backward shift: a number after the gap moves into the gap, unless the search for it begins after the gap.
    var next = (gap + 1) & (index.count - 1)
    while index[next] != HolderBudget.none {
      let distance = (next - firstPlace(records[index[next]].digest)) & (index.count - 1)
      if distance >= (next - gap) & (index.count - 1) {
        index[gap] = index[next]
        gap = next
      }
      next = (next + 1) & (index.count - 1)
    }
    index[gap] = HolderBudget.none
  }
}
