import CLinux
public import Time

/// Reports changes of the entries of directories. Costs nothing while nothing changes.
///
/// Used only on the thread of its poller.
public final class DirectoryWatch {
  private let socket: Socket
  private let waiter: Waiter
  private let poller: Poller

  /// Creates a watch of no directory. Throws the error of the system call that fails.
  public init(_ poller: Poller) throws(IOError) {
    self.poller = poller
    socket = try poller.register(try IOError.check(cl_watch_open()))
    waiter = Waiter(poller)
  }

  /// Watches a directory too. Does nothing for a directory that is watched already.
  public func add(_ path: String) throws(IOError) {
    _ = try IOError.check(unsafe cl_watch_add(socket.descriptor, path))
  }

  /// Waits until an entry changes or the deadline passes. Returns true after a change.
  public func waitForChange(until deadline: Deadline) async -> Bool {
    guard await waiter.wait(socket, .readable, until: deadline) == .ready else { return false }
    return drain()
  }

  /// Waits until no entry has changed for `quiet`, for at most `limit`.
  public func waitUntilQuiet(for quiet: Milliseconds, atMost limit: Milliseconds) async {
    let end = poller.deadline(after: limit)
    while poller.now < end {
      _ = await waiter.sleep(until: poller.deadline(after: quiet))
      guard drain() else { return }
    }
  }

  private func drain() -> Bool {
    socket.readiness.remove(.readable)
    return cl_watch_drain(socket.descriptor) > 0
  }
}

/// The properties of a file that change when it is written or replaced.
public struct FileStamp: Equatable, Sendable {
  private let device: UInt64
  private let node: UInt64
  private let size: UInt64
  private let seconds: Int64
  private let nanoseconds: Int64
  /// True if the file is a directory.
  public let isDirectory: Bool

  /// Reads the properties of the file to which the path leads, also through symbolic links; `nil` if there is none.
  public init?(_ path: String) {
    var stamp = cl_stamp()
    guard unsafe cl_file_stamp(path, &stamp) >= 0 else { return nil }
    device = stamp.device
    node = stamp.node
    size = stamp.size
    seconds = stamp.seconds
    nanoseconds = stamp.nanoseconds
    isDirectory = stamp.is_directory
  }
}
