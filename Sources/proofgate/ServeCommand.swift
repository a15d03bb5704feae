import ArgumentParser
import ByteText
import FoundationEssentials
import Policy
import PolicyFile
import Reactor
import Sealing

/// The command `proofgate serve`: runs the gateway.
struct ServeCommand: SignalHandlingCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "serve", abstract: "Run the gateway.",
      discussion: """
        SIGHUP reloads the policy and its keys and reopens the log file; a policy with errors is reported and the \
        running one stays in force. `POST /reload` on the admin listener does the same and answers what changed, and \
        --watch reloads when the policy changes. SIGUSR1 only reopens the log file. SIGTERM and SIGINT drain; a second one ends the \
        process at once.
        """)
  }

  @Argument(help: ArgumentHelp("The policy.", valueName: "policy"))
  var file: String?

  @Option(name: .customLong("policy"), help: ArgumentHelp("The policy, in place of the argument.", valueName: "file"))
  var policies: [String] = []

  @Option(help: ArgumentHelp("The file for the decision log; - is standard output.", valueName: "file"))
  var log = "-"

  @Flag(help: "Reload when the policy changes, or a file that it includes or names, such as a secret or a certificate.")
  var watch = false

  /// The path of the policy; `nil` if the arguments contain none or several.
  private var policy: String? {
    let paths = (file.map { [$0] } ?? []) + policies
    return paths.count == 1 ? paths.first : nil
  }

  func validate() throws {
    guard policy == nil else { return }
    throw ValidationError(
      file == nil && policies.isEmpty
        ? "no policy is named; use `proofgate serve POLICY`"
        : "more than one policy is named; `serve` runs one, which can `include` others")
  }

  func run() throws {
    guard let policy else { return }
    let source = PolicySource(path: policy, environment: ProcessInfo.processInfo.environment)
    let log = log
    let watch = watch
    let signals = try MainLoop.signals()
    try MainLoop(accepting: 1).run { worker in
      await ServeCommand.serve(source, signals, log: log, watch: watch, on: worker)
    }
  }

  private static func serve(
    _ source: PolicySource, _ signals: Signals, log: String, watch: Bool, on worker: isolated Worker
  ) async -> ExitCode {
    let service: Service
    // The watch begins before the policy is read, so that it misses no change.
    let policyWatch: PolicyWatch?
    do throws(IOError) {
      policyWatch = watch ? try PolicyWatch(worker.poller, source.path) : nil
    } catch {
      Console.reportError("\(source.path) cannot be watched: \(error)")
      return .systemFailure
    }
    switch source.load() {
    case .success(let configuration):
      Console.use(configuration.policy.gateway.notices)
      for line in configuration.warnings { Console.writeLine(line) }
      // The configuration is passed on and not stored here, so that a reload can free it.
      service = Service(worker.poller, source, configuration, log: LogWriter.destination(log), policyWatch)
    case .failure(let failure):
      for text in ServeCommand.texts(of: failure.findings) { Console.writeColored(text) }
      return failure.code
    }
    return await service.run(signals)
  }

  /// Returns the texts of findings: with excerpts on a terminal, and otherwise one line each, for collectors of logs.
  private static func texts(of findings: [Diagnostic]) -> [String] {
    guard ProcessControl.writesErrorsToTerminal else { return findings.map(\.description.visible) }
    let printer = FindingPrinter(usesColor: TerminalColor.isUsedForErrors, excerpts: SourceExcerpts(findings))
    return findings.map { String(printer.text($0).dropLast()) }
  }
}

/// The path of the policy and the environment variables for it. The policy is read at the start and at every reload.
struct PolicySource: Sendable {
  let path: String
  let environment: [String: String]
  /// The keys for a policy without `sealing_keys`. They exist only in the memory of this process.
  private let ephemeralKeyRing = KeyRing.ephemeral(now: SystemClock.unixTime())

  init(path: String, environment: [String: String]) {
    self.path = path
    self.environment = environment
  }

  /// Reads the policy and its key file. This blocks the calling thread.
  func load() -> Result<Configuration, Configuration.Failure> {
    Configuration.load(path, environment: environment, ephemeralKeyRing: ephemeralKeyRing)
  }
}
