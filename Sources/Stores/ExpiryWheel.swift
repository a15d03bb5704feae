internal import Time

/// A timer wheel, which finds expired records in constant time per record. Time is divided into slots, and each slot
/// has a list of the records that expire in it.
///
/// A record that expires after the last slot is inserted into the last slot, and again when that slot has passed. The
/// slots together cover the usual lifetime of the kind, so this is rare.
struct ExpiryWheel: Sendable {
  private struct Link: Sendable {
    var next = ExpiryWheel.none
    /// The preceding record; for the first record of a slot, the number of the slot with the top bit set.
    var previous = ExpiryWheel.none
  }

  static let none = UInt32.max
  private static let slotCount = 1_024
  private static let slotFlag: UInt32 = 0x8000_0000

  /// The length of a slot in seconds.
  private let tick: Int64
  private var heads: [UInt32] = []
  private var links = Slabs<Link>(Link())
  private var filed = 0
  /// The next slot to be checked, counted from 1970.
  private var cursor: Int64 = 0

  init(tick: Seconds) {
    self.tick = Int64(tick.count)
  }

  /// The bytes that the wheel uses for a record.
  static let recordLength = MemoryLayout<Link>.stride

  /// Inserts a record into the slot of its expiry.
  mutating func insert(_ record: UInt32, expiry: UnixTime, now: UnixTime) {
    if heads.isEmpty { heads = [UInt32](repeating: ExpiryWheel.none, count: ExpiryWheel.slotCount) }
    if filed == 0 { cursor = now.seconds / tick }
    let last = cursor + Int64(ExpiryWheel.slotCount) - 1
    let slot = Int(min(max(expiry.seconds / tick, cursor), last) % Int64(ExpiryWheel.slotCount))
    let next = heads[slot]
    links[record] = Link(next: next, previous: ExpiryWheel.slotFlag | UInt32(slot))
    if next != ExpiryWheel.none { links[next].previous = record }
    heads[slot] = record
    filed += 1
  }

  /// Removes a record that is in the wheel.
  mutating func remove(_ record: UInt32) {
    let link = links[record]
    if link.next != ExpiryWheel.none { links[link.next].previous = link.previous }
    if link.previous >= ExpiryWheel.slotFlag {
      heads[Int(link.previous & ~ExpiryWheel.slotFlag)] = link.next
    } else {
      links[link.previous].next = link.next
    }
    filed -= 1
  }

  /// Removes and returns a record whose slot has passed; returns `nil` if there is none. The caller must insert the
  /// record again if it has not expired.
  mutating func passed(now: UnixTime) -> UInt32? {
    guard filed > 0 else { return nil }
    let current = (now.seconds + 1) / tick
    // After a long pause all slots have passed, and each is checked once.
    cursor = max(cursor, current - Int64(ExpiryWheel.slotCount))
    while cursor < current {
      let head = heads[Int(cursor % Int64(ExpiryWheel.slotCount))]
      if head != ExpiryWheel.none {
        remove(head)
        return head
      }
      cursor += 1
    }
    return nil
  }
}

/// An array of pieces with 256 elements each, so that growing neither copies the elements nor needs memory for two
/// copies.
struct Slabs<Element: Sendable>: Sendable {
  static var length: Int { 256 }

  private let blank: Element
  private var pieces: [[Element]] = []

  init(_ blank: Element) {
    self.blank = blank
  }

  subscript(index: UInt32) -> Element {
    get { pieces[Int(index >> 8)][Int(index & 255)] }
    set {
      while pieces.count <= Int(index >> 8) { pieces.append([Element](repeating: blank, count: Slabs.length)) }
      pieces[Int(index >> 8)][Int(index & 255)] = newValue
    }
    _modify {
      while pieces.count <= Int(index >> 8) { pieces.append([Element](repeating: blank, count: Slabs.length)) }
      yield &pieces[Int(index >> 8)][Int(index & 255)]
    }
  }
}
