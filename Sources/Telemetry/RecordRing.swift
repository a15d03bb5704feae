internal import Synchronization

/// One worker's records on their way to the writer. Full means that new ones are dropped and counted: the log's gap is
/// then in one place, and the worker never waits.
final class RecordRing: Sendable {
  private struct State: Sendable {
    var records: [DecisionRecord] = []
    var dropped: UInt64 = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
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
      guard state.records.count < capacity else {
        state.dropped += 1
        return .dropped
      }
      state.records.append(record)
      return state.records.count == 1 ? .first : .queued
    }
  }

  /// All records, which are gone here, and how many were dropped since the last call.
  ///
  /// - Parameter records: comes back filled; its storage is what the worker fills next, so neither side allocates.
  func take(_ records: inout [DecisionRecord]) -> UInt64 {
    records.removeAll(keepingCapacity: true)
    return state.withLock { state in
      swap(&state.records, &records)
      defer { state.dropped = 0 }
      return state.dropped
    }
  }
}
