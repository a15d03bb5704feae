internal import Synchronization

/// A number that one thread changes and any thread reads.
///
/// With a single writer a relaxed load and store are enough: no locked instruction, no lost update.
struct Counter: ~Copyable, Sendable {
  private let cell = Atomic<UInt64>(0)

  var value: UInt64 { cell.load(ordering: .relaxed) }

  /// The writer's thread only.
  func add(_ amount: UInt64) {
    cell.store(cell.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
