internal import Glibc

/// A file that contains the end of the latest commit in the log of a database.
///
/// It is overwritten after the sync of each commit, and not synced itself. So it survives the end of the process, and
/// after a power cut it may contain the end of an earlier commit, but never of one that the log does not have.
@safe public final class PositionFile {
  private let descriptor: Int32

  /// Writes a position to the file at `path`, durably. Creates the file with mode 0600 if it does not exist.
  public init(_ path: String, _ position: LogPosition) throws(DatabaseFile.Problem) {
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0, write(position), fsync(descriptor) == 0 else { throw DatabaseFile.problem() }
    try DatabaseFile.sync(DatabaseFile.folder(of: path))
  }

  deinit {
    close(descriptor)
  }

  /// Overwrites the position. Returns false if this fails; the file then has an earlier one.
  @discardableResult
  public func write(_ position: LogPosition) -> Bool {
    let bytes = position.bytes
    return unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
  }

  /// Returns the position in the file at `path`; `nil` if there is none.
  public static func read(_ path: String) -> LogPosition? {
    guard let file = try? DatabaseFile(reading: path) else { return nil }
    return LogPosition(parsing: file.prefix(LogPosition.length))
  }
}
