internal import Time

/// A timer wheel, which finds expired records in constant time per record. Time is divided into slots, and each slot
/// has a list of the records that expire in it.
///
/// The wheel contains only the numbers that the records have in the table of the caller.
///
/// There are 1,024 slots. If a record expires later than the end of the last slot, it is put into the last slot. When
/// that slot has passed, the caller inserts the record again. This is rare, because the slots together cover the usual
/// lifetime of an entry of the store.
///
/// If the clock goes back, the wheel does, too (`followClock`). Records from before are then in lists that belong to other
/// slots now. Such a list is examined within one turn of the wheel, and the caller inserts the records again that have not
/// expired. So a record leaves the wheel at most one turn after its expiry, whatever the clock does.
struct ExpiryWheel: Sendable {
  private struct Link: Sendable {
    var next = ExpiryWheel.none
    /// The preceding record; for the first record of a slot, the number of the slot with the top bit set.
    var previous = ExpiryWheel.none
  }

  /// The value for "no record" in place of the number of a record.
  static let none = UInt32.max
  /// The number of slots. The wheel turns once in this number of ticks.
  static let slotCount = 1_024
  /// The number of slots by which the clock may go back without an effect, because workers read it at different times.
  private static let tolerance: Int64 = 1
  private static let slotFlag: UInt32 = 0x8000_0000

  /// The length of a slot in seconds.
  private let tick: Int64
  /// The first record of each slot.
  private var firstRecords: [UInt32] = []
  private var links = ChunkedArray<Link>(Link())
  /// The number of records in the wheel.
  private var count = 0
  /// The number of the next slot to be checked. Slot 0 begins at 1970; the list of slot n is `firstRecords[n % 1024]`.
  private var nextSlot: Int64 = 0

  init(tick: Seconds) {
    self.tick = Int64(tick.count)
  }

  /// The bytes that the wheel uses for a record.
  static let recordLength = MemoryLayout<Link>.stride

  /// Inserts a record into the slot of its expiry.
  mutating func insert(_ record: UInt32, expiry: UnixTime, now: UnixTime) {
    if firstRecords.isEmpty { firstRecords = [UInt32](repeating: ExpiryWheel.none, count: ExpiryWheel.slotCount) }
    followClock(now)
    let last = nextSlot + Int64(ExpiryWheel.slotCount) - 1
    let slot = Int(min(max(max(0, expiry.seconds) / tick, nextSlot), last) % Int64(ExpiryWheel.slotCount))
    let next = firstRecords[slot]
    links[record] = Link(next: next, previous: ExpiryWheel.slotFlag | UInt32(slot))
    if next != ExpiryWheel.none { links[next].previous = record }
    firstRecords[slot] = record
    count += 1
  }

  /// Begins at the slot of `now` if the wheel is empty or the clock has gone back.
  private mutating func followClock(_ now: UnixTime) {
    let slot = max(0, now.seconds) / tick
    if count == 0 || slot < nextSlot - ExpiryWheel.tolerance { nextSlot = slot }
  }

  /// Removes a record that is in the wheel.
  mutating func remove(_ record: UInt32) {
    let link = links[record]
    if link.next != ExpiryWheel.none { links[link.next].previous = link.previous }
    if link.previous >= ExpiryWheel.slotFlag {
      firstRecords[Int(link.previous & ~ExpiryWheel.slotFlag)] = link.next
    } else {
      links[link.previous].next = link.next
    }
    count -= 1
  }

  /// Removes and returns a record whose slot has passed; returns `nil` without such a record. The caller must insert
  /// the record again if it has not expired.
  mutating func removePassed(now: UnixTime) -> UInt32? {
    guard count > 0 else { return nil }
    // The slots in front of `firstNotPassed` have passed. A record has expired once `now` reaches its expiry, so a slot
    // has passed when its last second begins.
    let firstNotPassed = (max(0, now.seconds) + 1) / tick
    followClock(now)
    // After a long pause all slots have passed, and each is checked once.
    nextSlot = max(nextSlot, firstNotPassed - Int64(ExpiryWheel.slotCount))
    while nextSlot < firstNotPassed {
      let head = firstRecords[Int(nextSlot % Int64(ExpiryWheel.slotCount))]
      if head != ExpiryWheel.none {
        remove(head)
        return head
      }
      nextSlot += 1
    }
    return nil
  }
}

/// An array of chunks with 256 elements each. Growing it neither copies the elements nor needs memory for two copies of
/// them.
struct ChunkedArray<Element: Sendable>: Sendable {
  static var chunkLength: Int { 256 }

  private let blank: Element
  private var chunks: [[Element]] = []

  init(_ blank: Element) {
    self.blank = blank
  }

  subscript(index: UInt32) -> Element {
    get { chunks[Int(index >> 8)][Int(index & 255)] }
    set {
      while chunks.count <= Int(index >> 8) {
        chunks.append([Element](repeating: blank, count: ChunkedArray.chunkLength))
      }
      chunks[Int(index >> 8)][Int(index & 255)] = newValue
    }
    _modify {
      while chunks.count <= Int(index >> 8) {
        chunks.append([Element](repeating: blank, count: ChunkedArray.chunkLength))
      }
      yield &chunks[Int(index >> 8)][Int(index & 255)]
    }
  }
}
