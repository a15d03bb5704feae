internal import Cryptography
internal import OAuth
internal import SQLite
internal import Stores

extension StoreFile {
  /// Creates a complete store under a temporary name and then renames it, so that no crash leaves an incomplete store.
  /// Returns false if another process has created the file first.
  static func create(_ path: String) throws(DatabaseFile.Problem) -> Bool {
    let temporary = path + ".new"
    try build(temporary)
    return try DatabaseFile.publish(temporary, as: path)
  }

  private static func build(_ path: String) throws(DatabaseFile.Problem) {
    DatabaseFile.remove(logPath(path))
    try DatabaseFile.create(path)
    let epoch = Int64(bitPattern: newEpoch().rawValue)
    do throws(SQLiteError) {
      let database = try Database(path: path)
      try database.run(
        """
        PRAGMA page_size=\(pageSize); PRAGMA auto_vacuum=NONE; PRAGMA secure_delete=FAST;
        PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version | endMark);
        PRAGMA journal_mode=WAL;
        BEGIN;
        CREATE TABLE store (
          epoch INTEGER NOT NULL, starts INTEGER NOT NULL, holder_key BLOB NOT NULL DEFAULT x'') STRICT;
        INSERT INTO store VALUES (\(epoch), 0, \(newHolderKey));
        \(schema)
        COMMIT;
        """)
    } catch {
      DatabaseFile.remove(logPath(path))
      DatabaseFile.remove(path)
      throw switch error.reason {
      case .full: .full
      case .readOnly: .readOnly
      case .busy, .damaged, .cannotOpen, .inputOutput, .other: .failed(message: error.description)
      }
    }
  }

  /// Replaces the file by a new, empty store with a new epoch. A file that is not recognised as a store is kept; the
  /// result is its new name.
  ///
  /// The reset renames the old file, then removes its log, and then gives the new store the name `path`. A crash
  /// between two of these steps therefore leaves only the log, or neither a file nor a log. The file is renamed before
  /// the log is removed, because the old file without its log would look like a complete store, but lack the latest
  /// changes.
  static func reset(_ path: String) throws(FileStoreError) -> String? {
    guard let old = unusedName(path) else { throw FileStoreError(path, .tooManyOldFiles) }
    do throws(DatabaseFile.Problem) {
      // Held until the end, so that no gateway uses the file that is removed.
      let lock: DatabaseFile? = DatabaseFile.exists(path) ? try DatabaseFile(locking: path) : nil
      defer { withExtendedLifetime(lock) {} }
      try build(path + ".new")
      if try DatabaseFile.rename(path, to: old) {
        try DatabaseFile.sync(DatabaseFile.folder(of: path))
      }
      for suffix in ["-shm", "-journal"] { DatabaseFile.remove(path + suffix) }
      for file in [logPath(path), positionPath(path)] { DatabaseFile.remove(file) }
      guard try DatabaseFile.publish(path + ".new", as: path) else { throw .inUse }
      guard let lock, !isStore(lock.prefix(headerLength)) else {
        DatabaseFile.remove(old)
        return nil
      }
      return old
    } catch {
      throw FileStoreError(path, error)
    }
  }

  /// The maximum number of old files that resets keep.
  static let maximumOldFiles = 9

  /// Returns the first of the names `.old`, `.old2` to `.old9` that no file has, because the file of an earlier reset may
  /// have the others; `nil` if all are in use.
  private static func unusedName(_ path: String) -> String? {
    (1...maximumOldFiles).lazy.map { "\(path).old\($0 == 1 ? "" : "\($0)")" }.first { !DatabaseFile.exists($0) }
  }

  /// Returns a random epoch. The lowest bit is set, because an epoch must not be 0.
  static func newEpoch() -> EpochID { EpochID(rawValue: randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } | 1) }

  /// The number of bytes of SQLite's header that the store reads itself.
  static let headerLength = 72

  /// Returns true if the header of a file is that of a store. Also returns true for an empty file, which contains nothing
  /// to keep.
  static func isStore(_ header: [UInt8]) -> Bool {
    // SQLite's header contains the application id in the bytes 68 to 71.
    guard !header.isEmpty else { return true }
    let application = header.dropFirst(68).reduce(0) { $0 << 8 | Int64($1) }
    return header.starts(with: magic) && application == applicationID
  }
}
