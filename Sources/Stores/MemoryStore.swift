internal import Cryptography
public import OAuth
internal import Synchronization
public import Time

/// The store of a single replica, in the memory of the process. Each table has a lock, which is held for one operation
/// and never across an `await`.
///
/// Operations complete without suspending. No timer removes expired entries: each `put` and `reserve` removes a few of
/// them. Each kind of entry (``StoreKind``) has a share of the store's size, and each holder (``StoreHolder``) may use
/// a part of that share.
public final class MemoryStore: EphemeralStore {
  /// The default size: 128 MiB, enough for 650,000 families of refresh tokens.
  public static let defaultSize = 128 << 20
  /// The minimum size: 1 MiB. With less, some kinds would have room for only a few entries.
  public static let minimumSize = 1 << 20
  /// The number of tables of a kind with values of fixed length, so that workers rarely wait for the same lock.
  private static let shards = 16
  /// The percentage of a share at which the operator is warned.
  private static let warningPercentage = 80
  /// The percentage below which the use of a share must fall before the operator is warned again.
  private static let resetPercentage = 70

  private enum Table {
    /// Records of fixed length, in shards with a lock each. The shards have one capacity together: with a part each, some
    /// would be full while others have room.
    case records([Locked<RecordTable>], HolderCharges)
    /// Values that vary in length, under one lock, because all entries of a holder must be in one table.
    case entries(Locked<EntryTable>)
  }

