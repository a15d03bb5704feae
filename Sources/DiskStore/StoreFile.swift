internal import Cryptography
internal import OAuth
internal import SQLite
internal import Stores

/// An open store file: the database, the lock that excludes other processes, and the epoch.
///
/// Not Sendable: the store's thread opens and closes it.
struct StoreFile {
  /// "PGst", in the field of SQLite's header for the application to which a file belongs.
  static let applicationID: Int64 = 0x5047_7374
  /// The version of the tables' layout. Each change of the layout gets a new number. In version 1, the entries did not
  /// remain charged to their holders when the process ended, and up to version 2 a clean end left no mark; `begin`
  /// converts a file of these versions.
  static let version: Int64 = 3
  /// The mark of a clean end: this bit in the number of the version, which is in the header of the file.
  static let endMark: Int64 = 1 << 16
  /// The first version with this mark.
  private static let firstMarkedVersion: Int64 = 3
  static let magic = Array("SQLite format 3\0".utf8)
  /// The bytes of a page. Entries are small, and each commit writes whole pages to the log, so small pages keep the log
  /// short.
  static let pageSize = 1_024

  let path: String
  let database: Database
  private(set) var epoch: EpochID
  /// The random key of the fingerprints of holders (`StoreHolder.fingerprint`).
  private(set) var holderKey: [UInt8]
  static let holderKeyLength = 32
  /// True if opening has created the file.
  let isNew: Bool
  /// The damage of the log, because of which opening has begun a new epoch; `nil` if there is none.
  let damage: LogDamage?
  /// The file with the end of the latest commit; `nil` if the store was opened to be checked.
  private var position: PositionFile?
  /// The version of the file, and whether it had the mark of a clean end, when it was opened.
  private let openedVersion: Int64
  private let isMarked: Bool?
  /// The lock on the file, which excludes other processes. The lock has its own descriptor of the file. SQLite's own
  /// locks end when the process closes any descriptor of the file, so the lock's descriptor is closed after those of
  /// `database`.
  private let lock: DatabaseFile

  /// Opens the store, or creates it if no file has this name. If the log is damaged, begins a new epoch.
  init(openingOrCreating path: String) throws(FileStoreError) {
    let isNew: Bool
    do throws(DatabaseFile.Problem) {
      // A log without its file shows that a store was here. A new store must not replace it without the operator's
      // knowledge, so this ends in the error `.logWithoutFile`.
      isNew =
        DatabaseFile.exists(path) || DatabaseFile.exists(StoreFile.logPath(path)) ? false : try StoreFile.create(path)
    } catch {
      throw FileStoreError(path, error)
    }
    try self.init(path, isNew: isNew, acceptsDamage: true)
    try begin()
  }

  /// Opens a store that exists, and changes no entry. Throws if the log is damaged.
  init(checking path: String) throws(FileStoreError) {
    try self.init(path, isNew: false, acceptsDamage: false)
  }

