import CLinux
import Synchronization

/// The limit on open descriptors of the process, and the number of its registered sockets.
public enum Descriptors {
  private static let limit = Atomic<Int>(1024)
  private static let sockets = Atomic<Int>(0)

  /// Raises the soft limit to the hard limit and returns the limit now in force, or a negative errno value if it cannot
  /// be read.
  @discardableResult
  public static func raiseLimit() -> Int {
    let raised = Int(cl_raise_descriptor_limit())
    if raised > 0 { limit.store(raised, ordering: .relaxed) }
    return raised
  }

  /// The limit in force, as `raiseLimit` found it.
  public static var limitInForce: Int { limit.load(ordering: .relaxed) }

  /// Returns the limit with which workers accept until `connections` more sockets are open.
  public static func needed(connections: Int) -> Int { openSockets + connections + Worker.descriptorReserve }

  /// The number of sockets that are registered with any worker.
  public static var openSockets: Int { sockets.load(ordering: .relaxed) }

  /// True if fewer than `reserve` descriptors are left: then no more client connections are accepted. Only sockets are
  /// counted as used.
  static func isNearlyExhausted(reserve: Int) -> Bool {
    openSockets > limit.load(ordering: .relaxed) - reserve
  }

  static func socketOpened() {
    sockets.wrappingAdd(1, ordering: .relaxed)
  }

  static func socketClosed() {
    sockets.wrappingSubtract(1, ordering: .relaxed)
  }
}
