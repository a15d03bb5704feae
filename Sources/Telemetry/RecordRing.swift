internal import Synchronization

/// One worker's records on their way to the writer. Full means that new ones are dropped and counted: the log's gap is
/// then in one place, and the worker never waits.
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

  /// - Parameter order: The one of all rings.
  init(capacity: Int, order: RecordOrder) {
    self.capacity = capacity
    self.order = order
  }

  enum Outcome {
    /// The writer has to be woken.
    case first
    /// It is awake: there are records that it has not taken.
    case queued
    case dropped
  }

  func append(_ record: DecisionRecord) -> Outcome {
    state.withLock { state in
      guard state.entries.count < capacity else {
        state.dropped += 1
        return .dropped
      }
      // Under the lock: who takes the ring after the place was given finds the record in it.
      state.entries.append(Entry(place: order.take(), record: record))
      return state.entries.count == 1 ? .first : .queued
    }
  }

  /// All records, which are gone here, and how many were dropped since the last call.
  ///
  /// - Parameter entries: comes back filled; its storage is what the worker fills next, so neither side allocates.
  func take(_ entries: inout [Entry]) -> UInt64 {
    entries.removeAll(keepingCapacity: true)
    return state.withLock { state in
      swap(&state.entries, &entries)
      defer { state.dropped = 0 }
      return state.dropped
    }
  }
}

/// The places of records among those of all workers: numbers that rise in the order of the decisions.
///
/// One relaxed addition for each judged request; requests that pass take none.
final class RecordOrder: Sendable {
  private let given = Atomic<UInt64>(0)

  /// Returns the next place.
  func take() -> UInt64 { given.add(1, ordering: .relaxed).oldValue }

  /// The place that will be given next.
  var next: UInt64 { given.load(ordering: .relaxed) }
}
