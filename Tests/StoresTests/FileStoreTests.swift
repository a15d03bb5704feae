import DiskStore
import Foundation
import OAuth
import RedisTestSupport
import SQLite
import Stores
import Synchronization
import Testing
import Time

/// The rules of the file engine that other engines do not have.
@Suite("The file store")
struct FileStoreTests {
  private static func open(_ path: String, size: Int = 32 << 20) throws -> FileStore {
    try FileStore(path: path, size: size)
  }

  /// Runs `body` on a worker with the store at `path`, and closes it.
  private static func run(
    _ path: String, size: Int = 32 << 20, _ body: @escaping @Sendable (StoreFixture) async throws -> Void
  ) async throws {
    let store = try FileStore(path: path, size: size)
    do {
      try await StoreFixture.run(store, body)
    } catch {
      store.close()
      throw error
    }
    try await closed(store)
  }

  private static func closed(_ store: FileStore) async throws {
    store.close()
    let isClosed = try await StoreOnWorkers.poll { store.isClosed }
    try #require(isClosed)
  }

  private static func putClaim(_ number: Int, in store: FileStore) async throws -> [UInt8]? {
    try await store.put(
      .sample(.claim, number), StoreKind.claim.sample(), holder: StoreHolder(address: "127.0.0.1", isLoopback: true),
      expiry: 1_000, now: 0)
  }

  private static func drop(_ kinds: [StoreKind], from path: String) throws {
    let database = try Database(path: path)
    for kind in kinds { try database.run("DROP TABLE \(kind.properties.name)") }
  }

  private static func problem(_ path: String) -> String? {
    do throws(FileStoreError) {
      _ = try FileStore(path: path)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("Entries and epoch outlive the process, and a reset begins another epoch without entries")
  func restart() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      for start in 0..<3 {
        try await Self.run(path) { store async throws in
          for kind in StoreKind.allCases {
            #expect(try await store.put(.sample(kind), seconds: 1_000) == (start == 0 ? nil : kind.sample()))
          }
        }
      }
      let epoch = try FileStore.check(path).epoch
      #expect(try FileStore.reset(path) == nil)
      #expect(try FileStore.check(path).epoch != epoch)
      try await Self.run(path) { store async throws in
        #expect(store.count == 0)
        #expect(try await store.get(.sample(.claim)) == nil)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["state.db"])
    }
  }

  @Test("A file without the tables of device flows opens, keeps its entries and epoch, and gains the tables")
  func olderFile() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try await Self.run(path) { store async throws in #expect(try await store.put(.sample(.claim)) == nil) }
      let epoch = try FileStore.check(path).epoch
      try Self.drop([.device, .userCode, .deviceAnswer], from: path)
      #expect(try FileStore.check(path).epoch == epoch)
      try await Self.run(path) { store async throws in
        #expect(try await store.get(.sample(.claim)) == StoreKind.claim.sample())
        for kind in [StoreKind.device, .userCode, .deviceAnswer] {
          #expect(try await store.put(.sample(kind)) == nil)
          #expect(try await store.get(.sample(kind)) == kind.sample())
        }
      }
    }
  }

  @Test("A change for later follows the operations that wait, and is made if the value is the expected one")
  func later() async throws {
    try await StoreFolder.with { folder in
      try await Self.run(folder.path("state.db")) { store async throws in
        let key = StoreKey.sample(.family)
        #expect(try await store.put(key, 1) == nil)
        await store.store.replaceLater(key, key.kind.sample(9), with: nil, expiry: 10)
        #expect(try await store.get(key) == key.kind.sample(1))
        await store.store.replaceLater(key, key.kind.sample(1), with: key.kind.sample(2), expiry: 10)
        #expect(try await store.get(key) == key.kind.sample(2))
        await store.store.replaceLater(key, key.kind.sample(2), with: nil, expiry: 10)
        #expect(try await store.get(key) == nil)
      }
    }
  }

