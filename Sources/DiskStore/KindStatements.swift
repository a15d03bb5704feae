internal import SQLite
internal import Stores
internal import Time

/// The table of one kind in the file, and its compiled statements. Not Sendable: only the store's thread uses it.
final class KindStatements {
  /// An entry. `holder` is the fingerprint of the `StoreHolder` under the key of the file (`StoreFile.holderKey`), or 0 for
  /// a value of fixed length whose holder is not counted. `room` is the number of bytes that are charged for the value; 0
  /// for values of fixed length.
  struct Row {
    let id: Int64
    let expiry: UnixTime
    let holder: Int64
    let room: Int
    var value: [UInt8] = []
  }

  /// The ids of entries. They count from 1, so no store reaches the end, and the next id never overflows.
  private static let ids: Range<Int64> = 1..<1 << 62
  /// The columns that `row(in:)` reads.
  private static let columns = "id, due, expiry, holder, room, length(value)"

  private let kind: StoreKind
  private let selectAll: Statement
  private let selectEntry: Statement
  private let insertEntry: Statement
  private let updateEntry: Statement
  private let updateEntryAndDue: Statement
  private let deleteEntry: Statement
  private let selectDue: Statement
  private let updateDue: Statement
  /// `nil` for a kind whose entries are not evicted.
  private let selectOldest: Statement?

  /// Returns the statements that create the table.
  ///
  /// `high` and `low` are the halves of the key, and `id` is the number of the entry in the order of insertion. `due`
  /// is the time from which a sweep (the removal of expired entries) examines the entry, at `expiry` or earlier. A
  /// change to a later expiry leaves `due` as it is, and the next sweep after this time updates `due`. So most changes
  /// touch one row and no index.
  static func schema(_ kind: StoreKind) -> String {
    let name = kind.properties.name
    return """
      CREATE TABLE IF NOT EXISTS \(name) (
        id INTEGER PRIMARY KEY, high INTEGER NOT NULL, low INTEGER NOT NULL, due INTEGER NOT NULL,
        expiry INTEGER NOT NULL, holder INTEGER NOT NULL, room INTEGER NOT NULL, value BLOB NOT NULL) STRICT;
      CREATE UNIQUE INDEX IF NOT EXISTS \(name)_key ON \(name) (high, low);
      CREATE INDEX IF NOT EXISTS \(name)_due ON \(name) (due);
      \(kind.properties.whenFull == .evict ? "CREATE INDEX IF NOT EXISTS \(name)_holder ON \(name) (holder);" : "")
      """
  }

  /// Returns the statement that converts the holders of entries from version 1 of the file, in which the entries of fixed
  /// length have an index that differed in each process: even for unlisted clients, 65,535 for those without a limit, and
  /// odd for listed clients. They become fingerprints of holders of their own, with the lowest bit of the new version.
  /// `nil` for a kind whose entries need no conversion.
  static func conversion(_ kind: StoreKind) -> String? {
    guard case .fixed = kind.properties.size else { return nil }
    return "UPDATE \(kind.properties.name) SET holder = holder + 1 WHERE holder BETWEEN 1 AND 65534;"
  }

