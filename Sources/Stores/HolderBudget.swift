internal import Time

/// The bytes of the entries of one kind that this process has made in a store of several processes, by holder, until the
/// entries expire.
///
/// An entry is described by its holder, its bytes and its expiry, in 24 bytes without an allocation. Times are those of
/// the monotonic clock.
struct HolderBudget: Sendable {
  /// The description of one entry.
  private struct Record: Sendable {
    /// The number of the holder in `holders`; `HolderAmounts.none` for a holder that is not counted. In a free record,
    /// the number of the next free record.
    var holder: UInt32 = 0
    var bytes: UInt32 = 0
    var expiry: UInt32 = 0
    /// The number of the charge; 0 in a free record.
    var charge: UInt32 = 0
  }

  /// A charge that can be undone.
  struct Charge: Sendable {
    fileprivate let record: UInt32
    fileprivate let number: UInt32
  }

  private static let none = UInt32.max

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

  init(_ kind: StoreKind) {
    wheel = ExpiryWheel(tick: kind.properties.tick)
  }

  /// Returns the bytes of a holder.
  func bytes(of holder: StoreHolder) -> Int { holders.amount(of: holder.fingerprint) }

  /// Adds an entry.
  mutating func add(_ size: Int, of holder: StoreHolder, expiry: UnixTime, now: UnixTime) -> Charge {
    let record = allocate()
    lastCharge = lastCharge == UInt32.max ? 1 : lastCharge + 1
    let isCounted = holder.isLimited || holder.isUnlisted
    let number = isCounted ? holders.add(size, to: holder.fingerprint) : HolderAmounts.none
    records[record] = Record(
      holder: number, bytes: UInt32(clamping: size), expiry: UInt32(clamping: expiry.seconds), charge: lastCharge)
    bytes += size
    if holder.isUnlisted { unlistedBytes += size }
    wheel.insert(record, expiry: expiry, now: now)
    return Charge(record: record, number: lastCharge)
  }

  /// Removes the entry of a charge, unless it has expired.
  mutating func undo(_ charge: Charge) {
    guard records[charge.record].charge == charge.number else { return }
    wheel.remove(charge.record)
    release(charge.record)
  }

  /// Removes expired entries. Examines at most `limit` entries whose slot of the wheel has passed.
  mutating func removeExpired(now: UnixTime, atMost limit: Int) {
    for _ in 0..<limit {
      guard let record = wheel.removePassed(now: now) else { return }
      let expiry = UnixTime(seconds: Int64(records[record].expiry))
      if expiry <= now { release(record) } else { wheel.insert(record, expiry: expiry, now: now) }
    }
  }

  private mutating func allocate() -> UInt32 {
    if firstFree != HolderBudget.none {
      let record = firstFree
      firstFree = records[record].holder
      return record
    }
    allocatedCount += 1
    return UInt32(allocatedCount - 1)
  }

  /// Subtracts the bytes of a record that is not in the wheel any more, and frees it.
  private mutating func release(_ number: UInt32) {
    let record = records[number]
    bytes -= Int(record.bytes)
    if record.holder != HolderAmounts.none {
      if StoreHolder.isUnlisted(holders.fingerprint(record.holder)) { unlistedBytes -= Int(record.bytes) }
      holders.subtract(Int(record.bytes), from: record.holder)
    }
    records[number] = Record(holder: firstFree)
    firstFree = number
  }
}
