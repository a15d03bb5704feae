/// The amounts (entries or bytes) that holders (`StoreHolder`) have of one kind, without an allocation per holder.
///
/// Each holder with an amount has a number, which stays the same until its amount is 0. The numbers are found through a
/// hash index of the fingerprints (open addressing, linear probing, deletion by backward shift). A fingerprint is a
/// keyed hash already, so its bits are the hash. Every holder is counted exactly: if two holders shared an amount, an
/// attacker would use up the limit of other holders.
package struct HolderAmounts: Sendable {
  private struct Slot: Sendable {
    /// The fingerprint of the holder; in a free slot, the number of the next free slot.
    var fingerprint: UInt64 = 0
    var amount = 0
  }

  /// The value for "no holder" in place of a number.
  package static let none = UInt32.max
  private static let initialIndexSize = 64

  private var slots = ChunkedArray<Slot>(Slot())
  /// The numbers by hash of the fingerprint.
  private var index: [UInt32] = []
  /// The number of slots that were ever allocated, including free ones.
  private var allocatedCount = 0
  /// The first of the list of free slots.
  private var firstFree = HolderAmounts.none
  /// The number of holders with an amount.
  package private(set) var count = 0

  /// Creates amounts without a holder.
  package init() {}

  /// Returns the number of a holder; `nil` if it has no amount.
  package func number(of fingerprint: UInt64) -> UInt32? {
    guard !index.isEmpty else { return nil }
    let place = place(of: fingerprint)
    return index[place] == HolderAmounts.none ? nil : index[place]
  }

  /// Returns the amount of a holder.
  package func amount(of fingerprint: UInt64) -> Int { number(of: fingerprint).map { slots[$0].amount } ?? 0 }

  /// Returns the fingerprint of the holder with this number.
  package func fingerprint(_ number: UInt32) -> UInt64 { slots[number].fingerprint }

  /// Adds a positive amount to that of a holder. Returns the number of the holder.
  package mutating func add(_ amount: Int, to fingerprint: UInt64) -> UInt32 {
    if let number = number(of: fingerprint) {
      slots[number].amount += amount
      return number
    }
    if count * 4 >= index.count * 3 { grow() }
    let number = allocate()
    slots[number] = Slot(fingerprint: fingerprint, amount: amount)
    index[place(of: fingerprint)] = number
    count += 1
    return number
  }

  /// Subtracts an amount from that of the holder with this number.
  package mutating func subtract(_ amount: Int, from number: UInt32) {
    slots[number].amount -= amount
    if slots[number].amount <= 0 { remove(number) }
  }

  // MARK: Slots

  private mutating func allocate() -> UInt32 {
    if firstFree != HolderAmounts.none {
      let number = firstFree
      firstFree = UInt32(truncatingIfNeeded: slots[number].fingerprint)
      return number
    }
    allocatedCount += 1
    return UInt32(allocatedCount - 1)
  }

  /// Returns the place in the index at which the search for a fingerprint begins. The lowest bit only says whether the
  /// client is listed.
  private func firstPlace(_ fingerprint: UInt64) -> Int {
    Int(truncatingIfNeeded: fingerprint >> 1) & (index.count - 1)
  }

  /// Returns the place of a fingerprint in the index, or the free place that ends the search for it.
  private func place(of fingerprint: UInt64) -> Int {
    var place = firstPlace(fingerprint)
    while index[place] != HolderAmounts.none, slots[index[place]].fingerprint != fingerprint {
      place = (place + 1) & (index.count - 1)
    }
    return place
  }

  private mutating func grow() {
    let numbers = index
    index = [UInt32](repeating: HolderAmounts.none, count: max(HolderAmounts.initialIndexSize, numbers.count * 2))
    for number in numbers where number != HolderAmounts.none { index[place(of: slots[number].fingerprint)] = number }
  }

  private mutating func remove(_ number: UInt32) {
    var gap = place(of: slots[number].fingerprint)
    slots[number] = Slot(fingerprint: UInt64(firstFree))
    firstFree = number
    count -= 1
    // Backward shift: a number after the gap moves into the gap, unless the search for it begins after the gap.
    var next = (gap + 1) & (index.count - 1)
    while index[next] != HolderAmounts.none {
      let distance = (next - firstPlace(slots[index[next]].fingerprint)) & (index.count - 1)
      if distance >= (next - gap) & (index.count - 1) {
        index[gap] = index[next]
        gap = next
      }
      next = (next + 1) & (index.count - 1)
    }
    index[gap] = HolderAmounts.none
  }
}
