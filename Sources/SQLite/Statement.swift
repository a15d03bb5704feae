internal import CSQLite

/// A compiled statement. As in SQLite, parameters count from 1 and columns from 0.
@safe public final class Statement {
  private let handle: OpaquePointer
  private let database: Database

  init(_ handle: OpaquePointer, of database: Database) {
    unsafe self.handle = handle
    self.database = database
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// Sets a parameter to a number.
  public func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
    try database.check(unsafe sqlite3_bind_int64(handle, index, value))
  }

  /// Sets a parameter to bytes.
  public func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteError) {
    let result = unsafe value.withUnsafeBytes { buffer -> Int32 in
      // Without an address the parameter would be NULL.
      guard let base = buffer.baseAddress, buffer.count > 0 else {
        return unsafe sqlite3_bind_zeroblob(handle, index, 0)
      }
      return unsafe cs_bind_blob(handle, index, base, Int32(clamping: buffer.count))
    }
    try database.check(result)
  }

  /// Advances to the next row. Returns false after the last row; the statement can then be executed again.
  public func step() throws(SQLiteError) -> Bool {
    let result = unsafe sqlite3_step(handle)
    if result == SQLITE_ROW { return true }
    unsafe sqlite3_reset(handle)
    guard result == SQLITE_DONE else {
      // Throws, because any other result is an error.
      try database.check(result)
      return false
    }
    return false
  }

  /// Executes a statement without rows.
  public func run() throws(SQLiteError) {
    _ = try step()
    reset()
  }

  /// Skips the remaining rows. The statement can then be executed again.
  public func reset() {
    unsafe sqlite3_reset(handle)
  }

  /// Returns the number in a column of the current row.
  public func number(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  /// Returns the bytes in a column of the current row.
  public func bytes(_ column: Int32) -> [UInt8] {
    guard let base = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Returns the text in a column of the current row.
  public func text(_ column: Int32) -> String {
    guard let base = unsafe sqlite3_column_text(handle, column) else { return "" }
    return unsafe String(cString: base)
  }
}
