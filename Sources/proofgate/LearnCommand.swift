import ArgumentParser
import PolicyFile
import Reactor
import Rollout

/// The command `proofgate learn`: writes a first policy with the clients of logs.
struct LearnCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "learn", abstract: "Write a first policy with the clients that logs contain.",
      discussion: """
        A log is a decision log of observe mode, or an access log in the combined format of nginx or Apache; it may be \
        compressed with gzip. The policy observes, and its comments name the problems of each client. Review it: a log \
        does not prove which program sent a request.
        """)
  }

  @Argument(help: ArgumentHelp("The logs; - is standard input.", valueName: "log"))
  var logs: [String]

  @Option(help: ArgumentHelp("The URL at which the gateway reaches the server.", valueName: "url"))
  var upstream: String?

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The file to create, for its owner only; never overwrites a file. Default: standard output.", valueName: "file"))
  var output: String?

  func run() throws {
    let traffic = try TrafficReader.read(logs)
    TrafficReader.reportGaps(in: traffic)
    guard !traffic.clients.isEmpty else {
      Console.reportError(
        "no request of a client is in \(logs.joined(separator: ", ")); is it a log of observe mode, or an access log in "
          + "the combined format?")
      throw ExitCode.policyErrors
    }
    let policy = try checked(StarterPolicy(traffic, upstream: upstream))
    if let output {
      do throws(IOError) {
        try SecretFile.create(output, Array(policy.text.utf8))
      } catch {
        let advice = error == .exists ? "\(error); name another file, or remove it first" : error.withAdvice
        Console.reportError("\(output) cannot be created: \(advice)")
        throw ExitCode.systemFailure
      }
    } else {
      Console.writeOutput(policy.text)
    }
    Console.inform("clients: \(policy.clientCount), requests: \(traffic.requestLines)")
    if policy.rejectedCount > 0 {
      Console.warn("\(policy.rejectedCount) clients or redirect URIs are comments, because a policy cannot list them")
    }
  }

  /// Turns entries that a policy cannot contain into comments, until the policy has no errors. A log may contain any
  /// client id and redirect URI.
  private func checked(_ policy: StarterPolicy) throws(ExitCode) -> StarterPolicy {
    var policy = policy
    while true {
      let sources = PolicySources(environment: [:], standardInput: Array(policy.text.utf8), readsSecrets: false)
      let errors = PolicyFile.load(path: PolicySources.standardInputPath, sources).diagnostics.filter {
        $0.severity == .error
      }
      guard !errors.isEmpty else { return policy }
      // Each turn removes an entry, so the loop ends.
      guard policy.reject(errors.map { ($0.line, $0.message) }) else {
        for error in errors { Console.writeLine(error.description) }
        throw .policyErrors
      }
    }
  }
}
