internal import CSQLite

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
    /// The content is not a valid database.
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

  init(_ code: Int32, _ message: String) {
    self.code = code
    self.message = message
    reason =
      switch code & 0xff {
      case SQLITE_BUSY, SQLITE_LOCKED: .busy
      case SQLITE_FULL: .full
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
      case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
      case SQLITE_CANTOPEN: .cannotOpen
      case SQLITE_IOERR: .inputOutput
      default: .other
      }
  }

  /// The message with its code.
  public var description: String { "\(message) (SQLite \(code))" }
}
