import CLinux

/// Detached threads of the operating system, and the number of processors for them.
public enum OSThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts `body` on a new detached thread. Only the first 15 bytes of `name` are used. Throws if no thread can be
  /// created.
  public static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(IOError) {
    // The new thread releases the reference that is passed to it.
    let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    let result = unsafe cl_thread_start(
      { raw in unsafe Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run() }, argument, name)
    if result < 0 {
      unsafe Unmanaged<Body>.fromOpaque(argument).release()
      throw IOError(code: -result)
    }
  }

  /// The number of processors that this process may run on.
  public static var usableProcessorCount: Int { max(1, Int(cl_affinity_count())) }
}
