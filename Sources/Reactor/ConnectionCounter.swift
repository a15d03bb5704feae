import Synchronization

/// The connections of one worker, readable by the others: so that new ones go to the least loaded.
public final class ConnectionCounter: Sendable {
  private let value = Atomic<Int>(0)
  private let total = Atomic<UInt64>(0)

  public init() {}

  public var count: Int { value.load(ordering: .relaxed) }
  /// Since the start.
  public var accepted: UInt64 { total.load(ordering: .relaxed) }

  func add() {
    value.wrappingAdd(1, ordering: .relaxed)
    total.wrappingAdd(1, ordering: .relaxed)
  }

  func remove() {
    value.wrappingSubtract(1, ordering: .relaxed)
  }
}
