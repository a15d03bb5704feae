/// Merges the rings of the workers into one sequence in the order of the decisions.
///
/// The writer takes one ring after the other, while workers append. A record of a ring that was taken early may therefore
/// be missing although a later one of another ring is there. So each drain has an end: a place that was read before the
/// first ring was taken. A place is given under the lock of its ring, so every record below the end is in its ring by then;
/// what lies beyond it waits for the next drain.
struct RecordMerge {
  private var taken: [RecordRing.Entry] = []
  /// In order, from `written` on.
  private var waiting: [RecordRing.Entry] = []
  private var written = 0
  private var end: UInt64 = 0

  /// Records that wait for a later drain, or for a sink that refuses.
  var count: Int { waiting.count - written }

  /// Begins a drain. The records of earlier ones that were not written yet come first.
  ///
  /// - Parameter end: The place of the first record that waits for the next drain.
  mutating func begin(below end: UInt64) {
    waiting.removeFirst(written)
    written = 0
    self.end = end
  }

  /// Takes the records of a ring. Returns how many the ring dropped.
  mutating func collect(_ ring: RecordRing) -> UInt64 {
    let dropped = ring.take(&taken)
    waiting.append(contentsOf: taken)
    taken.removeAll(keepingCapacity: true)
    return dropped
  }

  /// Puts what was collected in order. A sequence of sorted runs, which the sort merges.
  mutating func arrange() {
    waiting.sort { $0.place < $1.place }
  }

  /// Returns the next record below the end of the drain; `nil` if there is none.
  mutating func next() -> DecisionRecord? {
    guard written < waiting.count, waiting[written].place < end else { return nil }
    defer { written += 1 }
    return waiting[written].record
  }
}