  private final class Locked<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: sending Value) { self.value = Mutex(value) }
  }

  /// The table of one kind, with its limits and counts.
  private final class Part: Sendable {
    let kind: StoreKind
    let share: Int
    let table: Table
    let refusals = Atomic<UInt64>(0)
    /// True if the operator was warned and the use has not fallen below `resetPercentage` since.
    let wasReported = Atomic<Bool>(false)

    init(_ kind: StoreKind, size: Int, entries: Int?) {
      self.kind = kind
      let properties = kind.properties
      switch properties.size {
      case .fixed(let length):
        let recordLength = RecordTable.recordLength(valueLength: length)
        let maximumRecords = entries ?? size / 100 * properties.percent / recordLength
        share = maximumRecords * recordLength
        let charges = HolderCharges(kind, capacity: maximumRecords)
        table = .records(
          (0..<MemoryStore.shards).map { _ in Locked(RecordTable(kind, length: length, charges: charges)) }, charges)
      case .upTo:
        share = size / 100 * properties.percent
        table = .entries(Locked(EntryTable(kind, share: share, capacity: entries ?? Int.max)))
      }
    }
  }

  /// A random id, which differs at each start.
  public let epoch: EpochID
  private let parts: [Part]
  /// The function that reports shortages. A member of a structure, because a `Mutex` whose value is itself a function
  /// wraps it into one more function at each access.
  private struct ShortageReport: Sendable {
    var send: @Sendable (StoreUsage) -> Void = { _ in }
  }
  private let report = Mutex(ShortageReport())

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - size: the maximum bytes of all entries and tables. Memory is allocated when entries are stored.
  ///   - entries: the maximum number of entries of some kinds, in place of the limit from `size`; for tests.
  public init(size: Int = MemoryStore.defaultSize, entries: [StoreKind: Int] = [:]) {
    precondition(size >= MemoryStore.minimumSize, "a store needs at least 1 MiB")
    // Each start begins an epoch, because the entries of earlier epochs are lost. The lowest bit is set because 0 is
    // `EpochID.none`.
    epoch = EpochID(rawValue: randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } | 1)
    parts = StoreKind.allCases.map { Part($0, size: size, entries: entries[$0]) }
  }

  /// 5 seconds: one process has one clock, which a time server may set back by seconds.
  public var clockTolerance: Seconds { 5 }

  /// Stores `value` if there is no entry. Throws `.full` or `.tooLong`. If all values of the kind have the same length,
  /// throws `.unavailable` for a value of another length.
  public func put(
    _ key: StoreKey, _ value: [UInt8], holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    let part = part(key)
    if case .upTo(let longest) = key.kind.properties.size, value.count > longest { throw .tooLong }
    do throws(StoreError) {
      let (existing, fill): ([UInt8]?, Int)
      switch part.table {
      case .records(let shards, let charges):
        existing = try put(key, value, in: shards, holder: holder, expiry: expiry, now: now)
        fill = charges.fill
      case .entries(let table):
        (existing, fill) = try table.value.withLock { table throws(StoreError) in
          (try table.put(key, value, holder: holder, expiry: expiry, now: now), table.fill)
        }
      }
      reportIfNearlyFull(part, fill: fill)
      return existing
    } catch {
      part.refusals.add(1, ordering: .relaxed)
      throw error
    }
  }

  /// Stores `value` like ``put(_:_:holder:expiry:now:)``, in every epoch. Each start begins an epoch, and codes from
  /// earlier epochs are accepted: their verifier and the single use at the upstream still protect them
  /// (docs/threat-model.md).
  public func put(
    _ key: StoreKey, _ value: [UInt8], in epoch: EpochID, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> [UInt8]? {
    try await put(key, value, holder: holder, expiry: expiry, now: now)
  }

  /// Reserves room for a value. Throws `.full`, or `.tooLong` if the kind has a fixed length or a lower maximum length.
  public func reserve(
    _ key: StoreKey, bytes: Int, holder: StoreHolder, expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) {
    let part = part(key)
    guard case .entries(let table) = part.table, case .upTo(let longest) = key.kind.properties.size, bytes <= longest
    else {
      throw .tooLong
    }
    do throws(StoreError) {
      let fill = try table.value.withLock { table throws(StoreError) in
        try table.reserve(key, bytes, holder: holder, expiry: expiry, now: now)
        return table.fill
      }
      reportIfNearlyFull(part, fill: fill)
    } catch {
      part.refusals.add(1, ordering: .relaxed)
      throw error
    }
  }

  /// Replaces the value `old` with `new`. Throws `.full`. If all values of the kind have the same length, throws
  /// `.unavailable` for a value of another length.
  public func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: UnixTime, now: UnixTime
  ) async throws(StoreError) -> Bool {
    switch part(key).table {
    case .records(let shards, _):
      try shard(key, shards).value.withLock { table throws(StoreError) in
        try table.replace(key, old, with: new, expiry: expiry, now: now)
      }
    case .entries(let table):
      try table.value.withLock { table throws(StoreError) in
        try table.replace(key, old, with: new, expiry: expiry, now: now)
      }
    }
  }

  /// Returns the value; never throws.
  public func get(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    switch part(key).table {
    case .records(let shards, _): shard(key, shards).value.withLock { $0.value(of: key, now: now) }
    case .entries(let table): table.value.withLock { $0.value(of: key, now: now) }
    }
  }

  /// Returns the value and removes the entry; never throws.
  public func take(_ key: StoreKey, now: UnixTime) async throws(StoreError) -> [UInt8]? {
    remove(key, now: now) { _ in true }
  }

  /// Removes the entry if `value` is its value; never throws.
  public func remove(_ key: StoreKey, _ value: [UInt8], now: UnixTime) async throws(StoreError) -> Bool {
    remove(key, now: now) { $0 == value } != nil
  }

  private func remove(_ key: StoreKey, now: UnixTime, if matches: ([UInt8]) -> Bool) -> [UInt8]? {
    switch part(key).table {
    case .records(let shards, _):
      shard(key, shards).value.withLock { table in
        guard let value = table.value(of: key, now: now), matches(value) else { return nil }
        table.remove(key)
        return value
      }
    case .entries(let table):
      table.value.withLock { table in
        guard let value = table.value(of: key, now: now), matches(value) else { return nil }
        table.remove(key)
        return value
      }
    }
  }

  /// Stores a value in the shard of its key. If there is no room, removes the expired records of all shards first.
  private func put(
    _ key: StoreKey, _ value: [UInt8], in shards: [Locked<RecordTable>], holder: StoreHolder, expiry: UnixTime,
    now: UnixTime
  ) throws(StoreError) -> [UInt8]? {
    let shard = shard(key, shards)
    do throws(StoreError) {
      return try shard.value.withLock { table throws(StoreError) in
        try table.put(key, value, holder: holder, expiry: expiry, now: now)
      }
    } catch {
      guard error == .full else { throw error }
      for shard in shards { shard.value.withLock { $0.removeExpired(now: now, atMost: Int.max) } }
      return try shard.value.withLock { table throws(StoreError) in
        try table.put(key, value, holder: holder, expiry: expiry, now: now)
      }
    }
  }

  private func part(_ key: StoreKey) -> Part { parts[key.kind.index] }

  private func shard(_ key: StoreKey, _ shards: [Locked<RecordTable>]) -> Locked<RecordTable> {
    // Keys are random or digests, so the shards fill evenly.
    shards[Int(truncatingIfNeeded: key.low % UInt64(clamping: shards.count))]
  }

  // MARK: Usage

  /// The memory use of each kind.
  public var usage: [StoreUsage] { parts.map(usage) }

  private func usage(of part: Part) -> StoreUsage {
    var usage = StoreUsage(part.kind)
    usage.share = part.share
    usage.refusals = part.refusals.load(ordering: .relaxed)
    switch part.table {
    case .records(_, let charges):
      usage.entries = charges.count
      if case .fixed(let length) = part.kind.properties.size {
        usage.bytes = usage.entries * RecordTable.recordLength(valueLength: length)
        usage.capacity = part.share / RecordTable.recordLength(valueLength: length)
      }
    case .entries(let table):
      (usage.entries, usage.bytes, usage.evictions) = table.value.withLock { ($0.count, $0.bytes, $0.evictions) }
    }
    return usage
  }

  /// The number of stored entries, including expired ones that have not been removed yet.
  public var count: Int { usage.reduce(0) { $0 + $1.entries } }

  /// Reports a kind when its share is nearly full.
  ///
  /// - Parameter fill: the used percentage of the share.
  private func reportIfNearlyFull(_ part: Part, fill: Int) {
    if fill < MemoryStore.resetPercentage {
      if part.wasReported.load(ordering: .relaxed) { part.wasReported.store(false, ordering: .relaxed) }
    } else if fill >= MemoryStore.warningPercentage, !part.wasReported.exchange(true, ordering: .relaxed) {
      let report = report.withLock { $0 }
      report.send(usage(of: part))
    }
  }

  /// Sets the function that is called when the use of a share reaches 80 percent. It is called again for this share
  /// only after the use has fallen below 70 percent.
  public func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void) {
    self.report.withLock { $0.send = report }
  }
}
