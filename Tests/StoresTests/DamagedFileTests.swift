import DiskStore
import Foundation
import OAuth
import RedisTestSupport
import SQLite
import Stores
import Testing
import Time

/// Numbers in the file that the program cannot have written. They come from a fault of the disk or another program.
@Suite("The numbers in the file of a store")
struct DamagedFileTests {
  static let extremes: [Int64] = [.min, -1, 0, 1 << 53, 1 << 62, .max]

  /// Creates a store with an entry of each kind that expires at 1,000, and closes it.
  private static func create(_ path: String) async throws {
    let store = try FileStore(path: path, size: 1 << 20)
    try await StoreFixture.run(store) { store async throws in
      for kind in StoreKind.allCases { try await store.add(.sample(kind), .sample()) }
    }
    try await closed(store)
  }

  private static func closed(_ store: FileStore) async throws {
    store.close()
    let isClosed = try await StoreOnWorkers.poll { store.isClosed }
    try #require(isClosed)
  }

  /// Changes a copy of the store, and checks and opens the copy. If it opens, uses it: adds, replaces, evicts and sweeps
  /// entries of the kind. Returns true if the file is damaged.
  private static func isDamaged(
    _ folder: StoreFolder, _ kind: StoreKind, after change: String, _ comment: Comment
  ) async throws -> Bool {
    let path = folder.path("copy.db")
    for suffix in ["", "-wal", "-commit"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try FileManager.default.copyItem(atPath: folder.path("state.db"), toPath: path)
    do { try Database(path: path).run(change) }
    var found: FileStoreError?
    do throws(FileStoreError) { _ = try FileStore.check(path) } catch { found = error }
    do {
      let store = try FileStore(path: path, size: 1 << 20)
      #expect(found == nil, comment)
      try await StoreFixture.run(store) { store async throws in
        for number in 2...4 { _ = await failure { try await store.add(.sample(kind, number), .sample()) } }
        _ = await failure { _ = try await store.replace(.sample(kind), 1, with: 2) }
        try store.pass(seconds: 2_000)
        _ = await failure { try await store.add(.sample(kind, 5), .sample()) }
        #expect(store.store.activity?.outage == nil, comment)
        for number in 1...4 { #expect(try await store.get(.sample(kind, number)) == nil, comment) }
      }
      try await closed(store)
      return false
    } catch let error as FileStoreError {
      #expect(error == found, comment)
      #expect(error.isDamage, comment)
      #expect(error.description.hasPrefix("the store \(path) is damaged: "), comment)
      #expect(error.description.contains("`proofgate store reset \(path)`"), comment)
      return true
    }
  }

  @Test(
    "An entry with a number that no version writes is damage, and any other number is used",
    arguments: StoreKind.allCases)
  func entry(kind: StoreKind) async throws {
    try await StoreFolder.with { folder in
      try await Self.create(folder.path("state.db"))
      for column in ["id", "high", "low", "due", "expiry", "holder", "room"] {
        for value in Self.extremes {
          let isPossible =
            switch (column, kind.properties.size) {
            case ("id", _): (1..<1 << 62).contains(value)
            case ("due", _): (1...1_000).contains(value)
            case ("expiry", _): value >= 1_000
            case ("room", .fixed): value == 0
            case ("room", .upTo): false
            default: true
            }
          let comment: Comment = "\(column) \(value)"
          let isDamaged = try await Self.isDamaged(
            folder, kind, after: "UPDATE \(kind.properties.name) SET \(column) = \(value)", comment)
          #expect(isDamaged == !isPossible, comment)
        }
      }
      for value in ["x''", "value || x'00'", "zeroblob(20000)"] {
        // A value that varies in length may be shorter than its room.
        let isPossible = if case .upTo = kind.properties.size { value == "x''" } else { false }
        let isDamaged = try await Self.isDamaged(
          folder, kind, after: "UPDATE \(kind.properties.name) SET value = CAST(\(value) AS BLOB)", "\(value)")
        #expect(isDamaged == !isPossible, "\(value)")
      }
    }
  }

  @Test("An epoch, a number of starts, a version or a table that no version writes is damage")
  func header() async throws {
    try await StoreFolder.with { folder in
      try await Self.create(folder.path("state.db"))
      for value in Self.extremes {
        let comment: Comment = "\(value)"
        let isEpochDamaged = try await Self.isDamaged(
          folder, .claim, after: "UPDATE store SET epoch = \(value)", comment)
        #expect(isEpochDamaged == (value == 0), comment)
        let areStartsDamaged = try await Self.isDamaged(
          folder, .claim, after: "UPDATE store SET starts = \(value)", comment)
        #expect(areStartsDamaged == !(0..<1 << 62).contains(value), comment)
      }
      for change in [
        "PRAGMA user_version=0", "PRAGMA user_version=-1", "PRAGMA user_version=\(Int32.min)", "DELETE FROM store",
        "INSERT INTO store SELECT * FROM store", "UPDATE store SET holder_key = x'00'", "DROP TABLE store",
        "ALTER TABLE claim DROP COLUMN room", "ALTER TABLE store DROP COLUMN starts",
      ] {
        let isDamaged = try await Self.isDamaged(folder, .claim, after: change, "\(change)")
        #expect(isDamaged, "\(change)")
      }
    }
  }

  @Test("The sum of many numbers is damage or is used, although the sum of SQLite would overflow")
  func sum() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try await Self.create(path)
      let isDamaged = try await Self.isDamaged(
        folder, .state,
        after: """
          INSERT INTO state SELECT id + 1, high + 1, low, due, expiry, holder, room, value FROM state;
          UPDATE state SET room = \(Int64.max - 1)
          """, "two entries")
      #expect(isDamaged)
    }
  }
}
