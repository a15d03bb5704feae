import CLinux

extension Poller {
  /// The poller of the worker that runs on the calling thread; `nil` on every other thread.
  ///
  /// For code that a worker's task calls without passing its poller, such as a store. Use the poller on that worker
  /// only.
  public static var current: Poller? {
    guard let loop = unsafe cl_current_loop() else { return nil }
    return unsafe Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue().poller?.takeUnretainedValue()
  }
}
