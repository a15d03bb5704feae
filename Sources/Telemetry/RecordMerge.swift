/// Merges the records of all workers into one sequence in the order of their sequence numbers.
///
/// The writer empties one buffer after the other, while the workers append. So a worker may append a record to a buffer
/// that is already empty, and a record with a higher number may be found in a later buffer. Therefore each drain (one
/// pass over all buffers) has an end: the next free number, read before the first buffer is emptied. A worker takes a
/// number under the lock of its buffer, so every record below the end is found in its buffer. Records at or above the
/// end wait for the next drain.
struct RecordMerge {
  /// The array that is exchanged with the array of the buffer that is being emptied.
  private var emptied: [RecordBuffer.Entry] = []
  /// The collected records. The first `written` of them have been written; the others are in order after `sort()`.
  private var waiting: [RecordBuffer.Entry] = []
  private var written = 0
  private var end: UInt64 = 0

  /// The number of records that have not been written, because they belong to a later drain or because the sink failed.
  var count: Int { waiting.count - written }

  /// Begins a drain. It also writes the records of earlier drains that have not been written yet.
  ///
  /// - Parameter end: the lowest sequence number that belongs to the next drain.
  mutating func begin(below end: UInt64) {
    waiting.removeFirst(written)
    written = 0
    self.end = end
  }

  /// Moves the records of a buffer into the merge. Returns the number of records that the buffer has dropped.
  mutating func collect(_ buffer: RecordBuffer) -> UInt64 {
    let dropped = buffer.take(&emptied)
    waiting.append(contentsOf: emptied)
    emptied.removeAll(keepingCapacity: true)
    return dropped
  }

  /// Sorts the collected records. They consist of sorted runs, so the sort only has to merge these.
  mutating func sort() {
    waiting.sort { $0.sequenceNumber < $1.sequenceNumber }
  }

  /// Returns the next record below the end of the drain, or `nil` after the last one.
  mutating func next() -> DecisionRecord? {
    guard written < waiting.count, waiting[written].sequenceNumber < end else { return nil }
    defer { written += 1 }
    return waiting[written].record
  }
}
