import CLinux
import Synchronization

/// A destination of lines that one thread writes. A wait for the reader of the destination ends when the thread is
/// signalled.
public final class LineOutput: Sendable {
  /// The kind of destination.
  public enum Destination: Hashable, Sendable {
    case standardOutput
    /// A file that is appended to, or a FIFO.
    case file(String)
    /// A Unix datagram socket, at its path.
    case datagramSocket(String)
  }

  /// The result of a write.
  public enum Outcome: Sendable, Equatable {
    /// The number of bytes that were written, above 0.
    case wrote(Int)
    /// The thread was signalled while it waited, or it was not allowed to wait.
    case interrupted
    case failed(IOError)
  }

  /// The destination.
  public let destination: Destination
  private let descriptor: Atomic<Int32>
  /// True if a write to the destination never waits for a reader.
  private let isRegularFile: Bool
  /// POSIX does not mix writes of at most this number of bytes to a pipe with those of others, and a pipe that is ready
  /// has room for one of them (`PIPE_BUF`).
  private static let pieceLength = 4_096
  /// The number of bytes of one write to a file.
  private static let fileWriteLength = 256 * 1024

  /// Opens the destination. Throws if the file cannot be opened for appending, or if no process receives at the socket.
  public init(_ destination: Destination) throws(IOError) {
    self.destination = destination
    let opened = try LineOutput.open(destination)
    descriptor = Atomic(opened)
    isRegularFile = cl_is_regular_file(opened)
  }

  deinit {
    let open = descriptor.load(ordering: .relaxed)
    if open > 2 { cl_close(open) }
  }

  private static func open(_ destination: Destination) throws(IOError) -> Int32 {
    switch destination {
    case .standardOutput: 1
    case .file(let path): try IOError.check(unsafe cl_open_log(path))
    case .datagramSocket(let path): try IOError.check(unsafe cl_connect_datagram_unix(path))
    }
  }

  /// Opens the destination again: a file that was moved away, or a socket whose receiver has started again. If this
  /// fails, keeps the old descriptor and throws.
  public func reopen() throws(IOError) {
    if destination == .standardOutput { return }
    let opened = try LineOutput.open(destination)
    let old = descriptor.exchange(opened, ordering: .relaxed)
    cl_close(old)
  }

  /// Writes a part of the bytes from `start` on. To a pipe, the part ends with a line if a line end is near.
  ///
  /// - Parameter signal: The signal that ends a wait for the reader of the destination; `nil` not to wait.
  public func write(_ bytes: [UInt8], from start: Int, unless signal: ThreadSignal?) -> Outcome {
    let open = descriptor.load(ordering: .relaxed)
    if isRegularFile { return write(bytes, start..<min(bytes.count, start + LineOutput.fileWriteLength), open) }
    guard isReady(open, signal) else { return .interrupted }
    var end = min(bytes.count, start + LineOutput.pieceLength)
    if end < bytes.count, let newline = bytes[start..<end].lastIndex(of: 0x0a) { end = newline + 1 }
    guard destination == .standardOutput else { return write(bytes, start..<end, open) }
    return LogFile.standardOutput.withLock { _ in write(bytes, start..<end, open) }
  }

  /// Sends one datagram.
  ///
  /// - Parameter signal: As for `write`.
  public func send(_ datagram: [UInt8], unless signal: ThreadSignal?) -> Outcome {
    let open = descriptor.load(ordering: .relaxed)
    let outcome = write(datagram, datagram.indices, open)
    guard outcome == .failed(.wouldBlock) else { return outcome }
    guard isReady(open, signal) else { return .interrupted }
    return write(datagram, datagram.indices, open)
  }

  private func isReady(_ open: Int32, _ signal: ThreadSignal?) -> Bool {
    cl_is_writable(open, 0) || signal.map { cl_wait_writable(open, $0.descriptor) } ?? false
  }

  private func write(_ bytes: [UInt8], _ range: Range<Int>, _ open: Int32) -> Outcome {
    let result = unsafe bytes[range].withUnsafeBytes { buffer -> Int64 in
      guard let base = buffer.baseAddress else { return 0 }
      return unsafe cl_write_descriptor(open, base, buffer.count)
    }
    return result > 0 ? .wrote(Int(result)) : .failed(IOError(code: Int32(clamping: -result)))
  }
}
