internal import Glibc

/// The file of a database as seen by the operating system: readable only by its owner, and locked by one process. The
/// static functions create, rename, remove and sync files by their paths.
@safe public final class DatabaseFile {
  /// The reason why the file cannot be used.
  public enum Problem: Error, Hashable, Sendable {
    /// No file has this name.
    case missing
    /// Another process has locked the file.
    case inUse
    /// The path names a directory, a device or the like.
    case notRegular
    /// The disk or a quota is full.
    case full
    /// The file, its directory or the file system cannot be written.
    case readOnly
    /// A system call failed for another reason.
    case failed(message: String)
  }

  private let descriptor: Int32
  /// The length in bytes at the time of opening.
  public let length: Int

  /// Opens an existing file for reading and writing, and locks it until this object is freed. Sets its mode to 0600.
  ///
  /// The lock is an `flock`, which belongs to this descriptor alone. SQLite's own locks end when the process closes any
  /// descriptor of the file, so this descriptor is opened before those of SQLite and closed after them.
  public init(locking path: String) throws(Problem) {
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw errno == ENOENT ? .missing : DatabaseFile.problem() }
    var status = stat()
    let problem: Problem? =
      if unsafe fstat(descriptor, &status) != 0 {
        DatabaseFile.problem()
      } else if status.st_mode & S_IFMT != S_IFREG {
        .notRegular
      } else if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        errno == EWOULDBLOCK ? .inUse : DatabaseFile.problem()
      } else if status.st_mode & 0o777 != 0o600, fchmod(descriptor, 0o600) != 0 {
        DatabaseFile.problem()
      } else {
        nil
      }
    if let problem {
      close(descriptor)
      throw problem
    }
    self.descriptor = descriptor
    length = Int(status.st_size)
  }

  /// Opens an existing file for reading, without a lock. Not for the file of a database that SQLite has open.
  init(reading path: String) throws(Problem) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw errno == ENOENT ? .missing : DatabaseFile.problem() }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      let problem = status.st_mode & S_IFMT == S_IFREG ? DatabaseFile.problem() : .notRegular
      close(descriptor)
      throw problem
    }
    self.descriptor = descriptor
    length = Int(status.st_size)
  }

  deinit {
    close(descriptor)
  }

  /// Returns the first `count` bytes of the file, or fewer if the file is shorter.
  public func prefix(_ count: Int) -> [UInt8] { bytes(at: 0, count: count) }

  /// Returns `count` bytes of the file, or fewer if the file ends before or cannot be read.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      initializedCount = max(0, unsafe pread(descriptor, buffer.baseAddress, count, offset))
    }
  }

  /// Returns true if a file, or anything else, has this name.
  public static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// Returns true if the process may create files in the directory of a path.
  public static func isFolderWritable(of path: String) -> Bool { unsafe access(folder(of: path), W_OK) == 0 }

  /// Creates an empty file with mode 0600. Replaces an existing file.
  public static func create(_ path: String) throws(Problem) {
    unsafe unlink(path)
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw problem() }
    close(descriptor)
  }

  /// Makes the file durable and renames it. If the new name is in use, removes the temporary file and returns false.
  public static func publish(_ temporary: String, as path: String) throws(Problem) -> Bool {
    try sync(temporary)
    let isPublished = unsafe link(temporary, path) == 0
    let reason = errno
    unsafe unlink(temporary)
    guard isPublished || reason == EEXIST else {
      errno = reason
      throw problem()
    }
    try sync(folder(of: path))
    return isPublished
  }

  /// Renames a file. Replaces a file with the new name. Returns false if the file is missing.
  public static func rename(_ old: String, to new: String) throws(Problem) -> Bool {
    if unsafe Glibc.rename(old, new) == 0 { return true }
    guard errno == ENOENT else { throw problem() }
    return false
  }

  /// Removes a file, if it exists.
  public static func remove(_ path: String) {
    unsafe unlink(path)
  }

  /// Makes the content of a file, or the names in a directory, durable.
  public static func sync(_ path: String) throws(Problem) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw problem() }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw problem() }
  }

  /// Returns the directory of a path.
  public static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func problem() -> Problem {
    switch errno {
    case ENOSPC, EDQUOT: .full
    case EROFS, EACCES, EPERM: .readOnly
    case EISDIR: .notRegular
    default: .failed(message: unsafe String(cString: strerror(errno)))
    }
  }
}
