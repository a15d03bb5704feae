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

  /// Runs a program and returns its exit code, its output and its errors.
  private static func run(_ path: String, _ arguments: [String]) throws -> Program.Outcome {
    let (process, output, errors) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let problem = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Program.Outcome(code: process.terminationStatus, output: text, errors: problem)
  }

  /// Returns the line about a signal that came while the process waited in a system call. At another moment, the process
  /// may be in a library that keeps no frames, so that the line names no caller.
  private static func lineOfWaiting() throws -> String {
    for _ in 0..<50 {
      let folder = try Folder()
      let child = try serve(folder)
      _ = try child.lines(until: " serves ")
      child.signal(SIGILL)
      _ = child.wait()
      let line = try #require(fatalLines(child).first)
      if line.contains("outside of the program"), line.contains("called from") { return line }
    }
    Issue.record("in 50 processes, the signal came at no system call with a caller in the program")
    throw Interrupted()
  }

  private struct Interrupted: Error {}

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
      /proofgate: fatal: signal (\d+) \((\w+)\) (at 0x\w+|outside of the program), build [0-9a-f]{40}(, called from 0x.*)?/
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

  @Test("deploy/locate turns the line into functions and files, and refuses the symbols of another build")
  func locate() throws {
    let line = try Self.lineOfWaiting()
    let command = Repository.root.appendingPathComponent("deploy/locate").path
    let symbols = ["--symbols", try Program.url.path]
    let located = try Self.run(command, symbols + ["2026-11-21T08:30:00Z gateway " + line])
    #expect(located.code == 0, "\(located.errors)")
    #expect(located.output.contains("/Sources/") && !located.output.contains("??"), "\(line): \(located.output)")
    let build = try #require(line.firstMatch(of: /build ([0-9a-f]+)/)).1
    // The line about a signal in a function of C that a function of Swift calls.
    let table = try Self.run("/usr/bin/env", ["nm", try Program.url.path]).output.split(separator: "\n")
    let addresses = ["cl_epoll_wait", "$s7Reactor9EventLoopC3runyyAA6WorkerCF"].compactMap { name in
      table.first { $0.hasSuffix(" T \(name)") }.flatMap { Int($0.prefix { $0 != " " }, radix: 16) }
    }
    try #require(addresses.count == 2)
    let (callee, caller) = (String(addresses[0], radix: 16), String(addresses[1] + 1, radix: 16))
    let known = try Self.run(
      command,
      symbols + [
        "proofgate: fatal: signal 11 (SIGSEGV) at 0x\(callee), build \(build), request a-b_c.d~+/=:, "
          + "called from 0x\(caller)"
      ])
    let places = known.output.split(separator: "\n")
    #expect(places.count == 2, "\(known.output)\(known.errors)")
    #expect(places.first?.contains(/at 0x[0-9a-f]+: cl_epoll_wait at .*\/Sources\/CLinux\/CLinux.c:\d/) == true)
    #expect(places.last?.contains(/called from 0x.*EventLoop.*run.* at .*\/Reactor\/EventLoop.swift:\d/) == true)
    let other = line.replacing(build, with: String(build.reversed()))
    let refused = try Self.run(command, symbols + [other])
    #expect(refused.code == 1 && refused.output.isEmpty && refused.errors.contains("is of build \(build), the line of"))
  }
}
