import CLinux
import Synchronization

/// How many descriptors the process may open, and how many sockets it has.
public enum Descriptors {
  private static let limit = Atomic<Int>(1024)
  private static let sockets = Atomic<Int>(0)

  /// Raises the soft limit to the hard one and returns it.
  @discardableResult
  public static func raiseLimit() -> Int {
    let raised = Int(cl_raise_descriptor_limit())
    if raised > 0 { limit.store(raised, ordering: .relaxed) }
    return raised
  }

  /// Sockets that are registered with any worker.
  public static var open: Int { sockets.load(ordering: .relaxed) }

  /// True if fewer than `reserve` descriptors are left for what is not a client connection.
  static func isNearlyExhausted(reserve: Int) -> Bool {
    open > limit.load(ordering: .relaxed) - reserve
  }

  static func opened() {
    sockets.wrappingAdd(1, ordering: .relaxed)
  }

  static func closed() {
    sockets.wrappingSubtract(1, ordering: .relaxed)
  }
}
