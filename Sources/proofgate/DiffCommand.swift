import ArgumentParser
import Evaluation

/// The command `proofgate diff`: shows the decisions that change from one policy to another.
struct DiffCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "diff", abstract: "Show which decisions change between two policies, client by client.",
      discussion: """
        The policies are compared for generated requests of each client: each redirect URI with and without PKCE, each \
        grant, each kind of client authentication. Secrets of the policies are not read.

        With `--log`, the policies are also compared for the requests of decision logs, each as often as it occurs: the \
        report says how many requests of which client would be refused, and by which rule.
        """)
  }

  @Argument(help: ArgumentHelp("The old policy.", valueName: "old"))
  var old: String

  @Argument(help: ArgumentHelp("The new policy.", valueName: "new"))
  var new: String

  @Option(help: ArgumentHelp("A file of cases, whose requests are compared too; may be repeated.", valueName: "file"))
  var cases: [String] = []

  @Option(
    help: ArgumentHelp(
      "A decision log whose requests are compared too, also compressed with gzip; - is standard input. May be repeated.",
      valueName: "file"))
  var log: [String] = []

  @Flag(help: "Print the report as JSON.")
  var json = false

  @Flag(name: .customLong("exit-code"), help: "Exit with 1 if a decision changes.")
  var failsOnChange = false

  func run() throws {
    var requests: [(name: String, request: TriedRequest)] = []
    for path in cases {
      requests += try TestCommand.read(path).cases.map { ($0.name, $0.request) }
    }
    let (before, after) = (try EvaluatedPolicy.read(old), try EvaluatedPolicy.read(new))
    let difference = PolicyDifference(from: before, to: after, cases: requests)
    let logged = log.isEmpty ? nil : LoggedDifference(try loggedRequests(), from: before, to: after)
    if json {
      Console.writeOutput(try EvaluatedPolicy.json(DifferenceDocument(difference, log: logged)))
    } else {
      Console.writeOutput(difference.text + (logged.map { "\n\($0.text)" } ?? ""))
    }
    if failsOnChange, difference.changeCount + (logged?.changedCount ?? 0) > 0 { throw ExitCode.policyErrors }
  }

  private func loggedRequests() throws(ExitCode) -> LoggedRequests {
    var requests = LoggedRequests()
    // A line that is too long is cut, and then no line of the log.
    try LogLines.forEach(in: log) { requests.add($0) }
    guard !requests.hasNoDecision else {
      Console.reportError("no decision is in \(log.joined(separator: ", ")); is it a decision log?")
      throw .policyErrors
    }
    return requests
  }
}
