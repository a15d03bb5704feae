/// Finds the records that have expired, in constant time for each: lists of records by the slot of time in which they
/// expire.
///
/// A record that expires beyond the last slot is filed there, and again when that slot has passed. Slots are as long as
/// the kind's lifetime divided by about a thousand, so that this is rare.
struct ExpiryWheel: Sendable {
  private struct Link: Sendable {
    var next = ExpiryWheel.none
    /// The record before this one; the slot with the top bit set for the first record of a slot.
    var previous = ExpiryWheel.none
  }

  static let none = UInt32.max
  private static let slotCount = 1_024
  private static let first: UInt32 = 0x8000_0000

  /// Seconds of a slot.
  private let tick: Int64
  private var heads: [UInt32] = []
  private var links = Slabs<Link>(Link())
  private var filed = 0
  /// The slot that is looked at next, counted from 1970.
  private var cursor: Int64 = 0

  init(tick: Int64) {
    self.tick = tick
  }

  /// Bytes of a record in here.
  static let recordLength = MemoryLayout<Link>.stride

  mutating func insert(_ record: UInt32, expiry: Int64, now: Int64) {
    if heads.isEmpty { heads = [UInt32](repeating: ExpiryWheel.none, count: ExpiryWheel.slotCount) }
    if filed == 0 { cursor = now / tick }
    let last = cursor + Int64(ExpiryWheel.slotCount) - 1
    let slot = Int(min(max(expiry / tick, cursor), last) % Int64(ExpiryWheel.slotCount))
    let next = heads[slot]
    links[record] = Link(next: next, previous: ExpiryWheel.first | UInt32(slot))
    if next != ExpiryWheel.none { links[next].previous = record }
    heads[slot] = record
    filed += 1
  }

  mutating func remove(_ record: UInt32) {
    let link = links[record]
    if link.next != ExpiryWheel.none { links[link.next].previous = link.previous }
    if link.previous >= ExpiryWheel.first {
      heads[Int(link.previous & ~ExpiryWheel.first)] = link.next
    } else {
      links[link.previous].next = link.next
    }
    filed -= 1
  }

  /// Removes and returns a record of a slot that has passed. The caller inserts it again if it has not expired.
  mutating func passed(now: Int64) -> UInt32? {
    guard filed > 0 else { return nil }
    let current = (now + 1) / tick
    // After a pause every slot has passed, and each is looked at once.
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

/// An array in pieces of 256 elements, so that growing copies nothing and leaves no second copy behind.
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
