import ClientTestSupport
import Foundation
import HTTP
import Reactor
import Synchronization
import Telemetry
import Testing
import Time

@testable import proofgate

@Suite("Standard error and the end of the log")
struct ConsoleTests {
  @Test("SIGTERM ends a gateway whose standard error is full and not read")
  func unread() async throws {
    let folder = try Folder()
    let served = try ServedPolicy()
    try folder.write("policy.yaml", served.text)
    let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    // One line for each client, far more than a pipe can hold.
    let clients = (0..<2_000).map { "  - { id: c\($0), type: publik, application: native, redirect_uris: [a.b:/c] }\n" }
    try folder.write("policy.yaml", served.text + clients.joined())
    child.signal(SIGHUP)
    // The admin listener shows that the reload was refused, because the test does not read standard error.
    var refused = false
    for _ in 0..<2_400 where !refused {
      let text = Fetch.text(try await Fetch.get(served.adminPort, "/metrics"))
      refused = text.contains("proofgate_policy_reloads_total{result=\"failed\"} 1")
      try await Task.sleep(for: .milliseconds(25))
    }
    #expect(refused)
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("Lines above the limit of the queue are dropped and counted, and no line waits for the reader")
  func queue() throws {
    let (entered, mayGoOn) = (try ThreadSignal(), try ThreadSignal())
    let written = Mutex("")
    let queue = ConsoleQueue { text in
      entered.signal()
      mayGoOn.wait()
      written.withLock { $0 += text }
    }
    queue.append("first\n")
    entered.wait()
    let line = String(repeating: "x", count: 1_023) + "\n"
    for _ in 0..<1_500 { queue.append(line) }
    #expect(!queue.isEmpty)
    mayGoOn.signal()
    entered.wait()
    mayGoOn.signal()
    for _ in 0..<60_000 where !queue.isEmpty { usleep(1_000) }
    #expect(queue.isEmpty)
    let lines = written.withLock { $0 }.split(separator: "\n")
    #expect(lines.first == "first")
    #expect(lines.count == 1 + 1_024 + 1)
    #expect(lines.last == "proofgate: warning: 476 lines were lost because standard error was not read")
  }

  @Test("The wait for the end of the log is limited by the clock, even if each pause takes longer than requested")
  func logEnd() async throws {
    // The writer's thread was never started, so the log is never written.
    let writer = try LogWriter(workers: 1, metrics: MetricsRegistry(workers: 1, policyVersion: "test"))
    let time = Mutex<MonotonicTime>(0)
    await writer.stop(
      WaitClock(now: { time.withLock { $0 } }, pause: { asked in time.withLock { $0 += asked * 3 } }))
    #expect((5_000..<5_100).contains(time.withLock { $0 }))
  }

  @Test("A log that is a FIFO without a reader does not block the start, and a later reader gets its lines")
  func fifo() async throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    try folder.write("policy.yaml", policy.text)
    let maker = try Process.run(URL(fileURLWithPath: "/usr/bin/mkfifo"), arguments: [folder.path("log")])
    maker.waitUntilExit()
    #expect(maker.terminationStatus == 0)
    let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    #expect(try await Fetch.get(policy.port, "/authorize?client_id=nobody").status == 400)
    let reader = try #require(FileHandle(forReadingAtPath: folder.path("log")))
    let line = String(decoding: reader.availableData, as: UTF8.self)
    #expect(line.contains("client-unknown") && line.hasSuffix("\n"))
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
