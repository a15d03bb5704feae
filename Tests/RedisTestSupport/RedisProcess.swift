// The whole of Foundation, because its `Process` starts the server.
public import Foundation
public import Policy
import PortTestSupport
import Synchronization
import Testing

/// A process of redis-server or redis-sentinel that a test starts, on a free port of loopback.
public final class RedisProcess {
  /// The programs that `make deps-test` installs.
  public enum Program: String {
    /// A server.
    case server = "redis-server"
    /// A sentinel.
    case sentinel = "redis-sentinel"
  }

  /// The port on 127.0.0.1.
  public var port: Int { reserved.number }
  /// The path of its Unix socket. A sentinel has no socket there.
  public let socket: String
  /// The folder of its files, which is removed with the object.
  public let folder: URL
  private let program: Program
  private let arguments: [String]
  /// Keeps the port while the process is away.
  private let reserved: ReservedPort
  private var running: Running?

  private struct Running {
    let process: Process
    let input: Pipe
    let identifier: pid_t
  }

  /// Starts a server without persistence and waits until it accepts connections.
  ///
  /// - Parameters:
  ///   - options: more options of the command line, such as `--requirepass`, `secret`.
  ///   - configuration: the lines of its configuration file, in which a sentinel keeps its state.
  public init(_ program: Program = .server, options: [String] = [], configuration: String? = nil) throws {
    self.program = program
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("proofgate-redis-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    reserved = try ReservedPort()
    socket = folder.appendingPathComponent("redis.sock").path
    var arguments: [String] = []
    if let configuration {
      let file = folder.appendingPathComponent("redis.conf")
      try configuration.write(to: file, atomically: true, encoding: .utf8)
      arguments.append(file.path)
    }
    arguments += ["--port", "\(reserved.number)", "--bind", "127.0.0.1", "--dir", folder.path]
    if program == .server {
      arguments += ["--unixsocket", socket, "--save", "", "--loglevel", "warning"]
      // By default a primary waits 5 s for more replicas before it sends its data.
      arguments += ["--repl-diskless-sync-delay", "0"]
    }
    self.arguments = arguments + options
    try start()
  }

  /// The settings of a store that uses this server.
  public var settings: RedisSettings { RedisSettings(.server(SocketAddress(host: "127.0.0.1", port: port))) }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// A server for the tests of this process that need no server of their own. Each test uses its own key prefix.
  public static let shared = Result { try Shared() }

  /// A server that exists as long as the process.
  public final class Shared: Sendable {
    /// The settings of a store that uses the server.
    public let settings: RedisSettings
    private let server: Mutex<RedisProcess>

    init() throws {
      let server = try RedisProcess()
      settings = server.settings
      self.server = Mutex(server)
    }

    /// Shortens the time of each entry below the key prefix, as if this many seconds had passed for it.
    public func pass(seconds: Int, below prefix: String) throws {
      let script = """
        for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '?:*')) do
          local left = redis.call('PTTL', key)
          if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[2]) end
        end
        return 'passed'
        """
      let answer = try server.withLock { try $0.command("EVAL", script, "0", prefix, "\(seconds * 1_000)") }
      try #require(answer == "passed", "\(answer)")
    }
  }

  /// Starts the process, also after `kill` and on the same port, and waits until it accepts connections.
  public func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The shell ends the server when its own input ends, which happens at the latest when the tests end.
    process.arguments = [
      "-c", "\"$@\" >/dev/null 2>&1 & echo $!; cat >/dev/null; kill -KILL $! 2>/dev/null; wait", "sh",
      "/usr/bin/\(program.rawValue)",
    ]
    process.arguments? += arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    running = Running(process: process, input: input, identifier: try RedisProcess.number(output))
    let end = ContinuousClock.now + .seconds(60)
    repeat {
      let answer = command("PING", orElse: "")
      if answer.contains("PONG") || answer.contains("NOAUTH") { return }
      usleep(10_000)
    } while ContinuousClock.now < end
    Issue.record("\(program.rawValue) did not start on port \(port)")
  }

  private static func number(_ output: Pipe) throws -> pid_t {
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// Ends the process like a crash.
  public func kill() {
    guard let running else { return }
    _ = Glibc.kill(running.identifier, SIGKILL)
    try? running.input.fileHandleForWriting.close()
    running.process.waitUntilExit()
    self.running = nil
  }

  /// Stops the process; its connections stay open.
  public func freeze() { if let running { _ = Glibc.kill(running.identifier, SIGSTOP) } }

  /// Continues the process after `freeze`.
  public func thaw() { if let running { _ = Glibc.kill(running.identifier, SIGCONT) } }

  /// Executes a command with `redis-cli` and returns its output without the last line end.
  @discardableResult
  public func command(_ words: String..., password: String? = nil) throws -> String {
    try execute(words, password: password)
  }

  /// Executes a command with `redis-cli` and returns its output without the last line end.
  public func command(_ words: [String]) throws -> String { try execute(words, password: nil) }

  private func command(_ word: String, orElse other: String) -> String {
    (try? execute([word], password: nil)) ?? other
  }

  private func execute(_ words: [String], password: String?) throws -> String {
    let client = Process()
    client.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
    client.arguments = ["-p", "\(port)"] + (password.map { ["-a", $0, "--no-auth-warning"] } ?? []) + words
    let output = Pipe()
    client.standardOutput = output
    client.standardError = output
    try client.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    client.waitUntilExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}
