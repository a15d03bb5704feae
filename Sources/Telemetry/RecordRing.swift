internal import Synchronization

/// The records of one worker on their way to the writer. A full ring drops new records and counts them, so that the gap
/// in the log is in one place and the worker never waits.
final class RecordRing: Sendable {
  /// A record with its place among the records of all workers.
  struct Entry: Sendable {
    let place: UInt64
    let record: DecisionRecord
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    var dropped: UInt64 = 0
  }

  private let capacity: Int
  private let order: RecordOrder
  private let state = Mutex(State())

  /// - Parameter order: shared by all rings of a log.
  init(capacity: Int, order: RecordOrder) {
    self.capacity = capacity
    self.order = order
  }

  /// The result of appending a record.
  enum Outcome {
    /// The ring was empty: the caller must wake the writer.
    case first
    /// The ring holds older records, so the writer has been woken already.
    case queued
    /// The ring is full; the record is lost.
    case dropped
  }

  /// Appends a record, or drops it if the ring is full.
  func append(_ record: DecisionRecord) -> Outcome {
    state.withLock { state in
      guard state.entries.count < capacity else {
        state.dropped += 1
        return .dropped
      }
      // The place is taken under the lock: a writer that reads the next place and then empties the ring finds this
      // record.
      state.entries.append(Entry(place: order.take(), record: record))
      return state.entries.count == 1 ? .first : .queued
    }
  }

  /// Moves all records into `entries`. Returns how many records were dropped since the last call.
  ///
  /// - Parameter entries: its content is replaced. The ring reuses its storage, so neither side allocates.
  func take(_ entries: inout [Entry]) -> UInt64 {
    entries.removeAll(keepingCapacity: true)
    return state.withLock { state in
      swap(&state.entries, &entries)
      defer { state.dropped = 0 }
      return state.dropped
    }
  }
}

/// The places of records among the records of all workers: numbers that rise in the order of the decisions.
///
/// Costs one relaxed addition for each judged request; requests that are not judged take no place.
final class RecordOrder: Sendable {
  private let given = Atomic<UInt64>(0)

  /// Takes the next place and returns it.
  func take() -> UInt64 { given.add(1, ordering: .relaxed).oldValue }

  /// The place that the next `take` returns.
  var next: UInt64 { given.load(ordering: .relaxed) }
}
