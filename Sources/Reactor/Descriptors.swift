import CLinux
import Synchronization

/// The limit of open descriptors of the process, and the number of sockets it has open.
public enum Descriptors {
  private static let limit = Atomic<Int>(1024)
  private static let sockets = Atomic<Int>(0)

  /// Raises the soft limit to the hard limit and returns the limit now in force.
  @discardableResult
  public static func raiseLimit() -> Int {
    let raised = Int(cl_raise_descriptor_limit())
    if raised > 0 { limit.store(raised, ordering: .relaxed) }
    return raised
  }

  /// The number of sockets that are registered with any worker.
  public static var open: Int { sockets.load(ordering: .relaxed) }

  /// True if fewer than `reserve` descriptors remain besides the open sockets. The reserve is for everything except
  /// client connections.
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
