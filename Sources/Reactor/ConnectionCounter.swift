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
  /// The number of connections of this worker since the start, open and closed ones.
  public var accepted: UInt64 { acceptedCount.load(ordering: .relaxed) }

  func add() {
    openCount.wrappingAdd(1, ordering: .relaxed)
    acceptedCount.wrappingAdd(1, ordering: .relaxed)
  }

  func remove() {
    openCount.wrappingSubtract(1, ordering: .relaxed)
  }
}
