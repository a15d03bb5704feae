/// One shard of the memory store: a table, and a heap that knows which entry is due first.
///
/// An entry that is removed early or replaced leaves its place in the heap until it is due, or until more than half of
/// the heap is such leftovers: then the heap is built anew, which costs each removal a constant.
///
/// Entries that anybody can make fill half of the table at most, so that nobody without a code or a token can keep
/// others from using theirs.
struct MemoryTable: Sendable {
  enum Content: Sendable {
    case value([UInt8])
    case counter(Int)

    var byteCount: Int {
      switch self {
      case .value(let bytes): bytes.count
      case .counter: 8
      }
    }
  }

  private struct Entry: Sendable {
    var content: Content
    let expiry: Int64
  }

  /// Entries cleared by one write at most, so that no write pays for a crowd that is due at once.
  private static let sweep = 8

  private let maximumEntries: Int
  private let maximumBytes: Int
  private var entries: [StoreKey: Entry] = [:]
  private var due = ExpiryHeap()
  private var bytes = 0
  /// Of these, the entries and bytes in namespaces that are open to anybody.
  private var openEntries = 0
  private var openBytes = 0

  init(maximumEntries: Int, maximumBytes: Int) {
    self.maximumEntries = maximumEntries
    self.maximumBytes = maximumBytes
  }

  var count: Int { entries.count }

  mutating func put(_ key: StoreKey, _ content: Content, expiry: Int64, now: Int64) throws(StoreError) -> Bool {
    clear(now: now, atMost: MemoryTable.sweep)
    if let entry = entries[key] {
      guard entry.expiry <= now else { return false }
      remove(key)
    }
    guard expiry > now else { return true }
    let size = key.bytes.count + content.byteCount
    if !hasRoom(key, entries: 1, bytes: size) { clear(now: now, atMost: Int.max) }
    guard hasRoom(key, entries: 1, bytes: size) else { throw .full }
    entries[key] = Entry(content: content, expiry: expiry)
    due.insert(ExpiryHeap.Item(expiry: expiry, key: key))
    account(key, entries: 1, bytes: size)
    return true
  }

  mutating func replace(
    _ key: StoreKey, _ old: [UInt8], with new: [UInt8], expiry: Int64, now: Int64
  ) throws(StoreError) -> Bool {
    guard value(key, now: now) == old, expiry > now else { return false }
    let growth = new.count - old.count
    if growth > 0, !hasRoom(key, entries: 0, bytes: growth) {
      clear(now: now, atMost: Int.max)
      guard hasRoom(key, entries: 0, bytes: growth) else { throw .full }
    }
    entries[key] = Entry(content: .value(new), expiry: expiry)
    due.insert(ExpiryHeap.Item(expiry: expiry, key: key))
    account(key, entries: 0, bytes: growth)
    trimHeap()
    return true
  }

  func value(_ key: StoreKey, now: Int64) -> [UInt8]? {
    guard let entry = entries[key], entry.expiry > now, case .value(let bytes) = entry.content else { return nil }
    return bytes
  }

  mutating func increment(_ key: StoreKey, by amount: Int, expiry: Int64, now: Int64) throws(StoreError) -> Int {
    guard let entry = entries[key], entry.expiry > now else {
      _ = try put(key, .counter(amount), expiry: expiry, now: now)
      return amount
    }
    guard case .counter(let value) = entry.content else { return amount }
    let (sum, overflow) = value.addingReportingOverflow(amount)
    let result = overflow ? (amount > 0 ? Int.max : Int.min) : sum
    entries[key]?.content = .counter(result)
    return result
  }

  mutating func remove(_ key: StoreKey) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    account(key, entries: -1, bytes: -(key.bytes.count + entry.content.byteCount))
    trimHeap()
  }

  private mutating func trimHeap() {
    if due.count > 2 * entries.count + 64 {
      due = ExpiryHeap(entries.map { ExpiryHeap.Item(expiry: $0.value.expiry, key: $0.key) })
    }
  }

  private func hasRoom(_ key: StoreKey, entries more: Int, bytes size: Int) -> Bool {
    guard entries.count + more <= maximumEntries, bytes + size <= maximumBytes else { return false }
    guard key.namespace.isOpenToAnybody else { return true }
    return openEntries + more <= (maximumEntries + 1) / 2 && openBytes + size <= maximumBytes / 2
  }

  private mutating func account(_ key: StoreKey, entries count: Int, bytes size: Int) {
    bytes += size
    guard key.namespace.isOpenToAnybody else { return }
    openEntries += count
    openBytes += size
  }

  private mutating func clear(now: Int64, atMost limit: Int) {
    var cleared = 0
    while cleared < limit, let first = due.first, first.expiry <= now {
      due.removeFirst()
      // A leftover's key may have come back with another expiry, and then stands in the heap again.
      if let entry = entries[first.key], entry.expiry <= now { remove(first.key) }
      cleared += 1
    }
  }
}
