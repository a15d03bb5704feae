internal import Synchronization

/// A buffer of bounded size for the records of one worker. The writer thread of the log empties it. A full buffer drops
/// new records and counts them, so that the worker does not wait for the writer.
final class RecordBuffer: Sendable {
  /// A record and its sequence number, which is unique among the records of all workers.
  struct Entry: Sendable {
    let sequenceNumber: UInt64
    let record: DecisionRecord
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    var dropped: UInt64 = 0
    /// The number of records for which room is reserved.
    var reserved = 0
  }

  private let capacity: Int
  private let counter: SequenceCounter
  private let state = Mutex(State())

  /// Creates an empty buffer.
  ///
  /// - Parameters:
  ///   - capacity: The maximum number of records.
  ///   - counter: The counter that all buffers of a log share.
  init(capacity: Int, counter: SequenceCounter) {
    self.capacity = capacity
    self.counter = counter
  }

  /// The result of appending a record.
  enum Outcome {
    /// The buffer was empty, so the caller must wake the writer.
    case first
    /// The buffer contains older records, so the writer has been woken already.
    case queued
    /// The buffer is full, so the record was dropped.
    case dropped
  }

  /// Reserves room for the record of a request that begins. Returns false if there is none.
  func reserve() -> Bool {
    state.withLock { state in
      guard state.entries.count + state.reserved < capacity else { return false }
      state.reserved += 1
      return true
    }
  }

  /// Ends a reservation.
  func release() {
    state.withLock { $0.reserved -= 1 }
  }

  /// Appends a record, or drops it if the buffer is full.
  ///
  /// - Parameter isKept: True to append the record even if the buffer is full. The caller has reserved room for it, or
  ///   the number of such records is limited in another way.
  func append(_ record: DecisionRecord, isKept: Bool = false) -> Outcome {
    state.withLock { state in
      guard isKept || state.entries.count < capacity else {
        state.dropped += 1
        return .dropped
      }
      // The number is taken under the lock. So if the writer reads the counter and then empties this buffer, it finds
      // every record of this worker with a lower number.
      state.entries.append(Entry(sequenceNumber: counter.take(), record: record))
      return state.entries.count == 1 ? .first : .queued
    }
  }

  /// Replaces the content of `entries` by all records of the buffer, and empties the buffer. Returns the number of
  /// records that were dropped since the last call.
  ///
  /// The buffer exchanges its storage with that of `entries`, so nothing is allocated once both arrays have reached
  /// their usual size.
  func take(_ entries: inout [Entry]) -> UInt64 {
    entries.removeAll(keepingCapacity: true)
    return state.withLock { state in
      swap(&state.entries, &entries)
      defer { state.dropped = 0 }
      return state.dropped
    }
  }
}

/// The sequence numbers of the records of all workers. A record that is appended later has a higher number.
///
/// Taking a number costs one relaxed atomic addition. A request without a record takes no number.
final class SequenceCounter: Sendable {
  private let nextNumber = Atomic<UInt64>(0)

  /// Returns the next number and increments the counter.
  func take() -> UInt64 { nextNumber.add(1, ordering: .relaxed).oldValue }

  /// The number that the next `take` returns.
  var next: UInt64 { nextNumber.load(ordering: .relaxed) }
}
