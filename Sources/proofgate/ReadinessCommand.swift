import ArgumentParser
import Evaluation
import OAuth
import Policy
import Rollout

/// The command `proofgate readiness`: shows for each client whether it can be enforced.
struct ReadinessCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "readiness", abstract: "Show for each client whether it can be enforced, from the decision log.",
      discussion: """
        For each client: its requests, those that rules would refuse, the first and the last time, and an example without \
        secrets. With a policy, its clients without requests are shown too, and those that are enforced already.
        """)
  }

  @Argument(help: ArgumentHelp("The decision logs; - is standard input.", valueName: "log"))
  var logs: [String]

  @Option(help: ArgumentHelp("The policy whose clients are compared with the log.", valueName: "file"))
  var policy: String?

  @Option(
    help: ArgumentHelp(
      "Ignore requests before this time in UTC, for example 2026-11-24 or 2026-11-24T10:00:00Z.", valueName: "time"))
  var since: String?

  @Flag(name: .customLong("exit-code"), help: "Exit with 1 if a client is not ready.")
  var failsIfNotReady = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  func validate() throws {
    guard let since else { return }
    let form = "0000-00-00T00:00:00Z"
    let fits = zip(since.utf8, form.utf8).allSatisfy { byte, expected in
      expected == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == expected
    }
    guard fits, [10, 20].contains(since.utf8.count) else {
      throw ValidationError("`--since` is not a date or a time in UTC; write 2026-11-24 or 2026-11-24T10:00:00Z")
    }
  }

  func run() throws {
    let listed = try policy.map { path in
      try EvaluatedPolicy.read(path).policy.clients.values.map {
        ReadinessReport.ListedClient(
          id: $0.id.rawValue, isEnforced: $0.mode == .enforce, dropsCredentials: $0.dropsCredentials)
      }
    }
    let traffic = try TrafficReader.read(logs, since: since ?? "", listed: Set(listed?.map(\.id) ?? []))
    TrafficReader.reportGaps(in: traffic)
    let report = ReadinessReport(traffic, listed: listed)
    guard !report.clients.isEmpty else {
      Console.reportError("no request of a client is in \(logs.joined(separator: ", ")); is it a decision log?")
      throw ExitCode.policyErrors
    }
    Console.writeOutput(json ? try EvaluatedPolicy.json(report) : report.text)
    if failsIfNotReady, report.notReadyCount > 0 { throw ExitCode.policyErrors }
  }
}
