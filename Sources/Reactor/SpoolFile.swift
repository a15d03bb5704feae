import CLinux

/// A file of limited length in which log lines wait for their destination, in order.
///
/// The lines of an earlier process are delivered first. A process that crashes while it delivers lines delivers some of
/// them again after the next start, because the position is only in memory.
public final class SpoolFile {
  private let descriptor: Int32
  private let limit: Int
  /// The offset of the first byte that was not delivered.
  private var start = 0
  /// The length of the file.
  private var end: Int

  /// Opens or creates the file, and locks it. Throws if this fails, e.g. because another process uses the file.
  ///
  /// - Parameter limit: The maximum length of the file, in bytes.
  public init(path: String, limit: Int) throws(IOError) {
    descriptor = try IOError.check(unsafe cl_open_spool(path))
    self.limit = limit
    end = max(0, Int(cl_file_size(descriptor)))
  }

  deinit { cl_close(descriptor) }

  /// True if no byte waits.
  public var isEmpty: Bool { start == end }
  /// The number of bytes that wait.
  public var count: Int { end - start }

  /// Appends all bytes. Returns false, and appends nothing, if the file would become too long or cannot be written.
  public func append(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard end + bytes.count <= limit else { return false }
    var written = 0
    while written < bytes.count {
      let rest = bytes.dropFirst(written)
      let result = unsafe rest.withUnsafeBytes { buffer -> Int64 in
        guard let base = buffer.baseAddress else { return 0 }
        return unsafe cl_write_at(descriptor, base, buffer.count, Int64(end + written))
      }
      guard result > 0 else {
        cl_truncate(descriptor, Int64(end))
        return false
      }
      written += Int(result)
    }
    end += written
    return true
  }

  /// Returns at most `count` bytes that wait first; none if the file cannot be read.
  public func first(_ count: Int) -> [UInt8] {
    let wanted = min(count, end - start)
    guard wanted > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: wanted)
    let taken = unsafe bytes.withUnsafeMutableBytes { buffer -> Int64 in
      guard let base = buffer.baseAddress else { return 0 }
      return unsafe cl_read_at(descriptor, base, buffer.count, Int64(start))
    }
    return taken > 0 ? Array(bytes.prefix(Int(taken))) : []
  }

  /// Removes bytes that were delivered. The file becomes empty when all of them were.
  public func removeFirst(_ count: Int) {
    start = min(end, start + count)
    guard start == end, end > 0 else { return }
    // If this fails, a later process delivers the lines again.
    cl_truncate(descriptor, 0)
    start = 0
    end = 0
  }
}
