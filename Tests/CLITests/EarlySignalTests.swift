import Foundation
import Testing

@Suite("Signals during the start")
struct EarlySignalTests {
  /// Waits until the process handles fatal signals, which is the first thing that it does.
  private static func waitForBegin(_ process: Int32) throws {
    while true {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let caught = try #require(status.firstMatch(of: /SigCgt:\s*([0-9a-f]+)/)).1
      // No sanitizer handles SIGSYS.
      if let bits = UInt64(caught, radix: 16), bits & 1 << UInt64(SIGSYS - 1) != 0 { return }
      try #require(!status.contains("State:\tZ"))
    }
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
      if signal != SIGTERM { child.signal(SIGTERM) }
      #expect(child.wait() == 0 && !child.endedBySignal)
    }
  }

  @Test("A signal ends a command that does not handle it")
  func others() throws {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] {
      // Reads standard input, which does not end.
      let child = try Child.unblocked(["check", "-"])
      try Self.waitForBegin(child.identifier)
      child.signal(signal)
      #expect(child.wait() == signal && child.endedBySignal)
    }
  }
}
