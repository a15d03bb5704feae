import CLinux

/// Wakes one thread that blocks until there is work: the log writer.
public final class ThreadSignal: Sendable {
  private let descriptor: Int32

  public init() throws(IOError) {
    descriptor = try IOError.check(cl_eventfd())
  }

  deinit {
    cl_close(descriptor)
  }

  /// Any thread; never blocks.
  public func signal() {
    cl_eventfd_signal(descriptor)
  }

  /// Blocks until `signal` was called since the last return.
  public func wait() {
    cl_eventfd_wait(descriptor)
  }

  /// Blocks until `signal` was called since the last return of `wait`, or until the time is over. Takes no call away from
  /// the next `wait`.
  public func pause(milliseconds: Int) {
    cl_eventfd_pause(descriptor, Int32(clamping: milliseconds))
  }
}
