import ArgumentParser

/// The program: one command for each thing that an operator does.
struct Proofgate: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "proofgate",
      abstract: "PKCE and native apps before a legacy OAuth 2.0 authorization server.",
      discussion: "Exit codes: 0 done, 1 the policy has errors, 2 the system is in the way, 64 wrong arguments.",
      version: Version.text,
      subcommands: [ServeCommand.self, CheckCommand.self, KeysCommand.self, DemoCommand.self])
  }
}
