import Foundation
import Reactor
import Synchronization
import Telemetry
import Testing
import Time

@testable import AccessLog

/// The path of lines from a worker to a destination.
@Suite("The writer of the access log")
struct WriterTests {
  /// A log with one worker.
  final class Bench {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString)")
    let metrics = MetricsRegistry(workers: 1, policyVersion: "test")
    let told = Told()
    let log: AccessLog

    final class Told: Sendable {
      let texts = Mutex<[String]>([])
    }

    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      log = AccessLog(workers: 1, metrics: metrics) { [told] text in told.texts.withLock { $0.append(text) } }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func text(_ name: String) -> String {
      (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
    }

    func channel() throws -> AccessChannel {
      try #require(log.channel(worker: 0, AccessLogFormat(.json(AccessFields([.path])))))
    }

    func append(_ numbers: Range<Int>, to channel: AccessChannel) {
      let entry = AccessEntry()
      for number in numbers {
        entry.begin(at: 0)
        entry.setPath("/\(number)".utf8.span)
        channel.append(entry)
      }
    }

    var dropped: Int { Int(metrics.snapshot().accessLinesDropped) }

    func eventually(_ what: Comment, _ condition: () -> Bool) {
      let end = SystemClock.monotonicTime() + 60_000
      while !condition() {
        guard SystemClock.monotonicTime() < end else {
          Issue.record("never: \(what)")
          return
        }
        usleep(1_000)
      }
    }

    func stop() async -> Bool {
      await log.stop(WaitClock(now: SystemClock.monotonicTime, pause: { usleep(UInt32($0.count) * 1_000) }))
    }
  }

  private static func lines(_ numbers: Range<Int>) -> String {
    numbers.map { #"{"v":1,"event":"access","path":"/\#($0)"}"# + "\n" }.joined()
  }

  @Test("All lines reach the file in their order, and the end waits for the last")
  func file() async throws {
    let bench = try Bench()
    try bench.log.use(try AccessLogOutput(.file(bench.path("log"))))
    bench.append(0..<1_000, to: try bench.channel())
    #expect(await bench.stop())
    #expect(bench.text("log") == Self.lines(0..<1_000))
    #expect(bench.dropped == 0)
  }

  @Test("Lines before a reopening belong to the file that was moved away, and later ones to the new file")
  func reopened() async throws {
    let bench = try Bench()
    try bench.log.use(try AccessLogOutput(.file(bench.path("log"))))
    let channel = try bench.channel()
    bench.append(0..<10, to: channel)
    try FileManager.default.moveItem(atPath: bench.path("log"), toPath: bench.path("old"))
    bench.log.reopen()
    bench.eventually("the new file") { FileManager.default.fileExists(atPath: bench.path("log")) }
    bench.append(10..<20, to: channel)
    #expect(await bench.stop())
    #expect(bench.text("old") == Self.lines(0..<10))
    #expect(bench.text("log") == Self.lines(10..<20))
  }

  @Test("A reader that does not read blocks no worker: lines are dropped and counted, and the others arrive whole")
  func blockedReader() async throws {
    let bench = try Bench()
    #expect(unsafe mkfifo(bench.path("fifo"), 0o600) == 0)
    try bench.log.use(try AccessLogOutput(.file(bench.path("fifo"))))
    // Four times the ring and the pipe. This returns although no process reads.
    bench.append(0..<100_000, to: try bench.channel())
    let dropped = bench.dropped
    #expect(dropped > 10_000)
    bench.eventually("the notice") { bench.told.texts.withLock { !$0.isEmpty } }
    let told = bench.told.texts.withLock { Set($0) }
    let notice = "does not accept lines fast enough; further ones are dropped and counted"
    #expect(told == ["the access log \(bench.path("fifo")) \(notice)"])
    let reader = try #require(FileHandle(forReadingAtPath: bench.path("fifo")))
    var text = Data()
    while text.count(where: { $0 == UInt8(ascii: "\n") }) < 100_000 - dropped {
      text += reader.availableData
    }
    #expect(bench.dropped == dropped)
    let arrived = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(arrived.allSatisfy { $0.hasPrefix(#"{"v":1,"event":"access","path":"/"#) && $0.hasSuffix("\"}") })
    #expect(await bench.stop())
  }

  @Test("A destination whose reader does not read can be replaced")
  func replaced() async throws {
    let bench = try Bench()
    #expect(unsafe mkfifo(bench.path("fifo"), 0o600) == 0)
    try bench.log.use(try AccessLogOutput(.file(bench.path("fifo"))))
    let channel = try bench.channel()
    bench.append(0..<100_000, to: channel)
    try bench.log.use(try AccessLogOutput(.file(bench.path("log"))))
    bench.eventually("the lines of the ring") { bench.text("log").hasSuffix("}\n") || bench.dropped > 99_000 }
    bench.append(200_000..<200_010, to: channel)
    #expect(await bench.stop())
    #expect(bench.text("log").hasSuffix(Self.lines(200_000..<200_010)))
  }

  @Test("A destination that fails loses lines, which are counted, and the operator gets the reason")
  func full() async throws {
    let bench = try Bench()
    try bench.log.use(try AccessLogOutput(.file("/dev/full")))
    bench.append(0..<10, to: try bench.channel())
    bench.eventually("the loss") { bench.dropped == 10 }
    #expect(await bench.stop())
    let told = bench.told.texts.withLock { $0 }
    #expect(
      told.first
        == "the access log /dev/full cannot be written: No space left on device; its lines are dropped and counted")
  }

  @Test("A log that was turned off has no channel, and can be turned on again")
  func off() async throws {
    let bench = try Bench()
    #expect(bench.log.channel(worker: 0, AccessLogFormat(.combined)) == nil)
    try bench.log.use(try AccessLogOutput(.file(bench.path("log"))))
    bench.append(0..<3, to: try bench.channel())
    try bench.log.use(nil)
    #expect(bench.log.channel(worker: 0, AccessLogFormat(.combined)) == nil)
    bench.eventually("the lines") { bench.text("log") == Self.lines(0..<3) }
    try bench.log.use(try AccessLogOutput(.file(bench.path("other"))))
    bench.append(3..<6, to: try bench.channel())
    #expect(await bench.stop())
    #expect(bench.text("log") == Self.lines(0..<3))
    #expect(bench.text("other") == Self.lines(3..<6))
  }

  @Test("A path that cannot be opened is an error")
  func unwritable() {
    #expect(throws: IOError.self) { try AccessLogOutput(.file("/no/such/folder/log")) }
    #expect(throws: IOError.self) { try AccessLogOutput(.datagramSocket("/no/such/socket")) }
  }
}
