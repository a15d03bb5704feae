internal import Synchronization

/// A counter that one thread changes and any thread may read.
///
/// Because there is only one writer, `add` needs no atomic addition: a relaxed load and a relaxed store lose no update
/// and are faster.
struct Counter: ~Copyable, Sendable {
  private let cell = Atomic<UInt64>(0)

  var value: UInt64 { cell.load(ordering: .relaxed) }

  /// Adds to the counter. Call it only on the thread that changes the counter.
  func add(_ amount: UInt64) {
    cell.store(cell.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
