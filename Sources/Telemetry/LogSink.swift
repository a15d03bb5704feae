/// A destination of log lines.
public protocol LogSink: SendableMetatype {
  /// Writes all bytes. Returns false on failure; some of the bytes may have been written then.
  mutating func write(_ bytes: [UInt8]) -> Bool
  /// Reopens the file after it was moved away.
  mutating func reopen()
}

/// A signal that wakes one waiting thread; the program uses an eventfd.
public protocol WakeSignal: Sendable {
  /// Wakes the waiting thread, or makes its next `wait` return at once. May be called on any thread; never blocks.
  func signal()
  /// Blocks until `signal` has been called at least once since `wait` last returned.
  func wait()
}
