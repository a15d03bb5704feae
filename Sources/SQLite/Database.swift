internal import CSQLite

/// A database file and its write-ahead log. While it is open, no other process can use it.
///
/// Not Sendable: one thread opens, uses and closes it.
@safe public final class Database {
  /// The version of the linked library, such as `3.40.1`.
  public static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

  private let handle: OpaquePointer
  /// The memory of `logFrames`, to which SQLite's commit hook writes (`cs_count_frames`).
  private let frames: UnsafeMutablePointer<Int32>

  /// Opens an existing file. An empty file becomes a new database.
  ///
  /// Throws an error with the reason `busy` if another process uses the file.
  public init(path: String) throws(SQLiteError) {
    var opened: OpaquePointer?
    // One thread uses the connection, so it needs no locks.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    // Debian's SQLite reads a name that begins with `file:` as a URI, so a relative path gets `./` in front.
    let result = unsafe sqlite3_open_v2(path.hasPrefix("/") ? path : "./" + path, &opened, flags, nil)
    guard result == SQLITE_OK, let opened = unsafe opened else {
      let message = unsafe String(cString: sqlite3_errstr(result))
      unsafe sqlite3_close_v2(opened)
      throw SQLiteError(result, message)
    }
    unsafe handle = opened
    unsafe frames = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    unsafe frames.initialize(to: 0)
    // Statements cannot damage the file on purpose, and SQLite does not trust a schema that other programs wrote.
    try check(unsafe cs_harden(handle))
    // Set before the first access, so that the index of the log is in the memory of this process and the file is
    // locked.
    try run("PRAGMA locking_mode=EXCLUSIVE")
    try run("PRAGMA wal_autocheckpoint=0")
    // `cs_count_frames` sets the hook that SQLite calls after each commit to the log. The automatic checkpoint uses the
    // same hook, so the automatic checkpoint must be off first.
    unsafe cs_count_frames(handle, frames)
  }

  deinit {
    // Each statement retains the database, so no statement exists any more.
    unsafe sqlite3_close_v2(handle)
    unsafe frames.deallocate()
  }

  /// The number of frames in the write-ahead log that are not copied yet; each frame is a page.
  public var logFrames: Int { unsafe Int(frames.pointee) }

  /// The end of the latest commit in the write-ahead log; `nil` if this object has committed nothing since the latest
  /// copy of the log.
  public var logPosition: LogPosition? {
    guard logFrames > 0 else { return nil }
    var salts = [UInt8](repeating: 0, count: 8)
    let result = unsafe salts.withUnsafeMutableBytes { unsafe cs_read_salts(handle, $0.baseAddress) }
    return result == SQLITE_OK ? LogPosition(salts: salts[...].bigEndian, frames: logFrames) : nil
  }

  /// Sets whether the write-ahead log is kept as it is when the database is closed. Otherwise SQLite copies the log into
  /// the database file and then removes the log.
  public func keepLogAtClose(_ isKept: Bool) throws(SQLiteError) {
    try check(unsafe cs_keep_log(handle, isKept ? 1 : 0))
  }

  /// Executes statements without results.
  public func run(_ sql: String) throws(SQLiteError) {
    try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
  }

  /// Compiles a statement.
  public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    var statement: OpaquePointer?
    try check(
      unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    )
    guard let statement = unsafe statement else {
      throw SQLiteError(SQLITE_MISUSE, "an empty statement")
    }
    return unsafe Statement(statement, of: self)
  }

  /// Returns the first column of the first row as text; `nil` without rows.
  public func text(_ sql: String) throws(SQLiteError) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Returns the first column of the first row as a number; 0 without rows.
  public func number(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try prepare(sql)
    return try statement.step() ? statement.number(0) : 0
  }

  /// True during a transaction.
  public var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Copies the pages of the write-ahead log into the database file, without making the file durable.
  public func copyLog() throws(SQLiteError) {
    try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil))
    unsafe frames.pointee = 0
  }

  /// Makes the database file durable.
  public func syncFile() throws(SQLiteError) {
    try check(unsafe cs_sync(handle))
  }

  func check(_ result: Int32) throws(SQLiteError) {
    guard result != SQLITE_OK else { return }
    throw SQLiteError(
      result, unsafe String(cString: sqlite3_errmsg(handle)), systemError: unsafe sqlite3_system_errno(handle))
  }
}
