/// A table of values by key, with one lifetime for all and a limit on their number.
///
/// All entries have the same lifetime, so the order of insertion is the order of expiry, and a queue is enough.
struct ExpiringTable<Value: Sendable>: Sendable {
  private struct Ticket {
    var key: String
    var serial: Int
    var expiry: Int
  }

  private struct Entry {
    var value: Value
    var serial: Int
    var expiry: Int
  }

  private var entries: [String: Entry] = [:]
  private var queue: [Ticket] = []
  private var head = 0
  private var serial = 0
  private let lifetime: Int
  private let limit: Int

  /// - Parameter lifetime: The lifetime in seconds.
  init(lifetime: Int, limit: Int) {
    self.lifetime = lifetime
    self.limit = limit
  }

  var count: Int { entries.count }

  mutating func insert(_ value: Value, for key: String, now: Int) {
    serial += 1
    entries[key] = Entry(value: value, serial: serial, expiry: now + lifetime)
    queue.append(Ticket(key: key, serial: serial, expiry: now + lifetime))
    while head < queue.count, queue[head].expiry <= now || entries.count > limit || queue.count - head > limit * 2 {
      let oldest = queue[head]
      head += 1
      if entries[oldest.key]?.serial == oldest.serial { entries[oldest.key] = nil }
    }
    // Removing the front once it is half of the array has amortised constant cost.
    if head > queue.count / 2 {
      queue.removeFirst(head)
      head = 0
    }
  }

  func value(for key: String, now: Int) -> Value? {
    guard let entry = entries[key], entry.expiry > now else { return nil }
    return entry.value
  }

  /// Returns the value and removes it.
  mutating func take(_ key: String, now: Int) -> Value? {
    let found = value(for: key, now: now)
    entries[key] = nil
    return found
  }
}
