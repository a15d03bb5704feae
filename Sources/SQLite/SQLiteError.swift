internal import CSQLite
internal import Glibc

/// An error of SQLite.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reasons that callers distinguish.
  public enum Reason: Hashable, Sendable {
    /// Another process uses the file.
    case busy
    /// The disk or a quota is full.
    case full
    /// The file or its directory cannot be written.
    case readOnly
    /// The content is not a valid database, or not one of the program.
    case damaged
    /// The file cannot be opened.
    case cannotOpen
    /// A read, write or sync failed.
    case inputOutput
    /// Any other reason.
    case other
  }

  /// The reason.
  public let reason: Reason
  /// SQLite's extended result code.
  public let code: Int32
  /// SQLite's message.
  public let message: String

  /// Creates an error from its code.
  ///
  /// - Parameter systemError: the `errno` of the last system call of SQLite; 0 if it is not known.
  init(_ code: Int32, _ message: String, systemError: Int32 = 0) {
    self.code = code
    self.message = message
    reason =
      switch (code & 0xff, systemError) {
      case (SQLITE_BUSY, _), (SQLITE_LOCKED, _): .busy
      // SQLite reports a full quota, and a full disk that only a sync notices, as other errors.
      case (SQLITE_FULL, _), (SQLITE_IOERR, ENOSPC), (SQLITE_IOERR, EDQUOT): .full
      case (SQLITE_READONLY, _), (SQLITE_PERM, _), (SQLITE_AUTH, _): .readOnly
      case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _): .damaged
      // The statements are constants. They fail in this way if the file has other tables, types or numbers than those for
      // which they are written.
      case (SQLITE_ERROR, _), (SQLITE_CONSTRAINT, _), (SQLITE_MISMATCH, _): .damaged
      case (SQLITE_CANTOPEN, _): .cannotOpen
      case (SQLITE_IOERR, _): .inputOutput
      default: .other
      }
  }

  /// Creates an error with the reason `damaged`, for content that SQLite accepts and its reader does not.
  public init(damage message: String) {
    self.init(SQLITE_CORRUPT, message)
  }

  /// The message with its code.
  public var description: String { "\(message) (SQLite \(code))" }
}