  private init(_ path: String, isNew: Bool, acceptsDamage: Bool) throws(FileStoreError) {
    let lock: DatabaseFile
    do throws(DatabaseFile.Problem) {
      lock = try DatabaseFile(locking: path)
    } catch {
      let isLogWithoutFile = error == .missing && DatabaseFile.exists(StoreFile.logPath(path))
      throw isLogWithoutFile ? FileStoreError(path, .logWithoutFile) : FileStoreError(path, error)
    }
    guard lock.length > 0 else { throw FileStoreError(path, .empty) }
    guard lock.prefix(StoreFile.magic.count) == StoreFile.magic else { throw FileStoreError(path, .notAStore) }
    isMarked = StoreFile.isMarked(lock)
    // The file has all changes, so a log can only be left over, from the file or from another one.
    if isMarked == true { DatabaseFile.remove(StoreFile.logPath(path)) }
    damage = isMarked == false ? try LogDamage.find(path) : nil
    if let damage, !acceptsDamage { throw FileStoreError(path, .damagedLog(damage)) }
    self.path = path
    self.isNew = isNew
    self.lock = lock
    let hasLog = DatabaseFile.exists(StoreFile.logPath(path))
    let database = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      let database = try Database(path: path)
      // A file that is not marked needs its log at the next start.
      try database.keepLogAtClose(hasLog)
      return database
    }
    let (application, version) = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      (try database.number("PRAGMA application_id"), try database.number("PRAGMA user_version") & ~StoreFile.endMark)
    }
    guard application == StoreFile.applicationID else { throw FileStoreError(path, .notAStore) }
    guard version > 0 else { throw FileStoreError(path, .damaged(detail: "it has the version \(version)")) }
    guard version <= StoreFile.version else { throw FileStoreError(path, .newer(version: version)) }
    let isDamaged = damage != nil
    let problem = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      try StoreFile.problem(in: database, comparesIndexes: !acceptsDamage || isDamaged)
    }
    if let problem { throw FileStoreError(path, .damaged(detail: problem)) }
    let (epoch, holderKey) = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      (try StoreFile.epoch(in: database), version == 1 ? [] : try StoreFile.holderKey(in: database))
    }
    self.epoch = epoch
    self.holderKey = holderKey
    self.database = database
    openedVersion = version
  }

  /// True if the file has the mark of a clean end, and false if not, so that its log may have changes that the file lacks.
  /// `nil` for a file of another program or of a version that cannot say so.
  private static func isMarked(_ file: DatabaseFile) -> Bool? {
    // SQLite's header has the number of the version in the bytes 60 to 63.
    let header = file.prefix(headerLength)
    let number = header.dropFirst(60).prefix(4).reduce(0) { $0 << 8 | Int64($1) }
    guard isStore(header), (firstMarkedVersion...version).contains(number & ~endMark) else { return nil }
    return number & endMark != 0
  }

  /// Begins the use of the file: removes the mark of a clean end, durably, before any other change. If the log was damaged,
  /// the first change begins a new epoch, because it overwrites the damage.
  private mutating func begin() throws(FileStoreError) {
    let (database, isMarked) = (database, isMarked == true)
    if damage != nil { epoch = StoreFile.newEpoch() }
    // A write, so that a file that cannot be written is detected at the start, and not at the first claim. It also adds the
    // tables of kinds that are newer than the file.
    let changes = """
      UPDATE store SET starts = starts + 1, epoch = \(Int64(bitPattern: epoch.rawValue));
      \(StoreFile.schema) \(openedVersion == 1 ? StoreFile.conversion : "")
      """
    let removesMark = "PRAGMA user_version=\(StoreFile.version);"
    let first = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      // A commit returns once it is durable.
      try database.run("PRAGMA synchronous=FULL")
      // The mark is removed alone, because a start removes the log of a marked file.
      try database.run(isMarked ? removesMark : "BEGIN; \(changes) \(removesMark) COMMIT;")
      try database.keepLogAtClose(true)
      return database.logPosition
    }
    do throws(DatabaseFile.Problem) {
      guard let first else { throw .failed(message: "its log has no position") }
      position = try PositionFile(StoreFile.positionPath(path), first)
    } catch {
      throw FileStoreError(path, error)
    }
    holderKey = try StoreFile.addingPath(path) { () throws(SQLiteError) in
      try database.copyLog()
      if isMarked { try database.run("BEGIN; \(changes) COMMIT;") }
      return try StoreFile.holderKey(in: database)
    }
    recordCommit()
  }

  /// Records the end of the latest commit next to the file, for the start after a crash. If this fails, that start may find
  /// less damage.
  func recordCommit() {
    if let end = database.logPosition { position?.write(end) }
  }

  /// Ends the use of the file after the last transaction, so that the next start needs no log. Without this call, or if it
  /// fails, closing the database leaves the log as it is.
  func end() throws(SQLiteError) {
    // The mark is made durable after all other changes.
    try database.copyLog()
    try database.run("PRAGMA user_version=\(StoreFile.version | StoreFile.endMark)")
    try database.keepLogAtClose(false)
    DatabaseFile.remove(StoreFile.positionPath(path))
  }

  /// The path of the write-ahead log, which SQLite chooses.
  static func logPath(_ path: String) -> String { path + "-wal" }

  /// The path of the file with the end of the latest commit.
  static func positionPath(_ path: String) -> String { path + "-commit" }

  /// The statements that create the tables of all kinds that the file does not have.
  static var schema: String { StoreKind.allCases.map(KindStatements.schema).joined(separator: "\n") }

  /// The statements that convert a file of version 1.
  private static var conversion: String {
    """
    ALTER TABLE store ADD COLUMN holder_key BLOB NOT NULL DEFAULT x'';
    UPDATE store SET holder_key = \(newHolderKey);
    \(StoreKind.allCases.compactMap(KindStatements.conversion).joined(separator: "\n"))
    """
  }

  /// A new key as a literal of SQL.
  static var newHolderKey: String {
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

  /// Reads each page, and on demand compares each index with its table. Returns the first problem; `nil` if there is none.
  private static func problem(in database: Database, comparesIndexes: Bool) throws(SQLiteError) -> String? {
    guard try database.text("PRAGMA journal_mode") == "wal" else {
      return "it has no write-ahead log"
    }
    let result = try database.text(comparesIndexes ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)")
    return result == "ok" ? nil : result ?? "it cannot be checked"
  }

  /// Returns the epoch. Throws if the only row of the table `store` has a number that this program cannot have written.
  private static func epoch(in database: Database) throws(SQLiteError) -> EpochID {
    let row = try database.prepare("SELECT epoch, starts FROM store")
    defer { row.reset() }
    guard try row.step(), row.number(0) != 0 else { throw SQLiteError(damage: "it has no epoch") }
    let epoch = row.number(0)
    guard 0 <= row.number(1), row.number(1) < maximumStarts else {
      throw SQLiteError(damage: "it has an impossible number of starts")
    }
    guard try !row.step() else { throw SQLiteError(damage: "it has several epochs") }
    return EpochID(rawValue: UInt64(bitPattern: epoch))
  }

  /// A number of starts that no store reaches, so that the next one never overflows.
  private static let maximumStarts: Int64 = 1 << 62

  private static func holderKey(in database: Database) throws(SQLiteError) -> [UInt8] {
    let row = try database.prepare("SELECT holder_key FROM store")
    defer { row.reset() }
    guard try row.step(), row.bytes(0).count == holderKeyLength else {
      throw SQLiteError(damage: "it has no key for holders")
    }
    return row.bytes(0)
  }

  /// Reads each entry. Returns the number of entries of each kind.
  func count() throws(FileStoreError) -> [(kind: StoreKind, count: Int)] {
    try StoreFile.addingPath(path) { () throws(SQLiteError) in
      var entries: [(kind: StoreKind, count: Int)] = []
      for kind in StoreKind.allCases {
        var count = 0
        // The next start adds a table that is missing, because its kind is newer than the file.
        let name = kind.properties.name
        if try database.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '\(name)'") > 0 {
          try KindStatements(kind, in: database).visit { _ in count += 1 }
        }
        entries.append((kind, count))
      }
      return entries
    }
  }
}
