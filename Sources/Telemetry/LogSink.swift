/// Where log lines go.
public protocol LogSink: SendableMetatype {
  /// Writes all of it; false when that failed, with an unknown part written.
  mutating func write(_ bytes: [UInt8]) -> Bool
  /// Opens a file anew after it was moved away.
  mutating func reopen()
}

/// Wakes the one thread that waits: an eventfd, in the program.
public protocol WakeSignal: Sendable {
  /// Any thread; never blocks.
  func signal()
  /// Blocks until `signal` was called since the last return.
  func wait()
}
