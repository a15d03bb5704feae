import Synchronization

/// The number of connections of one worker. The other workers read it, so that new connections go to the least loaded
/// worker.
public final class ConnectionCounter: Sendable {
  private let value = Atomic<Int>(0)
  private let total = Atomic<UInt64>(0)

  /// Starts at zero.
  public init() {}

  /// The number of open connections.
  public var count: Int { value.load(ordering: .relaxed) }
  /// The number of connections accepted since the start.
  public var accepted: UInt64 { total.load(ordering: .relaxed) }

  func add() {
    value.wrappingAdd(1, ordering: .relaxed)
    total.wrappingAdd(1, ordering: .relaxed)
  }

  func remove() {
    value.wrappingSubtract(1, ordering: .relaxed)
  }
}
