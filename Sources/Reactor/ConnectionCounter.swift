import Synchronization

/// The number of connections of one worker. The other workers read it, so that new connections go to the least loaded
/// worker.
public final class ConnectionCounter: Sendable {
  private let openCount = Atomic<Int>(0)
  private let acceptedCount = Atomic<UInt64>(0)

  /// Starts at zero.
  public init() {}

  /// The number of open connections.
  public var count: Int { openCount.load(ordering: .relaxed) }
  /// The number of connections that this worker has served since the start.
  public var accepted: UInt64 { acceptedCount.load(ordering: .relaxed) }

  func add() {
    openCount.wrappingAdd(1, ordering: .relaxed)
    acceptedCount.wrappingAdd(1, ordering: .relaxed)
  }

  func remove() {
    openCount.wrappingSubtract(1, ordering: .relaxed)
  }
}
