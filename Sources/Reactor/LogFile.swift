import CLinux
import Synchronization
public import Time

/// The destination of log lines: standard output, standard error, or a file that is appended to.
public final class LogFile {
  /// The kind of output.
  public enum Destination: Sendable {
    case standardOutput
    case standardError
    case file(String)
  }

  /// Held during a write to standard output, so that the lines of two logs do not mix.
  static let standardOutput = Mutex(())

  private let destination: Destination
  private var descriptor: Int32

  /// Opens the destination. Throws if the file cannot be opened for appending.
  public init(_ destination: Destination) throws(IOError) {
    self.destination = destination
    switch destination {
    case .standardOutput: descriptor = 1
    case .standardError: descriptor = 2
    case .file(let path): descriptor = try IOError.check(unsafe cl_open_log(path))
    }
  }

  deinit {
    if descriptor > 2 { cl_close(descriptor) }
  }

  /// Writes all bytes. Returns false if a write fails, e.g. because the disk is full or no process reads the pipe any
  /// more. In this case, only a part of the bytes may have been written.
  public func write(_ bytes: [UInt8]) -> Bool {
    guard case .standardOutput = destination else { return writeAll(bytes) }
    return LogFile.standardOutput.withLock { _ in writeAll(bytes) }
  }

  private func writeAll(_ bytes: [UInt8]) -> Bool {
    var written = 0
    while written < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer -> Int64 in
        guard let base = buffer.baseAddress else { return 0 }
        return unsafe cl_write_descriptor(descriptor, base + written, bytes.count - written)
      }
      guard result > 0 else { return false }
      written += Int(result)
    }
    return true
  }

  /// Writes bytes as long as the destination accepts them without a wait of more than `time`. Returns the number of
  /// bytes that were written.
  ///
  /// Bytes are written in pieces of `PIPE_BUF` bytes (4,096), because a pipe that is ready has room for one of them.
  public func writeReady(_ bytes: ArraySlice<UInt8>, within time: Milliseconds) -> Int {
    var written = 0
    while written < bytes.count {
      guard cl_is_writable(descriptor, Int32(clamping: time.count)) else { break }
      let piece = bytes.dropFirst(written).prefix(4_096)
      let result = unsafe piece.withUnsafeBytes { buffer -> Int64 in
        guard let base = buffer.baseAddress else { return 0 }
        return unsafe cl_write_descriptor(descriptor, base, buffer.count)
      }
      guard result > 0 else { break }
      written += Int(result)
    }
    return written
  }

  /// Opens the path of the file again, e.g. after log rotation has moved the file away. Keeps the old descriptor if
  /// the file cannot be opened. Does nothing for standard output and standard error.
  public func reopen() {
    guard case .file(let path) = destination else { return }
    let opened = unsafe cl_open_log(path)
    guard opened >= 0 else { return }
    cl_close(descriptor)
    descriptor = opened
  }
}
