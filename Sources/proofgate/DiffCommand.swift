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
        """)
  }

  @Argument(help: ArgumentHelp("The old policy.", valueName: "old"))
  var old: String

  @Argument(help: ArgumentHelp("The new policy.", valueName: "new"))
  var new: String

  @Option(help: ArgumentHelp("A file of cases, whose requests are compared too; may be repeated.", valueName: "file"))
  var cases: [String] = []

  @Flag(help: "Print the report as JSON.")
  var json = false

  @Flag(name: .customLong("exit-code"), help: "Exit with 1 if a decision changes.")
  var failsOnChange = false

  func run() throws {
    var requests: [(name: String, request: TriedRequest)] = []
    for path in cases {
      requests += try TestCommand.read(path).cases.map { ($0.name, $0.request) }
    }
    let difference = PolicyDifference(
      from: try EvaluatedPolicy.read(old), to: try EvaluatedPolicy.read(new), cases: requests)
    Console.writeOutput(json ? try EvaluatedPolicy.json(DifferenceDocument(difference)) : difference.text)
    if failsOnChange, difference.changeCount > 0 { throw ExitCode.policyErrors }
  }
}
