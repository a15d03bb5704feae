import Time

/// A dictionary with a maximum number of entries, all of which have the same lifetime.
///
/// Because of the equal lifetimes, entries expire in the order of their insertion, so a queue is enough to find the
/// expired ones. If there are too many entries, the oldest are removed.
struct ExpiringTable<Value: Sendable>: Sendable {
  /// An insertion. If the key was inserted again or removed since, the entry has another serial number or is missing.
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
  private var head = 0
  private var serial = 0
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

  mutating func insert(_ value: Value, for key: String, now: UnixTime) {
    serial += 1
    entries[key] = Entry(value: value, serial: serial, expiry: now + lifetime)
    queue.append(QueueItem(key: key, serial: serial, expiry: now + lifetime))
    while head < queue.count, queue[head].expiry <= now || entries.count > limit || queue.count - head > limit * 2 {
      let oldest = queue[head]
      head += 1
      if entries[oldest.key]?.serial == oldest.serial { entries[oldest.key] = nil }
    }
    // The front of the array is removed only when it is more than half of the array, so the amortised cost is constant.
    if head > queue.count / 2 {
      queue.removeFirst(head)
      head = 0
    }
  }

  /// Returns the value; `nil` if there is none or it has expired.
  func value(for key: String, now: UnixTime) -> Value? {
    guard let entry = entries[key], entry.expiry > now else { return nil }
    return entry.value
  }

  /// Returns the value and removes it.
  mutating func take(_ key: String, now: UnixTime) -> Value? {
    let found = value(for: key, now: now)
    entries[key] = nil
    return found
  }
}
