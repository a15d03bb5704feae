internal import Synchronization

/// A counter that one thread changes and any thread reads.
///
/// With a single writer, a relaxed load and store lose no update and need no locked instruction.
struct Counter: ~Copyable, Sendable {
  private let cell = Atomic<UInt64>(0)

  var value: UInt64 { cell.load(ordering: .relaxed) }

  /// Adds to the counter. Call it only on the writer's thread.
  func add(_ amount: UInt64) {
    cell.store(cell.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
