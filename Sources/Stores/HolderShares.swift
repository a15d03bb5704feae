/// The bytes and entries that each holder (`StoreHolder`) has among the entries of one kind (`StoreKind`) whose values
/// vary in length.
///
/// The holders are ordered by the number of their entries in a binary heap, so the largest one is found at once, and a change takes
/// O(log n). Each holder with an entry has a number, which stays the same until its last entry is removed.
package struct HolderShares: Sendable {
  /// The share of one holder.
  package struct Share: Sendable {
    package let fingerprint: UInt64
    package fileprivate(set) var bytes = 0
    package fileprivate(set) var count = 0
    /// The number of the holder's latest insertion among all insertions.
    fileprivate var latest = 0
    /// The position of the holder in the heap.
    fileprivate var position = 0

    /// True if this holder loses an entry before `other` does: it has more entries, or as many and has added none for a
    /// longer time. So if each of many holders has one entry, the oldest of all entries is evicted first.
    fileprivate func precedes(_ other: Share) -> Bool {
      count > other.count || count == other.count && latest < other.latest
    }
  }

  /// The numbers by `StoreHolder.fingerprint`.
  private var numbers: [UInt64: UInt32] = [:]
  /// The shares by number. Elements with the numbers in `free` are unused.
  private var shares: [Share] = []
  private var free: [UInt32] = []
  /// The numbers of all holders. Those at 2n + 1 and 2n + 2 do not precede the one at position n.
  private var heap: [UInt32] = []
  /// The number of insertions.
  private var insertions = 0
  /// The bytes and number of the entries of all unlisted clients (`StoreHolder.isUnlisted`).
  private var unlisted = (bytes: 0, count: 0)
  /// The bytes and number of all entries.
  package private(set) var total = (bytes: 0, count: 0)

  /// Creates shares without an entry.
  package init() {}

  /// The share of the holder with this number.
  package subscript(number: UInt32) -> Share { shares[Int(number)] }

  /// Returns the share of a holder; `nil` if it has no entry.
  package func share(of fingerprint: UInt64) -> Share? { numbers[fingerprint].map { self[$0] } }

  /// Returns the number of the holder whose oldest entry makes room for an entry of a holder: the one with the most
  /// entries, or the requesting holder itself if it would get more entries than that one. Returns `nil` if there is no
  /// entry.
  ///
  /// So a holder with fewer entries than an equal part of all never loses one to another holder, and a holder without an
  /// entry always gets room. Entries are counted and not bytes, because the room that is reserved for an answer is a
  /// multiple of what the answer needs: the request that waits for it would be the first to lose it.
  package func victim(for fingerprint: UInt64) -> UInt32? {
    guard let largest = heap.first else { return nil }
    guard let own = numbers[fingerprint], self[own].count + 1 > self[largest].count else { return largest }
    return own
  }

  /// Returns true if a holder may add an entry of `size` bytes that will not be evicted: there is room, the unlisted
  /// clients stay within half of the share, and the holder within its limit (`StoreKind.Properties.permits`).
  ///
  /// - Parameters:
  ///   - share: the maximum number of bytes of all entries.
  ///   - capacity: the maximum number of entries.
  package func permits(
    _ size: Int, _ fingerprint: UInt64, isLimited: Bool, share: Int, capacity: Int, _ properties: StoreKind.Properties
  ) -> Bool {
    let isUnlisted = StoreHolder.isUnlisted(fingerprint)
    guard total.count < capacity, !isUnlisted || unlisted.count < capacity / 2 else { return false }
    // Half of the share, which is that of all unlisted clients together.
    let part = isUnlisted ? share / 2 : share
    let free = min(share - total.bytes, isUnlisted ? part - unlisted.bytes : Int.max)
    guard size <= free else { return false }
    let own = self.share(of: fingerprint)?.bytes ?? 0
    return !isLimited || properties.permits(own: own, free: free, capacity: part)
  }

  /// Adds an entry of a holder. Returns the number of the holder.
  package mutating func add(_ bytes: Int, to fingerprint: UInt64) -> UInt32 {
    let number = numbers[fingerprint] ?? insert(fingerprint)
    insertions += 1
    shares[Int(number)].latest = insertions
    count(1, of: number)
    change(number, by: bytes)
    return number
  }

  private mutating func count(_ entries: Int, of number: UInt32) {
    shares[Int(number)].count += entries
    total.count += entries
    if StoreHolder.isUnlisted(self[number].fingerprint) { unlisted.count += entries }
    if entries > 0 { moveUp(self[number].position) } else { moveDown(self[number].position) }
  }

  /// Changes the bytes of a holder's entries. `bytes` is negative if an entry has become shorter.
  package mutating func change(_ number: UInt32, by bytes: Int) {
    shares[Int(number)].bytes += bytes
    total.bytes += bytes
    if StoreHolder.isUnlisted(self[number].fingerprint) { unlisted.bytes += bytes }
  }

  /// Removes an entry of a holder. The number is unused after the last entry.
  package mutating func remove(_ bytes: Int, from number: UInt32) {
    count(-1, of: number)
    change(number, by: -bytes)
    let share = self[number]
    guard share.count == 0 else { return }
    numbers[share.fingerprint] = nil
    free.append(number)
    let position = share.position
    let last = heap.removeLast()
    guard last != number else { return }
    set(position, last)
    moveUp(position)
    moveDown(self[last].position)
  }

  /// Returns the number of a holder that has an entry.
  package func number(of fingerprint: UInt64) -> UInt32? { numbers[fingerprint] }

  // MARK: The heap

  private mutating func insert(_ fingerprint: UInt64) -> UInt32 {
    let share = Share(fingerprint: fingerprint)
    let number = free.popLast() ?? UInt32(shares.count)
    if Int(number) == shares.count { shares.append(share) } else { shares[Int(number)] = share }
    numbers[fingerprint] = number
    heap.append(number)
    set(heap.count - 1, number)
    return number
  }

  private mutating func set(_ position: Int, _ number: UInt32) {
    heap[position] = number
    shares[Int(number)].position = position
  }

  /// Moves the holder at a position up until its parent is at least as large.
  private mutating func moveUp(_ start: Int) {
    let number = heap[start]
    let share = self[number]
    var position = start
    while position > 0 {
      let parent = heap[(position - 1) / 2]
      guard share.precedes(self[parent]) else { break }
      set(position, parent)
      position = (position - 1) / 2
    }
    if position != start { set(position, number) }
  }

  /// Moves the holder at a position down until its children are at most as large.
  private mutating func moveDown(_ start: Int) {
    let number = heap[start]
    let share = self[number]
    var position = start
    while 2 * position + 1 < heap.count {
      var child = 2 * position + 1
      if child + 1 < heap.count, self[heap[child + 1]].precedes(self[heap[child]]) { child += 1 }
      guard self[heap[child]].precedes(share) else { break }
      set(position, heap[child])
      position = child
    }
    if position != start { set(position, number) }
  }
}
