internal import Cryptography
internal import OAuth
internal import SQLite
internal import Stores

/// An open store file: the database, the lock that excludes other processes, and the epoch.
///
/// Not Sendable: the store's thread opens and closes it.
struct StoreFile {
  /// "PGst", in the field of SQLite's header for the application to which a file belongs.
  private static let applicationID: Int64 = 0x5047_7374
  /// The version of the tables' layout. Each change of the layout gets a new number. In version 1, the entries did not
  /// remain charged to their holders when the process ended; `init` converts a file of this version.
  private static let version: Int64 = 2
  private static let magic = Array("SQLite format 3\0".utf8)
  /// The bytes of a page. Entries are small, and each commit writes whole pages to the log, so small pages keep the log
  /// short.
  private static let pageSize = 1_024

  let path: String
  let database: Database
  let epoch: EpochID
  /// The random key of the fingerprints of holders (`StoreHolder.fingerprint`).
  let holderKey: [UInt8]
  private static let holderKeyLength = 32
  /// True if opening has created the file.
  let isNew: Bool
  /// The lock on the file, which excludes other processes. The lock has its own descriptor of the file. SQLite's own
  /// locks end when the process closes any descriptor of the file, so the lock's descriptor is closed after those of
  /// `database`.
  private let lock: DatabaseFile

  /// Opens the store, or creates it if no file has this name.
  init(openingOrCreating path: String) throws(FileStoreError) {
    var isNew = false
    let lock: DatabaseFile
    do throws(DatabaseFile.Problem) {
      if !DatabaseFile.exists(path) {
        // A log without its file shows that a store was here. A new store must not replace it without the operator's
        // knowledge, so this ends in the error `.logWithoutFile`.
        guard !DatabaseFile.exists(path + "-wal") else { throw .missing }
        isNew = try StoreFile.create(path)
      }
      lock = try DatabaseFile(locking: path)
    } catch {
      let isLogWithoutFile = error == .missing && DatabaseFile.exists(path + "-wal")
      throw isLogWithoutFile ? FileStoreError(path, .logWithoutFile) : FileStoreError(path, error)
    }
    try self.init(path: path, lock: lock, isNew: isNew)
  }

  /// Opens a store that exists.
  init(existing path: String) throws(FileStoreError) {
    let lock: DatabaseFile
    do throws(DatabaseFile.Problem) {
      lock = try DatabaseFile(locking: path)
    } catch {
      let isLogWithoutFile = error == .missing && DatabaseFile.exists(path + "-wal")
      throw isLogWithoutFile ? FileStoreError(path, .logWithoutFile) : FileStoreError(path, error)
    }
    try self.init(path: path, lock: lock, isNew: false)
  }

