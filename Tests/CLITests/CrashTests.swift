import Foundation
import Testing

@Suite("The end of a process by a fatal signal")
struct CrashTests {
  /// The handlers of the Swift runtime write the memory of the process (I-secrets), so the program replaces them.
  private static let environment = ["SWIFT_BACKTRACE": "enable=yes"]

  private static func serve(_ folder: Folder) throws -> Child {
    let path = try folder.write("policy.yaml", try ServedPolicy().text)
    return try Child.unblocked(["serve", "--policy", path, "--log", folder.path("log")], environment: environment)
  }

  /// The lines on standard error since the last read, except the notice about the upstream, at which no server listens.
  private static func fatalLines(_ child: Child) -> [String] {
    child.readErrors().split(separator: "\n").map(String.init).filter { !$0.contains("cannot be reached") }
  }

  @Test(
    "A fatal signal writes one line with its name, the build and the places, and ends the process as it does by default",
    arguments: [
      (SIGILL, "SIGILL"), (SIGSEGV, "SIGSEGV"), (SIGBUS, "SIGBUS"), (SIGFPE, "SIGFPE"), (SIGTRAP, "SIGTRAP"),
      (SIGABRT, "SIGABRT"), (SIGSYS, "SIGSYS"),
    ])
  func line(_ signal: Int32, _ name: String) throws {
    let folder = try Folder()
    let child = try Self.serve(folder)
    _ = try child.lines(until: " serves ")
    child.signal(signal)
    #expect(child.wait() == signal && child.endedBySignal)
    let lines = Self.fatalLines(child)
    #expect(lines.count == 1)
    let line = try #require(lines.first)
    let form =
      /proofgate: fatal: signal (\d+) \((\w+)\) (at 0x\w+|outside of the program), build [0-9a-f]{40}, called from 0x.*/
    let match = try #require(line.wholeMatch(of: form), "\(line)")
    #expect(match.1 == "\(signal)" && match.2 == name)
  }

  @Test("Several fatal signals at once write one line")
  func together() throws {
    let folder = try Folder()
    let child = try Self.serve(folder)
    _ = try child.lines(until: " serves ")
    for signal in [SIGILL, SIGSEGV, SIGBUS, SIGFPE] { child.signal(signal) }
    #expect([SIGILL, SIGSEGV, SIGBUS, SIGFPE].contains(child.wait()) && child.endedBySignal)
    let lines = Self.fatalLines(child)
    #expect(lines.count == 1 && lines.first?.hasPrefix("proofgate: fatal: signal ") == true, "\(lines)")
  }
}
