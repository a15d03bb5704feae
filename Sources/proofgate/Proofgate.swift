import ArgumentParser
import PolicyFile

/// The command line of the program.
struct Proofgate: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "proofgate",
      abstract: "PKCE and native apps in front of a legacy OAuth 2.0 authorization server.",
      discussion: "Exit codes: 0 success, 1 errors in the policy, 2 system error, 64 wrong arguments.",
      version: Version.text,
      subcommands: [
        ServeCommand.self, CheckCommand.self, ExplainCommand.self, TestCommand.self, DiffCommand.self, KeysCommand.self,
        StoreCommand.self, RulesCommand.self, HealthcheckCommand.self, DemoCommand.self,
      ])
  }

  /// Runs the subcommand in the arguments, and ends the process with its exit code if it fails.
  static func start(_ arguments: [String]) {
    if let message = unknownCommand(in: arguments) {
      Console.reportError(message)
      exit(withError: ExitCode.validationFailure)
    }
    main(arguments)
  }

  /// Returns an error message if the first argument is neither a subcommand, `help` nor an option; otherwise `nil`.
  static func unknownCommand(in arguments: [String]) -> String? {
    guard let name = arguments.first, !name.hasPrefix("-"), name != "help" else { return nil }
    let known = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard !known.contains(name) else { return nil }
    let advice =
      EditDistance.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
      ?? "the commands are \(known.map { "`\($0)`" }.joined(separator: ", "))"
    return "`\(name)` is not a command; \(advice)"
  }
}
