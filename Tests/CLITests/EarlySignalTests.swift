import Foundation
import Testing

@Suite("Signals during the start")
struct EarlySignalTests {
  /// Waits until the process handles fatal signals, which is the first thing that it does.
  private static func waitForBegin(_ process: Int32) throws {
    while true {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      // No sanitizer handles SIGSYS.
      if try contains(SIGSYS, "SigCgt", in: status) { return }
      try #require(!status.contains("State:\tZ"))
    }
  }

  /// Returns true if a set of signals in the status of a process has the signal.
  private static func contains(_ signal: Int32, _ set: String, in status: String) throws -> Bool {
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(set + ":\t") })
    let bits = try #require(UInt64(line.dropFirst(set.count + 2), radix: 16))
    return bits & 1 << UInt64(signal - 1) != 0
  }

  @Test("A signal that the gateway handles does not end it while it starts", arguments: [SIGHUP, SIGUSR1, SIGTERM])
  func early(_ signal: Int32) throws {
    for _ in 0..<10 {
      let folder = try Folder()
      let path = try folder.write("policy.yaml", try ServedPolicy().text)
      let child = try Child.unblocked(["serve", "--policy", path, "--log", folder.path("log")])
      try Self.waitForBegin(child.identifier)
      child.signal(signal)
      _ = try child.lines(until: " serves ")
      // A write beyond the limit of a file's size then fails, and does not end the process.
      let status = try String(contentsOfFile: "/proc/\(child.identifier)/status", encoding: .utf8)
      #expect(try Self.contains(SIGXFSZ, "SigIgn", in: status))
      if signal != SIGTERM { child.signal(SIGTERM) }
      #expect(child.wait() == 0 && !child.endedBySignal)
    }
  }

  @Test("A signal ends a command that does not handle it")
  func others() throws {
    // A shell lets its background jobs ignore SIGINT, and their children inherit this.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] where try !Self.contains(signal, "SigIgn", in: status) {
      // Reads standard input, which does not end.
      let child = try Child.unblocked(["check", "-"])
      try Self.waitForBegin(child.identifier)
      child.signal(signal)
      #expect(child.wait() == signal && child.endedBySignal)
    }
  }
}
