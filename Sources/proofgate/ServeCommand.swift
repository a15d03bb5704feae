import ArgumentParser
import FoundationEssentials
import PolicyFile
import Reactor
import Sealing

/// `proofgate serve`: the gateway itself.
struct ServeCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "serve", abstract: "Run the gateway.",
      discussion: """
        SIGHUP reloads the policy and its keys and opens the log file anew; a policy with errors is reported and the \
        running one stays. SIGUSR1 only opens the log file anew. SIGTERM and SIGINT drain; a second one ends at once.
        """)
  }

  @Argument(help: ArgumentHelp("The policy.", valueName: "policy"))
  var file: String?

  @Option(name: .customLong("policy"), help: ArgumentHelp("The policy, in another way to write it.", valueName: "file"))
  var policies: [String] = []

  @Option(help: ArgumentHelp("Where the decision log goes; - is standard output.", valueName: "file"))
  var log = "-"

  /// The one policy that the arguments name.
  private var policy: String? {
    let named = (file.map { [$0] } ?? []) + policies
    return named.count == 1 ? named.first : nil
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
    try MainLoop().run { worker, signals in
      await ServeCommand.serve(source, signals, log: log, on: worker)
    }
  }

  private static func serve(
    _ source: PolicySource, _ signals: Signals, log: String, on worker: isolated Worker
  ) async -> ExitCode {
    let service: Service
    switch source.load() {
    case .success(let configuration):
      for line in configuration.warnings { Console.write(line) }
      // Nobody else keeps it: a reload ends its life.
      service = Service(worker.poller, source, configuration, log: LogWriter.destination(log))
    case .failure(let failure):
      for line in failure.lines { Console.write(line) }
      return failure.code
    }
    return await service.run(signals)
  }
}

/// Where the policy comes from, at start and on every reload.
struct PolicySource: Sendable {
  let path: String
  let environment: [String: String]
  private let ephemeral = KeyRing.ephemeral(now: Int64(Clock.realSeconds()))

  init(path: String, environment: [String: String]) {
    self.path = path
    self.environment = environment
  }

  /// Blocks.
  func load() -> Result<Configuration, Configuration.Failure> {
    Configuration.load(path, environment: environment, ephemeral: ephemeral)
  }
}
