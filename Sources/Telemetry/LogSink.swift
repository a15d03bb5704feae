/// A destination of log lines.
public protocol LogSink: SendableMetatype {
  /// Writes all bytes. Returns false if this fails. Some of the bytes may have been written nevertheless.
  mutating func write(_ bytes: [UInt8]) -> Bool
  /// Opens the destination again, because the log file was moved away.
  mutating func reopen()
}

/// A signal that wakes one waiting thread. The program implements it with an eventfd.
public protocol WakeSignal: Sendable {
  /// Wakes the waiting thread. If no thread waits, the next `wait` returns at once. May be called on any thread, and
  /// never blocks.
  func signal()
  /// Blocks until `signal` has been called at least once since `wait` last returned.
  func wait()
}