  @Test("After a restart the entries are counted as before, and removing them returns the room of their holders")
  func counted() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try await Self.run(path) { store async throws in
        for number in 0..<30 { try await store.add(.sample(.state, number), .sample(number % 3)) }
        for number in 0..<30 { try await store.add(.sample(.claim, number), .sample(number % 3)) }
      }
      try await Self.run(path) { store async throws in
        for kind in [StoreKind.state, .claim] {
          let usage = try store.usage(kind)
          #expect(usage.entries == 30)
          for number in 0..<30 { _ = try await store.take(.sample(kind, number)) }
          let after = try store.usage(kind)
          #expect(after.entries == 0)
          #expect(after.bytes == 0)
        }
      }
    }
  }

  @Test("After a restart the entries of each holder still count against its limit", arguments: StoreKind.allCases)
  func charged(kind: StoreKind) async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      let added = Charged()
      let holders = [
        StoreHolder(client: ClientID("app"), address: "192.0.2.1"), StoreHolder(address: "192.0.2.1", isUnlisted: true),
      ]
      for start in 0..<3 {
        try await Self.run(path, size: 4 << 20) { store async throws in
          for (index, holder) in holders.enumerated() {
            let before = try store.usage(kind)
            var number = 0
            while await failure({
              try await store.add(.sample(kind, start * 100_000 + index * 10_000 + number), holder)
            })
              == nil
            {
              number += 1
              if try store.usage(kind).evictions > before.evictions { break }
              try #require(number < 10_000)
            }
            // The second holder changes the free part of the share, so the first may have lost an entry of its limit.
            if start > 0 { #expect(number <= 1, "\(start)") } else { #expect(number > 1) }
            if start > 0 { #expect(try store.usage(kind).entries - before.entries <= 1) }
          }
          added.set(added.bytes + 1)
        }
      }
      #expect(added.bytes == 3)
    }
  }

  @Test("A file of version 1 keeps its entries and their counts")
  func conversion() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      let kinds = StoreKind.allCases
      try await Self.run(path, size: 1 << 20) { store async throws in
        for kind in kinds {
          for number in 0..<10 { try await store.add(.sample(kind, number), .sample(number), seconds: 20_000) }
        }
      }
      do {
        let database = try Database(path: path)
        try database.run("ALTER TABLE store DROP COLUMN holder_key; PRAGMA user_version=1;")
        // Indexes of version 1: two of unlisted clients, one without a limit, and a listed client.
        try database.run(
          "UPDATE claim SET holder = CASE id % 5 WHEN 0 THEN 2 WHEN 1 THEN 40 WHEN 2 THEN 65535 ELSE 7 END")
      }
      for _ in 0..<2 {
        try await Self.run(path, size: 1 << 20) { store async throws in
          for kind in kinds {
            #expect(try store.usage(kind).entries == 10)
            for number in 0..<10 { #expect(try await store.get(.sample(kind, number)) == kind.sample()) }
          }
        }
      }
      let database = try Database(path: path)
      #expect(try database.number("PRAGMA user_version") == 3 | 1 << 16)
      #expect(try database.number("SELECT length(holder_key) FROM store") == 32)
      #expect(try database.number("SELECT count(*) FROM claim WHERE holder & 1 = 1") == 6)
      #expect(try database.number("SELECT count(*) FROM claim WHERE holder = 8") == 4)
    }
  }

  @Test("A file of a later version is refused")
  func laterVersion() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try await Self.run(path) { _ in }
      do { try Database(path: path).run("PRAGMA user_version=4") }
      #expect(try #require(Self.problem(path)).contains("version 4"))
    }
  }

  @Test("Only the owner can read the file, and a less strict mode is corrected")
  func mode() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      for _ in 0..<2 {
        try await Self.run(path) { store async throws in
          _ = try await store.put(.sample(.claim))
          for name in [path, path + "-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: name)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
          }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      }
    }
  }

  @Test("A second store with the same file is refused with a clear message")
  func held() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      let store = try Self.open(path)
      let problem = try #require(Self.problem(path))
      #expect(problem == "the store \(path) is used by another process; each gateway needs a file of its own")
      #expect(throws: FileStoreError.self) { try FileStore.check(path) }
      #expect(throws: FileStoreError.self) { try FileStore.reset(path) }
      try await Self.closed(store)
      _ = try FileStore.check(path)
    }
  }

  @Test("A foreign, empty, truncated or damaged file is refused, and never becomes a new store")
  func damaged() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try await Self.run(path) { store async throws in
        for number in 0..<2_000 { _ = try await store.put(.sample(.claim, number), seconds: 1_000) }
      }
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(whole.count > 40 * 1_024)
      var garbled = whole
      for index in 20 * 1_024..<30 * 1_024 { garbled[index] = UInt8(truncatingIfNeeded: index &* 31) }
      var foreign = whole
      foreign[70] ^= 0xff
      var newer = whole
      newer[63] = 9
      for (content, words) in [
        (Data(), "is damaged: it is empty"), (Data("hello, this is a file of notes".utf8), "is not a store"),
        (whole.prefix(20 * 1_024), "is damaged: "), (garbled, "is damaged: "), (foreign, "is not a store"),
        (newer, "has version 9"),
      ] {
        try content.write(to: URL(fileURLWithPath: path))
        let problem = try #require(Self.problem(path))
        #expect(problem.contains(words), "\(problem)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == content.count)
        #expect(throws: FileStoreError.self) { try FileStore.check(path) }
      }
      try whole.write(to: URL(fileURLWithPath: path))
      _ = try FileStore.check(path)
    }
  }

  @Test("A log without its file is refused, and a reset removes the log")
  func lost() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try Data(count: 100).write(to: URL(fileURLWithPath: path + "-wal"))
      #expect(try #require(Self.problem(path)).contains("is missing, but its log"))
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try FileStore.reset(path) == nil)
      _ = try FileStore.check(path)
    }
  }

  @Test("A reset keeps a file that is not recognised as a store")
  func foreign() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("notes")
      try Data("notes".utf8).write(to: URL(fileURLWithPath: path))
      #expect(try FileStore.reset(path) == path + ".old")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".old")) == Data("notes".utf8))
      _ = try FileStore.check(path)
    }
  }

  @Test("A later reset keeps the files of earlier ones, and refuses when all names are in use")
  func oldFiles() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("notes")
      for number in 1...9 {
        let content = Data("notes \(number)".utf8)
        try content.write(to: URL(fileURLWithPath: path))
        let old = path + ".old" + (number == 1 ? "" : "\(number)")
        #expect(try FileStore.reset(path) == old)
        // The reset of a store keeps no file, and none of the others is removed.
        if number < 9 { #expect(try FileStore.reset(path) == nil) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: old)) == content)
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".old")) == Data("notes 1".utf8))
      let epoch = try FileStore.check(path).epoch
      do throws(FileStoreError) {
        _ = try FileStore.reset(path)
        Issue.record("the reset replaced a file")
      } catch {
        #expect(error.description.contains("move one of them away"))
      }
      #expect(try FileStore.check(path).epoch == epoch)
    }
  }

  @Test("A path in a missing directory, and the path of a directory, are refused")
  func noPlace() async throws {
    try await StoreFolder.with { folder async throws in
      #expect(try #require(Self.problem(folder.path("missing/state.db"))).contains("No such file or directory"))
      #expect(Self.problem(folder.path("")) != nil)
    }
  }

  @Test("The log is copied into the file under load, and stays short")
  func checkpoints() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      let store = try Self.open(path)
      try await StoreFixture.run(store) { fixture async throws in
        for round in 0..<40 {
          _ = try await fixture.simultaneously(250) { number in
            try await Self.putClaim(round * 250 + number, in: store)
          }
        }
        // The operations of a round arrive during a copy after the round before, if the copy takes so long.
        for round in 0..<1_000 where store.checkpoints.longestWait == 0 {
          _ = try await fixture.simultaneously(250) { number in
            let claim = round % 40 * 250 + number
            _ = try await store.take(.sample(.claim, claim), now: 0)
            return try await Self.putClaim(claim, in: store)
          }
        }
      }
      #expect(store.checkpoints.count > 0)
      #expect(store.checkpoints.longestWait > 0)
      let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
      #expect(try #require(log) < 16 << 20)
      try await Self.closed(store)
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  @Test("The charge for an entry covers its bytes in the file", arguments: [StoreKind.family, .claim, .answer, .state])
  func bytes(kind: StoreKind) async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      let charged = Charged()
      try await Self.run(path, size: 256 << 20) { store async throws in
        let local = StoreHolder(address: "127.0.0.1", isLoopback: true)
        let value = kind == .answer ? [UInt8](repeating: 1, count: 3_000) : kind.sample()
        let count = kind == .answer ? 1_000 : 10_000
        let results = store.store
        for start in stride(from: 0, to: count, by: 500) {
          _ = try await store.simultaneously(500) { number in
            try await results.put(.sample(kind, start + number), value, holder: local, expiry: 1_000, now: 0)
          }
        }
        charged.set(try store.usage(kind).bytes)
      }
      let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
      #expect(size <= charged.bytes * 11 / 10 + (64 << 10), "\(size) of \(charged.bytes)")
    }
  }

  @Test("A call outside of a worker fails with a message that says so")
  func outside() async throws {
    try await StoreFolder.with { folder in
      let store = try Self.open(folder.path("state.db"))
      await #expect(throws: StoreError.unavailable("the store was used outside of a worker")) {
        try await store.get(.sample(.claim), now: 0)
      }
      try await Self.closed(store)
    }
  }
}

/// A number that a test sets on a worker and reads elsewhere.
private final class Charged: Sendable {
  private let value = Mutex(0)

  var bytes: Int { value.withLock { $0 } }
  func set(_ bytes: Int) { value.withLock { $0 = bytes } }
}
