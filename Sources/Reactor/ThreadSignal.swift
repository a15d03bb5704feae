import CLinux
import Time

/// Wakes one thread that blocks until there is work, e.g. the log writer.
public final class ThreadSignal: Sendable {
  let descriptor: Int32

  /// Creates a signal that is not set. Throws if the process is out of descriptors.
  public init() throws(IOError) {
    descriptor = try IOError.check(cl_eventfd())
  }

  deinit {
    cl_close(descriptor)
  }

  /// Wakes the waiting thread. Callable from any thread; never blocks.
  public func signal() {
    cl_eventfd_signal(descriptor)
  }

  /// Blocks until `signal` has been called since the last return of `wait` or `pause`.
  public func wait() {
    cl_eventfd_wait(descriptor)
  }

  /// Blocks until `signal` has been called since the last return of `wait` or `pause`, or until `time` has passed.
  /// Returns true if `signal` was called. The next `wait` does not return for the same call again.
  @discardableResult
  public func pause(atMost time: Milliseconds) -> Bool {
    cl_eventfd_pause(descriptor, Int32(clamping: time.count))
  }
}
