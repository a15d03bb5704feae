/// A merge of the workers' rings into one sequence in the order of the decisions.
///
/// The writer empties one ring after the other, while the workers append. So a record may be missing from a ring that
/// was emptied early, although a later record of another ring was found. Therefore each drain has an end: the next free
/// place, read before the first ring is emptied. A worker takes a place under the lock of its ring, so every record
/// below the end is in its ring by then. Records at or above the end wait for the next drain.
struct RecordMerge {
  /// The storage that is exchanged with the ring that is being emptied.
  private var taken: [RecordRing.Entry] = []
  /// The collected records. Those from `written` on have not been written yet and are in order.
  private var waiting: [RecordRing.Entry] = []
  private var written = 0
  private var end: UInt64 = 0

  /// The number of records that wait, either for a later drain or for a sink that fails.
  var count: Int { waiting.count - written }

  /// Begins a drain. Records of earlier drains that were not written yet come first.
  ///
  /// - Parameter end: the place of the first record that waits for the next drain.
  mutating func begin(below end: UInt64) {
    waiting.removeFirst(written)
    written = 0
    self.end = end
  }

  /// Moves the records of a ring into the merge. Returns how many records the ring has dropped.
  mutating func collect(_ ring: RecordRing) -> UInt64 {
    let dropped = ring.take(&taken)
    waiting.append(contentsOf: taken)
    taken.removeAll(keepingCapacity: true)
    return dropped
  }

  /// Sorts the collected records. They are a sequence of sorted runs, which the sort merges.
  mutating func arrange() {
    waiting.sort { $0.place < $1.place }
  }

  /// Returns the next record below the end of the drain, or `nil` after the last one.
  mutating func next() -> DecisionRecord? {
    guard written < waiting.count, waiting[written].place < end else { return nil }
    defer { written += 1 }
    return waiting[written].record
  }
}
