// The only place that uses all of Foundation: its `Process` starts the built binary.
import Foundation
import Testing

/// The built binary, run as a child process.
enum Program {
  struct Outcome {
    let code: Int32
    let output: String
    let errors: String

    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
  }

  /// The binary next to the test runner, for any scratch path.
  static var url: URL {
    get throws {
      let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      return URL(fileURLWithPath: runner).deletingLastPathComponent().appendingPathComponent("proofgate")
    }
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) throws -> Outcome {
    try run(arguments, input: input, environment: environment)
  }

  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Outcome {
    try run(arguments, bytes: Array(input.utf8), environment: environment)
  }

  /// Runs the program to its end, with any bytes as standard input.
  static func run(_ arguments: [String], bytes: [UInt8], environment: [String: String] = [:]) throws -> Outcome {
    let child = try Child(arguments, environment: environment)
    child.feed(bytes)
    let output = child.readOutput()
    let errors = child.readErrors()
    return Outcome(code: child.wait(), output: output, errors: errors)
  }
}

/// A child process with pipes.
final class Child {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors = Pipe()
  private var unread = ""
  private let watchdog: DispatchWorkItem

  /// - Parameters:
  ///   - descriptors: The maximum number of open files.
  ///   - launcher: A command that runs the program in its place; the program and its arguments are added to it.
  init(
    _ arguments: [String], environment: [String: String] = [:], descriptors: Int? = nil, launcher: [String] = []
  ) throws {
    if !launcher.isEmpty {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = launcher + [try Program.url.path] + arguments
    } else if let descriptors {
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments =
        [
          "-c", "ulimit -n \(descriptors) && exec \"$0\" \"$@\"", try Program.url.path,
        ] + arguments
    } else {
      process.executableURL = try Program.url
      process.arguments = arguments
    }
    // Memory that a process still holds at its end is no leak, and the search takes the sanitizer longer than the test.
    let own = ["ASAN_OPTIONS": "detect_leaks=0"]
    process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }.merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let identifier = process.processIdentifier
    // A test that waits for output that never comes still ends, and fails. On a busy machine others take minutes.
    watchdog = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 600, execute: watchdog)
  }

  /// Starts the program with no signal blocked. A thread of the tests has blocked most of them, and a child inherits that.
  static func unblocked(_ arguments: [String], environment: [String: String] = [:]) throws -> Child {
    let code =
      "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
    return try Child(arguments, environment: environment, launcher: ["python3", "-c", code])
  }

  deinit {
    watchdog.cancel()
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  var identifier: Int32 { process.processIdentifier }

  func feed(_ bytes: [UInt8]) {
    if !bytes.isEmpty { try? input.fileHandleForWriting.write(contentsOf: Data(bytes)) }
    try? input.fileHandleForWriting.close()
  }

  func signal(_ number: Int32) {
    kill(process.processIdentifier, number)
  }

  func wait() -> Int32 {
    process.waitUntilExit()
    watchdog.cancel()
    return process.terminationStatus
  }

  /// True if a signal has ended the process; then `wait` returns the number of the signal.
  var endedBySignal: Bool { process.terminationReason == .uncaughtSignal }

  /// The rest of standard output.
  func readOutput() -> String {
    String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  /// The rest of standard error.
  func readErrors() -> String {
    unread + String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  /// Reads standard output up to a line that satisfies the condition; nil at its end.
  func outputLine(where isWanted: (String) -> Bool) -> String? {
    var unread = ""
    while true {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      unread += String(decoding: data, as: UTF8.self)
      for line in unread.components(separatedBy: "\n").dropLast() where isWanted(line) { return line }
    }
  }

  /// Reads standard error up to a line that contains `text`, and returns it with all lines before it.
  func lines(until text: String) throws -> [String] {
    try lines { $0.contains(text) }
  }

  /// Reads standard error up to a line that satisfies the condition, and returns it with all lines before it.
  func lines(where isLast: (String) -> Bool) throws -> [String] {
    var lines: [String] = []
    while true {
      if let end = unread.firstIndex(of: "\n") {
        let line = String(unread[..<end])
        unread.removeSubrange(...end)
        lines.append(line)
        if isLast(line) { return lines }
        continue
      }
      let data = errors.fileHandleForReading.availableData
      try #require(!data.isEmpty, "the process ended before the awaited line; it said: \(lines)")
      unread += String(decoding: data, as: UTF8.self)
    }
  }
}

/// A folder that is removed when the object is released.
final class Folder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("proofgate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes a file and returns its path.
  @discardableResult
  func write(_ name: String, _ text: String) throws -> String {
    try text.write(to: url.appendingPathComponent(name), atomically: true, encoding: .utf8)
    return path(name)
  }

  func read(_ name: String) throws -> String {
    try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
  }

  func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
    return try #require(attributes[.posixPermissions] as? Int)
  }
}

/// Files of the repository.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }
}
