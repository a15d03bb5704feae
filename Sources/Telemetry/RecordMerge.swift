/// Merges the records of all workers into one sequence in the order of their sequence numbers.
///
/// In one pass, the writer empties one buffer after the other, while the workers append records. So a worker may append
/// record 7 to a buffer that the writer has already emptied, and another worker may append record 8 to a buffer that
/// the writer empties later. To write 7 before 8, each pass has a limit: the next free sequence number, which is read
/// before the first buffer is emptied. All records below the limit are found in this pass, because a worker takes a
/// number under the lock of its buffer. Records at or above the limit wait for the next pass.
struct RecordMerge {
  /// The array whose storage is exchanged with that of a buffer.
  private var exchanged: [RecordBuffer.Entry] = []
  /// The collected records. The first `writtenCount` of them have been written. The others are in order after `sort()`.
  private var collected: [RecordBuffer.Entry] = []
  private var writtenCount = 0
  /// The lowest sequence number that belongs to the next pass.
  private var limit: UInt64 = 0

  /// The number of collected records that have not been written, because they belong to a later pass or because
  /// the sink failed.
  var unwrittenCount: Int { collected.count - writtenCount }

  /// Begins a pass. Records of earlier passes that have not been written belong to it, too.
  ///
  /// - Parameter limit: The lowest sequence number that belongs to the next pass.
  mutating func beginPass(below limit: UInt64) {
    collected.removeFirst(writtenCount)
    writtenCount = 0
    self.limit = limit
  }

  /// Moves the records of a buffer to `collected`. Returns the number of records that the buffer has dropped.
  mutating func collect(_ buffer: RecordBuffer) -> UInt64 {
    let dropped = buffer.take(&exchanged)
    collected.append(contentsOf: exchanged)
    exchanged.removeAll(keepingCapacity: true)
    return dropped
  }

  /// Sorts the collected records. The records of each buffer are in order already, so the sort only has to merge them.
  mutating func sort() {
    collected.sort { $0.sequenceNumber < $1.sequenceNumber }
  }

  /// Returns the next record below the limit of the pass and counts it as written; `nil` after the last record.
  mutating func next() -> DecisionRecord? {
    guard writtenCount < collected.count, collected[writtenCount].sequenceNumber < limit else { return nil }
    defer { writtenCount += 1 }
    return collected[writtenCount].record
  }
}
