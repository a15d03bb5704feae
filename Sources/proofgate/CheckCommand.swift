import ArgumentParser
import FoundationEssentials
import PolicyFile

/// `proofgate check`: everything that is wrong or noteworthy about policies.
struct CheckCommand: ParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "check", abstract: "Check policy files.",
      discussion: "Exit code 1 when a policy has errors; warnings and notes do not fail.")
  }

  @Argument(help: ArgumentHelp("The policies.", valueName: "file"))
  var files: [String]

  @Flag(
    name: .customLong("require-rfc8252"),
    help: "Fail as well unless every policy meets the profile of RFC 8252, appendix A.")
  var requiresProfile = false

  @Flag(help: "Only errors and warnings: no notes, no self-check, no summary.")
  var quiet = false

  @Option(help: "How to write the report.")
  var format = Format.text

  func run() throws {
    let report = CheckReport(paths: files, environment: ProcessInfo.processInfo.environment)
    switch format {
    case .text:
      let text = report.text(quiet: quiet)
      Console.show(text)
    case .json: Console.show(try report.json(quiet: quiet) + "\n")
    }
    if report.hasErrors || requiresProfile && !report.meetsProfile { throw ExitCode.policyErrors }
  }
}
