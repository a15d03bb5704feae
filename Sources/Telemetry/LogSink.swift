public import Time

/// A destination of log lines.
public protocol LogSink: SendableMetatype {
  /// Writes all bytes. Returns false if this fails. Some of the bytes may have been written nevertheless.
  mutating func write(_ bytes: [UInt8]) -> Bool
  /// Opens the destination again, because the log file was moved away.
  mutating func reopen()
  /// True if accepted lines wait for their destination outside of the memory of the process. The writer then calls
  /// `retry` from time to time.
  var hasBacklog: Bool { get }
  /// Tries again to move waiting lines to their destination.
  mutating func retry()
}

extension LogSink {
  /// False. For sinks without a spool.
  public var hasBacklog: Bool { false }
  /// Does nothing.
  public mutating func retry() {}
}

/// A signal that wakes one waiting thread. The program implements it with an eventfd.
public protocol WakeSignal: Sendable {
  /// Wakes the waiting thread. If no thread waits, the next `wait` returns at once. May be called on any thread, and
  /// never blocks.
  func signal()
  /// Blocks until `signal` has been called at least once since `wait` last returned.
  func wait()
  /// Blocks until `signal` has been called at least once since the last wait, or until the time has passed.
  func wait(atMost time: Milliseconds)
}

extension WakeSignal {
  /// Waits without a limit. For signals of tests, which no thread waits for.
  public func wait(atMost time: Milliseconds) { wait() }
}
