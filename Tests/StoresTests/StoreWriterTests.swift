import Foundation
import OAuth
import Reactor
import RedisTestSupport
import SQLite
import Stores
import Testing
import Time

@testable import DiskStore

/// The thread of a file store while its file cannot be written.
@Suite("A file that cannot be written for a while")
struct StoreWriterTests {
  /// A writer on the thread of the test, whose file a test makes read-only.
  private final class Fixture {
    let file: StoreFile
    let writer: StoreWriter
    let shared = StoreShared()
    let poller: Poller
    let path: String

    init(_ path: String) throws {
      self.path = path
      poller = try #require(Poller.current)
      file = try StoreFile(openingOrCreating: path)
      writer = try StoreWriter(file, size: 1 << 20, entries: [:], shared: shared)
    }

    func setWritable(_ isWritable: Bool) throws {
      try file.database.run("PRAGMA query_only=\(isWritable ? "OFF" : "ON")")
    }

    /// Executes operations, and returns their answers.
    func execute(_ requests: StoreRequest...) async throws -> [Result<StoreRequest.Answer, StoreError>?] {
      let queue = try StoreQueue()
      for request in requests { #expect(queue.add(request)) }
      queue.close()
      writer.run(queue)
      var answers: [Result<StoreRequest.Answer, StoreError>?] = []
      for request in requests where !request.isForLater {
        answers.append(await request.reply.wait(on: poller, until: poller.deadline(after: 0)))
      }
      return answers
    }

    func request(_ operation: StoreRequest.Operation, _ number: Int, isForLater: Bool = false) -> StoreRequest {
      StoreRequest(
        isForLater: isForLater, key: .sample(.family, number), operation: operation, now: 0,
        began: SystemClock.monotonicInstant(), reply: AwaitedValue(on: poller))
    }

    func put(_ number: Int) async throws -> Bool {
      let operation = StoreRequest.Operation.put(StoreKind.family.sample(1), holder: .sample(), expiry: 1_000)
      guard case .success? = try await execute(request(operation, number))[0] else { return false }
      return true
    }

    /// The first byte of the value of an entry, which is the number of the sample.
    func value(_ number: Int) async throws -> UInt8? {
      let answer = try #require(try await execute(request(.get, number))[0])
      guard case .value(let value) = try answer.get() else { return nil }
      return value?.first
    }

    func replaceLater(_ number: Int, _ old: Int, with new: Int) -> StoreRequest {
      let kind = StoreKind.family
      return request(.replace(kind.sample(old), with: kind.sample(new), expiry: 1_000), number, isForLater: true)
    }
  }

  private static func run(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
    try await StoreFolder.with { folder in
      let path = folder.path("state.db")
      try await StoreFixture.run(MemoryStore(size: MemoryStore.minimumSize)) { _ in try await body(path) }
    }
  }

  @Test("Changes for later are made in their order by the first transaction that can write, and reads succeed before")
  func retry() async throws {
    try await Self.run { path in
      let fixture = try Fixture(path)
      #expect(try await fixture.put(1))
      try fixture.setWritable(false)
      _ = try await fixture.execute(fixture.replaceLater(1, 1, with: 2), fixture.replaceLater(1, 2, with: 3))
      #expect(try await fixture.put(2) == false)
      #expect(try await fixture.value(1) == 1)
      try fixture.setWritable(true)
      #expect(try await fixture.put(2))
      #expect(try await fixture.value(1) == 3)
      // They are made once.
      _ = try await fixture.execute(fixture.replaceLater(1, 3, with: 1))
      #expect(try await fixture.put(3))
      #expect(try await fixture.value(1) == 1)
    }
  }

  @Test("Changes for later are made without another operation, and at the latest at the end")
  func alone() async throws {
    try await Self.run { path in
      do {
        let fixture = try Fixture(path)
        #expect(try await fixture.put(1))
        try fixture.setWritable(false)
        _ = try await fixture.execute(fixture.replaceLater(1, 1, with: 2))
        let (queue, shared) = (try StoreQueue(), fixture.shared)
        #expect(shared.meter.activity(epoch: .none).outage != nil)
        try fixture.setWritable(true)
        // The queue is empty and open until the outage has ended.
        shared.reportOutages { _ in queue.close() }
        fixture.writer.run(queue)
        #expect(try await fixture.value(1) == 2)
        try fixture.setWritable(false)
        _ = try await fixture.execute(fixture.replaceLater(1, 2, with: 3))
        try fixture.setWritable(true)
        fixture.writer.end()
      }
      #expect(try await Fixture(path).value(1) == 3)
    }
  }

  @Test("An end with changes that could not be made is reported, and leaves the log for the next start")
  func lost() async throws {
    try await Self.run { path in
      do {
        let fixture = try Fixture(path)
        #expect(try await fixture.put(1))
        try fixture.setWritable(false)
        _ = try await fixture.execute(fixture.replaceLater(1, 1, with: 2))
        let reported = Reported()
        fixture.shared.reportOutages { reported.text = $0 }
        fixture.writer.end()
        #expect(reported.text.contains("ends without 1 change"))
      }
      #expect(FileManager.default.fileExists(atPath: path + "-wal"))
      let fixture = try Fixture(path)
      #expect(fixture.file.damage == nil)
      #expect(try await fixture.value(1) == 1)
    }
  }

  /// Set and read on one thread.
  private final class Reported: @unchecked Sendable {
    var text = ""
  }
}
