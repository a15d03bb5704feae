internal import Reactor
internal import Stores
internal import Synchronization

/// The state that the store's thread publishes to other threads.
final class StoreShared: Sendable {
  private struct State {
    var usage: [StoreUsage] = []
    /// The function that `reportShortages` has set.
    var onShortage: (@Sendable (StoreUsage) -> Void)?
    /// The function that `reportOutages` has set.
    var onMessage: (@Sendable (String) -> Void)?
    var checkpoints = CheckpointFigures()
  }

  let meter = StoreMeter(engine: "file")
  private let state = Mutex(State())

  var usage: [StoreUsage] { state.withLock { $0.usage } }
  var checkpoints: CheckpointFigures { state.withLock { $0.checkpoints } }

  func publish(_ usage: [StoreUsage]) {
    state.withLock { $0.usage = usage }
  }

  func recordCheckpoint(nanoseconds: UInt64) {
    state.withLock {
      $0.checkpoints.count += 1
      $0.checkpoints.longest = max($0.checkpoints.longest, nanoseconds)
    }
  }

  func recordCheckpointWait(nanoseconds: UInt64) {
    state.withLock { $0.checkpoints.longestWait = max($0.checkpoints.longestWait, nanoseconds) }
  }

  /// Sets the function that `reportShortage` calls.
  func reportShortages(to report: @escaping @Sendable (StoreUsage) -> Void) {
    state.withLock { $0.onShortage = report }
  }

  /// Sets the function that `informOperator` calls.
  func reportOutages(to report: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.onMessage = report }
  }

  func reportShortage(_ usage: StoreUsage) {
    let report = state.withLock { $0.onShortage }
    report?(usage)
  }

  func informOperator(_ text: String) {
    let report = state.withLock { $0.onMessage }
    report?(text)
  }

  /// Records that operations fail. Informs the operator if the outage is new.
  func recordOutage(_ reason: String, path: String) {
    if meter.setOutage(reason) {
      informOperator("the store \(path) does not answer: \(reason); requests that need it get 503 until it does")
    }
  }

  /// Records that operations succeed. Informs the operator if this ends an outage.
  func recordRecovery(path: String) {
    if meter.setOutage(nil) { informOperator("the store \(path) answers again") }
  }
}

/// The copies of the write-ahead log into the file.
public struct CheckpointFigures: Hashable, Sendable {
  /// The number of copies since the start of the process.
  public internal(set) var count = 0
  /// The duration of the longest successful copy in nanoseconds.
  public internal(set) var longest: UInt64 = 0
  /// The longest time in nanoseconds for which an operation has waited for a copy, successful or not. An operation that
  /// arrives during a copy waits only for the rest of it.
  public internal(set) var longestWait: UInt64 = 0
}
