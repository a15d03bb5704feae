import DiceTestSupport
import DiskStore
import Foundation
import OAuth
import RedisTestSupport
import SQLite
import Stores
import Testing
import Time

/// The result of a start with the log of a process that was killed, or of a machine that lost its power.
@Suite("The log of a file store")
struct LogDamageTests {
  /// The files of a store at one moment; `nil` for a file that does not exist.
  private struct Image {
    var database: [UInt8]
    var log: [UInt8]?
    var position: [UInt8]?

    init(_ path: String) throws {
      func content(_ path: String) throws -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      }
      database = try #require(try content(path))
      log = try content(path + "-wal")
      position = try content(path + "-commit")
    }

    func write(_ path: String) throws {
      for (path, content) in [(path, database), (path + "-wal", log), (path + "-commit", position)] {
        try? FileManager.default.removeItem(atPath: path)
        if let content { try Data(content).write(to: URL(fileURLWithPath: path)) }
      }
    }

    func equals(_ other: Image) -> Bool { database == other.database && log == other.log && position == other.position }
  }

  /// The result of a start.
  private enum Start: Equatable {
    /// The epoch continues, and all claims are in the store.
    case complete
    /// The epoch continues, and claims are missing.
    case incomplete
    case newEpoch
    case refused
  }

  private static let frame = 24 + 1_024
  private static let claims = 40

  /// Makes `claims` commits. Returns the files as a kill would leave them, after each of the last commits.
  private static func killed(_ folder: StoreFolder, keeping kept: Int = 1) async throws -> (images: [Image], EpochID) {
    let path = folder.path("state.db")
    let store = try FileStore(path: path, size: 4 << 20)
    let images = Images()
    try await StoreFixture.run(store) { store async throws in
      for number in 0..<claims {
        try await store.add(.sample(.claim, number), .sample(number))
        if number >= claims - kept { images.add(try Image(path)) }
      }
    }
    store.close()
    let isClosed = try await StoreOnWorkers.poll { store.isClosed }
    try #require(isClosed)
    return (images.all, store.epoch)
  }

  private final class Images: @unchecked Sendable {
    private(set) var all: [Image] = []
    func add(_ image: Image) { all.append(image) }
  }

  /// Checks and starts a store with these files. The check has to say what the start finds, and to change nothing.
  private static func start(
    _ folder: StoreFolder, _ image: Image, _ epoch: EpochID, claims: Int = claims, _ comment: Comment
  ) async throws -> Start {
    let path = folder.path("image.db")
    try image.write(path)
    var found: FileStoreError?
    do throws(FileStoreError) { _ = try FileStore.check(path) } catch { found = error }
    #expect(try Image(path).equals(image), comment)
    do {
      let store = try FileStore(path: path, size: 4 << 20)
      #expect((store.epoch != epoch) == (store.newEpochNotice != nil), comment)
      #expect((found != nil) == (store.newEpochNotice != nil), comment)
      let missing = Images()
      try await StoreFixture.run(store) { store async throws in
        for number in 0..<claims where try await store.get(.sample(.claim, number)) == nil { missing.add(image) }
      }
      store.close()
      let isClosed = try await StoreOnWorkers.poll { store.isClosed }
      try #require(isClosed)
      // The next start finds nothing, whatever this one has found.
      #expect(try FileStore.check(path).epoch == store.epoch, comment)
      if store.newEpochNotice != nil { return .newEpoch }
      return missing.all.isEmpty ? .complete : .incomplete
    } catch let error as FileStoreError {
      #expect(error.isDamage && found?.isDamage == true, comment)
      return .refused
    }
  }

  @Test("After a kill the epoch continues, with all entries")
  func intact() async throws {
    try await StoreFolder.with { folder in
      let (images, epoch) = try await Self.killed(folder)
      #expect(try await Self.start(folder, images[0], epoch, "killed") == .complete)
    }
  }

  @Test("A log that was removed, emptied, zeroed, cut anywhere or replaced by an older one begins a new epoch")
  func replaced() async throws {
    try await StoreFolder.with { folder in
      let (images, epoch) = try await Self.killed(folder, keeping: 2)
      let (older, image) = (images[0], images[1])
      let log = try #require(image.log)
      var random = SeededGenerator(seed: 1)
      var damaged: [(String, [UInt8]?)] = [
        ("removed", nil), ("empty", []), ("zeroed", [UInt8](repeating: 0, count: log.count)), ("older", older.log),
        ("header alone", Array(log.prefix(32))),
      ]
      for _ in 0..<20 {
        let end = Int.random(in: 1..<log.count, using: &random)
        damaged.append(("cut at \(end)", Array(log.prefix(end))))
        let frames = Int.random(in: 1..<log.count / Self.frame, using: &random)
        damaged.append(("cut after \(frames) frames", Array(log.prefix(32 + frames * Self.frame))))
      }
      for (name, log) in damaged {
        var image = image
        image.log = log
        let start = try await Self.start(folder, image, epoch, "\(name)")
        #expect(start == .newEpoch || start == .refused, "\(name): \(start)")
      }
    }
  }

  @Test("A bit that was flipped in the log begins a new epoch, or changes nothing")
  func flipped() async throws {
    try await StoreFolder.with { folder in
      let (images, epoch) = try await Self.killed(folder)
      let log = try #require(images[0].log)
      var random = SeededGenerator(seed: 2)
      let frames = log.count / Self.frame
      // A few bytes of the header, and a byte in each other frame, in its header or its page.
      var places = (0..<8).map { _ in Int.random(in: 0..<32, using: &random) }
      for index in stride(from: 0, to: frames, by: 2) {
        let length = Bool.random(using: &random) ? 24 : Self.frame
        places.append(32 + index * Self.frame + Int.random(in: 0..<length, using: &random))
      }
      var found = 0
      for place in places {
        var image = images[0]
        image.log?[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        let start = try await Self.start(folder, image, epoch, "byte \(place)")
        #expect(start != .incomplete, "byte \(place)")
        if start != .complete { found += 1 }
      }
      // The last frames are from the time before SQLite began to overwrite the log.
      #expect(found > places.count / 2)
    }
  }

  @Test("Without the position of the latest commit, a flipped bit in front of the last two commits begins a new epoch")
  func withoutPosition() async throws {
    try await StoreFolder.with { folder in
      let (images, epoch) = try await Self.killed(folder, keeping: 3)
      let frames = images.map { $0.position?.last.map { Int($0) } ?? 0 }
      // Fewer than 256 frames, so the last byte is their number.
      try #require(frames[0] > 20 && frames[0] < frames[2] && (images[2].position?[14] ?? 1) == 0)
      var random = SeededGenerator(seed: 3)
      for index in stride(from: 0, to: frames[0], by: 3) {
        let place = 32 + index * Self.frame + Int.random(in: 8..<Self.frame, using: &random)
        var image = images[2]
        image.position = nil
        image.log?[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        let start = try await Self.start(folder, image, epoch, "byte \(place)")
        #expect(start == .newEpoch || start == .refused, "byte \(place): \(start)")
      }
    }
  }

  @Test("A last commit that was written in part, as a kill or a power cut leaves it, keeps the epoch and all entries")
  func torn() async throws {
    try await StoreFolder.with { folder in
      let (images, epoch) = try await Self.killed(folder, keeping: 2)
      let (before, after) = (images[0], images[1])
      let (old, new) = (try #require(before.log), try #require(after.log))
      var random = SeededGenerator(seed: 4)
      for round in 0..<40 {
        // Any sectors of the last commit, whose sync had not returned, and the position of any earlier moment.
        var image = before
        var log = old
        for start in stride(from: 0, to: new.count, by: 512) where Bool.random(using: &random) {
          let sector = new[start..<min(start + 512, new.count)]
          if log.count < sector.endIndex { log += [UInt8](repeating: 0, count: sector.endIndex - log.count) }
          log.replaceSubrange(sector.indices, with: sector)
        }
        image.log = log
        if round % 3 == 0 { image.position = nil }
        let start = try await Self.start(folder, image, epoch, claims: Self.claims - 1, "round \(round)")
        #expect(start == .complete, "round \(round)")
      }
      // A process that is killed has written a part of the bytes.
      for _ in 0..<20 where new.count > old.count {
        var image = before
        image.log = Array(new.prefix(Int.random(in: old.count...new.count, using: &random)))
        #expect(try await Self.start(folder, image, epoch, claims: Self.claims - 1, "part") == .complete)
      }
    }
  }

  @Test("The log of another store has no effect on a file that was closed")
  func foreign() async throws {
    try await StoreFolder.with { folder in
      let (images, _) = try await Self.killed(folder)
      let path = folder.path("other.db")
      let store = try FileStore(path: path)
      store.close()
      let isClosed = try await StoreOnWorkers.poll { store.isClosed }
      try #require(isClosed)
      try Data(try #require(images[0].log)).write(to: URL(fileURLWithPath: path + "-wal"))
      let opened = try FileStore(path: path)
      #expect(opened.epoch == store.epoch)
      #expect(opened.newEpochNotice == nil)
      #expect(opened.usage.allSatisfy { $0.entries == 0 })
      opened.close()
    }
  }

  @Test("A copy of the file without the log of a process that was killed begins a new epoch")
  func copy() async throws {
    try await StoreFolder.with { folder in
      let (images, epoch) = try await Self.killed(folder)
      var image = images[0]
      (image.log, image.position) = (nil, nil)
      #expect(try await Self.start(folder, image, epoch, "copy") == .newEpoch)
    }
  }

  @Test("A file of version 2, whose clean end left no mark, keeps its epoch")
  func version2() async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      let (_, epoch) = try await Self.killed(folder)
      do { try Database(path: path).run("PRAGMA user_version=2") }
      #expect(try await Self.start(folder, Image(path), epoch, "version 2") == .complete)
    }
  }
}
