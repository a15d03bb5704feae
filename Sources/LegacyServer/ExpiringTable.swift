import Time

/// A dictionary whose entries have the same lifetime, and whose number of entries is limited.
///
/// Because all lifetimes are equal, the entries expire in the order of their insertion, and a queue contains them in
/// this order. If there are too many entries, the oldest are removed.
struct ExpiringTable<Value: Sendable>: Sendable {
  /// A record of one insertion. It is obsolete if the table no longer has an entry with this key and serial number,
  /// because the entry was removed or replaced.
  private struct QueueItem {
    var key: String
    var serial: Int
    var expiry: UnixTime
  }

  private struct Entry {
    var value: Value
    var serial: Int
    var expiry: UnixTime
  }

  private var entries: [String: Entry] = [:]
  private var queue: [QueueItem] = []
  /// The index of the oldest item in `queue`.
  private var queueStart = 0
  /// The serial number of the latest insertion.
  private var lastSerial = 0
  private let lifetime: Seconds
  private let limit: Int

  /// - Parameters:
  ///   - lifetime: The lifetime of an entry.
  ///   - limit: The maximum number of entries.
  init(lifetime: Seconds, limit: Int) {
    self.lifetime = lifetime
    self.limit = limit
  }

  var count: Int { entries.count }

  /// Inserts or replaces the value of `key`. Then removes expired entries and, if there are too many, the oldest ones.
  mutating func insert(_ value: Value, for key: String, now: UnixTime) {
    lastSerial += 1
    entries[key] = Entry(value: value, serial: lastSerial, expiry: now + lifetime)
    queue.append(QueueItem(key: key, serial: lastSerial, expiry: now + lifetime))
    // Obsolete items may make the queue longer than the table. If the queue has more than twice `limit` items, its
    // oldest items are removed, and so are their entries, even those that have not expired.
    while queueStart < queue.count,
      queue[queueStart].expiry <= now || entries.count > limit || queue.count - queueStart > limit * 2
    {
      let oldest = queue[queueStart]
      queueStart += 1
      if entries[oldest.key]?.serial == oldest.serial { entries[oldest.key] = nil }
    }
    // The items in front of `queueStart` stay in the array until they are more than half of the array, so the amortised
    // cost of an insertion is constant.
    if queueStart > queue.count / 2 {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
  }

  /// Returns the value; `nil` if there is none or it has expired.
  func value(for key: String, now: UnixTime) -> Value? {
    guard let entry = entries[key], entry.expiry > now else { return nil }
    return entry.value
  }

  /// Removes the entry. Returns its value; `nil` if there was none or it had expired.
  mutating func remove(_ key: String, now: UnixTime) -> Value? {
    let found = value(for: key, now: now)
    entries[key] = nil
    return found
  }
}
