/// Values by key, each for the same time, and never more than a limit.
///
/// All entries live equally long, so the order of insertion is the order of expiry and a queue is enough.
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

  /// - Parameter lifetime: Seconds.
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
    // Giving back the front once it is half of the array costs amortised constant time.
    if head > queue.count / 2 {
      queue.removeFirst(head)
      head = 0
    }
  }

  func value(for key: String, now: Int) -> Value? {
    guard let entry = entries[key], entry.expiry > now else { return nil }
    return entry.value
  }

  /// Gives the value and forgets it.
  mutating func take(_ key: String, now: Int) -> Value? {
    let found = value(for: key, now: now)
    entries[key] = nil
    return found
  }
}
