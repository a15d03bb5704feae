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
    let name = kind.properties.name
    selectEntry = try database.prepare("SELECT id, expiry, holder, room, value FROM \(name) WHERE high = ? AND low = ?")
    insertEntry = try database.prepare("INSERT INTO \(name) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    updateEntry = try database.prepare("UPDATE \(name) SET value = ?2, expiry = ?3, room = ?4 WHERE id = ?1")
    updateEntryAndDue = try database.prepare(
      "UPDATE \(name) SET value = ?2, expiry = ?3, room = ?4, due = ?3 WHERE id = ?1")
    deleteEntry = try database.prepare("DELETE FROM \(name) WHERE id = ?")
    selectDue = try database.prepare("SELECT id, expiry, holder, room FROM \(name) WHERE due <= ? ORDER BY due LIMIT ?")
    updateDue = try database.prepare("UPDATE \(name) SET due = ?2 WHERE id = ?1")
    selectOldest =
      kind.properties.whenFull == .evict
      ? try database.prepare("SELECT id, room FROM \(name) WHERE holder = ? ORDER BY id LIMIT 1") : nil
  }

  /// Returns the entry of a key, expired or not.
  func row(of key: StoreKey) throws(SQLiteError) -> Row? {
    try selectEntry.bind(1, Int64(bitPattern: key.high))
    try selectEntry.bind(2, Int64(bitPattern: key.low))
    guard try selectEntry.step() else { return nil }
    defer { selectEntry.reset() }
    return Row(
      id: selectEntry.number(0), expiry: UnixTime(seconds: selectEntry.number(1)), holder: selectEntry.number(2),
      room: Int(selectEntry.number(3)),
      value: selectEntry.bytes(4))
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
    while try selectDue.step() {
      rows.append(
        Row(
          id: selectDue.number(0), expiry: UnixTime(seconds: selectDue.number(1)), holder: selectDue.number(2),
          room: Int(selectDue.number(3))))
    }
    return rows
  }

  /// Sets `due` to the expiry of the entry.
  func postpone(_ row: Row) throws(SQLiteError) {
    try updateDue.bind(1, row.id)
    try updateDue.bind(2, row.expiry.seconds)
    try updateDue.run()
  }

  /// Returns the oldest entry of a holder, without its expiry and value; `nil` if the holder has no entry, or if the
  /// kind's entries are not evicted.
  func oldest(of holder: UInt64) throws(SQLiteError) -> Row? {
    guard let selectOldest else { return nil }
    try selectOldest.bind(1, Int64(bitPattern: holder))
    guard try selectOldest.step() else { return nil }
    defer { selectOldest.reset() }
    return Row(
      id: selectOldest.number(0), expiry: 0, holder: Int64(bitPattern: holder), room: Int(selectOldest.number(1)))
  }
}