  /// Compiles the statements of a kind.
  init(_ kind: StoreKind, in database: Database) throws(SQLiteError) {
    self.kind = kind
    let (name, columns) = (kind.properties.name, KindStatements.columns)
    selectAll = try database.prepare("SELECT \(columns) FROM \(name) ORDER BY id")
    selectEntry = try database.prepare("SELECT \(columns), value FROM \(name) WHERE high = ? AND low = ?")
    insertEntry = try database.prepare("INSERT INTO \(name) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    updateEntry = try database.prepare("UPDATE \(name) SET value = ?2, expiry = ?3, room = ?4 WHERE id = ?1")
    updateEntryAndDue = try database.prepare(
      "UPDATE \(name) SET value = ?2, expiry = ?3, room = ?4, due = ?3 WHERE id = ?1")
    deleteEntry = try database.prepare("DELETE FROM \(name) WHERE id = ?")
    selectDue = try database.prepare("SELECT \(columns) FROM \(name) WHERE due <= ? ORDER BY due LIMIT ?")
    updateDue = try database.prepare("UPDATE \(name) SET due = ?2 WHERE id = ?1")
    selectOldest =
      kind.properties.whenFull == .evict
      ? try database.prepare("SELECT \(columns) FROM \(name) WHERE holder = ? ORDER BY id LIMIT 1") : nil
  }

  /// Returns the entry of a key, expired or not.
  func row(of key: StoreKey) throws(SQLiteError) -> Row? {
    try selectEntry.bind(1, Int64(bitPattern: key.high))
    try selectEntry.bind(2, Int64(bitPattern: key.low))
    guard try selectEntry.step() else { return nil }
    defer { selectEntry.reset() }
    var row = try row(in: selectEntry)
    row.value = selectEntry.bytes(6)
    return row
  }

  /// Calls `body` with each entry, without its value, in the order of insertion.
  func visit(_ body: (Row) -> Void) throws(SQLiteError) {
    defer { selectAll.reset() }
    while try selectAll.step() { body(try row(in: selectAll)) }
  }

  /// Returns the entry in the current row of a statement, without its value. Throws an error with the reason `damaged`
  /// if this program cannot have written its numbers: the limits of holders are calculated from them.
  private func row(in statement: Statement) throws(SQLiteError) -> Row {
    let (id, due, expiry, room) = (statement.number(0), statement.number(1), statement.number(2), statement.number(4))
    let length = statement.number(5)
    let fits =
      switch kind.properties.size {
      case .fixed(let fixed): room == 0 && length == fixed
      case .upTo(let longest): room <= longest && length <= room
      }
    guard fits, KindStatements.ids.contains(id), 0 < due, due <= expiry else {
      throw SQLiteError(damage: "an entry of \(kind.properties.name) has impossible numbers")
    }
    return Row(id: id, expiry: UnixTime(seconds: expiry), holder: statement.number(3), room: Int(room))
  }

  /// Adds an entry.
  func insert(_ key: StoreKey, _ row: Row) throws(SQLiteError) {
    try insertEntry.bind(1, row.id)
    try insertEntry.bind(2, Int64(bitPattern: key.high))
    try insertEntry.bind(3, Int64(bitPattern: key.low))
    try insertEntry.bind(4, row.expiry.seconds)
    try insertEntry.bind(5, row.expiry.seconds)
    try insertEntry.bind(6, row.holder)
    try insertEntry.bind(7, Int64(row.room))
    try insertEntry.bind(8, row.value)
    try insertEntry.run()
  }

  /// Changes the value, expiry and room of an entry.
  func update(_ row: Row, value: [UInt8], expiry: UnixTime, room: Int) throws(SQLiteError) {
    // `due` must not be later than the new expiry.
    let statement = expiry < row.expiry ? updateEntryAndDue : updateEntry
    try statement.bind(1, row.id)
    try statement.bind(2, value)
    try statement.bind(3, expiry.seconds)
    try statement.bind(4, Int64(room))
    try statement.run()
  }

  /// Removes an entry.
  func delete(_ id: Int64) throws(SQLiteError) {
    try deleteEntry.bind(1, id)
    try deleteEntry.run()
  }

  /// Returns at most `limit` entries, without their values, that a sweep at `now` examines: entries that have expired,
  /// and entries whose expiry became later.
  func due(now: UnixTime, atMost limit: Int) throws(SQLiteError) -> [Row] {
    var rows: [Row] = []
    try selectDue.bind(1, now.seconds)
    try selectDue.bind(2, Int64(limit))
    defer { selectDue.reset() }
    while try selectDue.step() { rows.append(try row(in: selectDue)) }
    return rows
  }

  /// Sets `due` to the expiry of the entry.
  func postpone(_ row: Row) throws(SQLiteError) {
    try updateDue.bind(1, row.id)
    try updateDue.bind(2, row.expiry.seconds)
    try updateDue.run()
  }

  /// Returns the oldest entry of a holder, without its value; `nil` if the holder has no entry, or if the
  /// kind's entries are not evicted.
  func oldest(of holder: UInt64) throws(SQLiteError) -> Row? {
    guard let selectOldest else { return nil }
    try selectOldest.bind(1, Int64(bitPattern: holder))
    guard try selectOldest.step() else { return nil }
    defer { selectOldest.reset() }
    return try row(in: selectOldest)
  }
}
