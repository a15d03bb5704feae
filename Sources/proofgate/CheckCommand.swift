import ArgumentParser
import FoundationEssentials
import PolicyFile

/// The command `proofgate check`: reports the errors, warnings and notes about policies.
struct CheckCommand: ParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case sarif
  }

  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "check", abstract: "Check policy files.",
      discussion: """
        Exit code 1 if a policy or its key file has errors, 2 if only files or variables that it names are missing; \
        warnings and notes do not fail.
        """)
  }

  @Argument(help: ArgumentHelp("The policies; - is standard input.", valueName: "file"))
  var files: [String]

  @Flag(
    name: .customLong("require-rfc8252"),
    help: "Also fail unless every policy meets the profile of RFC 8252, appendix A.")
  var requiresProfile = false

  @Flag(
    name: .customLong("no-secrets"),
    help: "Do not read secrets, keys and certificates, for a check on a machine that does not have them.")
  var skipsSecrets = false

  @Flag(help: "Also ask the server of each policy without errors for its metadata, and compare the issuer.")
  var online = false

  @Flag(help: "Print only errors and warnings, one line each: no notes, excerpts, self-check and summary.")
  var quiet = false

  @Option(help: "The format of the report.")
  var format = Format.text

  func validate() throws {
    guard files.count(where: { $0 == PolicySources.standardInputPath }) <= 1 else {
      throw ValidationError("standard input (`-`) can be checked once only; remove one of the `-`")
    }
    if online, skipsSecrets {
      throw ValidationError("`--online` needs the certificates that `--no-secrets` leaves out; use one of them")
    }
  }

  func run() throws {
    let readsStandardInput = files.contains(PolicySources.standardInputPath)
    let standardInput = readsStandardInput ? Array(InputFile.readStandardInput().utf8) : nil
    let sources = PolicySources(
      environment: ProcessInfo.processInfo.environment, standardInput: standardInput, readsSecrets: !skipsSecrets)
    var report = CheckReport(paths: files, sources)
    if online { report = try report.askingServers() }
    switch format {
    case .text:
      let usesColor = TerminalColor.isUsedForOutput
      Console.writeColoredOutput(report.text(quiet: quiet, standardInput: standardInput, usesColor: usesColor))
    case .json: Console.writeOutput(try report.json(quiet: quiet) + "\n")
    case .sarif: Console.writeOutput(try report.sarif(quiet: quiet) + "\n")
    }
    if let code = report.errorExitCode { throw code }
    if requiresProfile && !report.meetsProfile { throw ExitCode.policyErrors }
  }
}