  private init(path: String, lock: DatabaseFile, isNew: Bool) throws(FileStoreError) {
    guard lock.length > 0 else { throw FileStoreError(path, .empty) }
    guard lock.prefix(StoreFile.magic.count) == StoreFile.magic else {
      throw FileStoreError(path, .notAStore)
    }
    self.path = path
    self.isNew = isNew
    self.lock = lock
    let database = try StoreFile.addingPath(path) { () throws(SQLiteError) in try Database(path: path) }
    let (application, version) = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      (try database.number("PRAGMA application_id"), try database.number("PRAGMA user_version"))
    }
    guard application == StoreFile.applicationID else { throw FileStoreError(path, .notAStore) }
    guard version > 0 else { throw FileStoreError(path, .damaged(detail: "it has the version \(version)")) }
    guard version <= StoreFile.version else { throw FileStoreError(path, .newer(version: version)) }
    let problem = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      try StoreFile.problem(in: database)
    }
    if let problem { throw FileStoreError(path, .damaged(detail: problem)) }
    let epoch = try StoreFile.addingPath(path) { () throws(SQLiteError) in try StoreFile.epoch(in: database) }
    let holderKey = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      // A commit returns once it is durable.
      try database.run("PRAGMA synchronous=FULL")
      // A write, so that a file that cannot be written is detected at the start, and not at the first claim.
      try database.run("UPDATE store SET starts = starts + 1")
      // Adds the tables of kinds that are newer than the file.
      try database.run("BEGIN; \(StoreFile.schema) \(version == 1 ? StoreFile.conversion : "") COMMIT;")
      let key = try database.prepare("SELECT holder_key FROM store")
      let holderKey = try key.step() ? key.bytes(0) : []
      key.reset()
      return holderKey
    }
    guard holderKey.count == StoreFile.holderKeyLength else {
      throw FileStoreError(path, .damaged(detail: "it has no key for holders"))
    }
    self.epoch = EpochID(rawValue: UInt64(bitPattern: epoch))
    self.holderKey = holderKey
    self.database = database
  }

  /// The statements that create the tables of all kinds that the file does not have.
  private static var schema: String { StoreKind.allCases.map(KindStatements.schema).joined(separator: "\n") }

  /// The statements that convert a file of version 1.
  private static var conversion: String {
    """
    ALTER TABLE store ADD COLUMN holder_key BLOB NOT NULL DEFAULT x'';
    UPDATE store SET holder_key = \(newHolderKey);
    \(StoreKind.allCases.compactMap(KindStatements.conversion).joined(separator: "\n"))
    PRAGMA user_version=\(version);
    """
  }

  /// A new key as a literal of SQL.
  private static var newHolderKey: String {
    let digits = randomBytes(holderKeyLength).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return "x'\(digits.joined())'"
  }

  /// Executes `body`, and adds the path to an error of SQLite.
  private static func addingPath<Result>(
    _ path: String, _ body: () throws(SQLiteError) -> Result
  ) throws(FileStoreError) -> Result {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw FileStoreError(path, error)
    }
  }

  /// Reads each page. Returns the first problem; `nil` if there is none.
  private static func problem(in database: Database) throws(SQLiteError) -> String? {
    guard try database.text("PRAGMA journal_mode") == "wal" else {
      return "it has no write-ahead log"
    }
    let result = try database.text("PRAGMA quick_check(1)")
    return result == "ok" ? nil : result ?? "it cannot be checked"
  }

  /// Returns the epoch. Throws if the only row of the table `store` has a number that this program cannot have written.
  private static func epoch(in database: Database) throws(SQLiteError) -> Int64 {
    let row = try database.prepare("SELECT epoch, starts FROM store")
    defer { row.reset() }
    guard try row.step(), row.number(0) != 0 else { throw SQLiteError(damage: "it has no epoch") }
    let epoch = row.number(0)
    guard 0 <= row.number(1), row.number(1) < maximumStarts else {
      throw SQLiteError(damage: "it has an impossible number of starts")
    }
    guard try !row.step() else { throw SQLiteError(damage: "it has several epochs") }
    return epoch
  }

  /// A number of starts that no store reaches, so that the next one never overflows.
  private static let maximumStarts: Int64 = 1 << 62

  /// Compares each index with its table, and reads each entry. Returns the number of entries of each kind.
  func check() throws(FileStoreError) -> [(kind: StoreKind, count: Int)] {
    let result = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      try database.text("PRAGMA integrity_check(1)")
    }
    guard result == "ok" else {
      throw FileStoreError(path, .damaged(detail: result ?? "it cannot be checked"))
    }
    return try StoreFile.addingPath(path) { () throws(SQLiteError) in
      var entries: [(kind: StoreKind, count: Int)] = []
      for kind in StoreKind.allCases {
        var count = 0
        try KindStatements(kind, in: database).visit { _ in count += 1 }
        entries.append((kind, count))
      }
      return entries
    }
  }

  // MARK: Creation

  /// Creates a complete store under a temporary name and then renames it, so that no crash leaves an incomplete store.
  /// Returns false if another process has created the file first.
  static func create(_ path: String) throws(DatabaseFile.Problem) -> Bool {
    let temporary = path + ".new"
    try build(temporary)
    return try DatabaseFile.publish(temporary, as: path)
  }

  private static func build(_ path: String) throws(DatabaseFile.Problem) {
    DatabaseFile.remove(path + "-wal")
    try DatabaseFile.create(path)
    // The lowest bit is set, because an epoch must not be 0.
    let epoch = Int64(bitPattern: randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } | 1)
    do throws(SQLiteError) {
      let database = try Database(path: path)
      try database.run(
        """
        PRAGMA page_size=\(pageSize); PRAGMA auto_vacuum=NONE; PRAGMA secure_delete=FAST;
        PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version);
        PRAGMA journal_mode=WAL;
        BEGIN;
        CREATE TABLE store (
          epoch INTEGER NOT NULL, starts INTEGER NOT NULL, holder_key BLOB NOT NULL DEFAULT x'') STRICT;
        INSERT INTO store VALUES (\(epoch), 0, \(newHolderKey));
        \(schema)
        COMMIT;
        """)
    } catch {
      DatabaseFile.remove(path + "-wal")
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
      for suffix in ["-wal", "-shm", "-journal"] { DatabaseFile.remove(path + suffix) }
      guard try DatabaseFile.publish(path + ".new", as: path) else { throw .inUse }
      guard let lock, !isStore(lock) else {
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

  /// Returns true if the header of the file is that of a store. Also returns true for an empty file, which contains
  /// nothing to keep.
  private static func isStore(_ file: DatabaseFile) -> Bool {
    // SQLite's header contains the application id in the bytes 68 to 71.
    let header = file.prefix(72)
    guard !header.isEmpty else { return true }
    let application = header.dropFirst(68).reduce(0) { $0 << 8 | Int64($1) }
    return header.starts(with: magic) && application == applicationID
  }
}
