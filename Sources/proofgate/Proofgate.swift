import ArgumentParser
import PolicyFile
import Reactor

/// The command line of the program.
struct Proofgate: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "proofgate",
      abstract: "PKCE and native apps in front of a legacy OAuth 2.0 authorization server.",
      discussion: ExitMeaning.help,
      version: Version.text,
      subcommands: [
        ServeCommand.self, CheckCommand.self, ExplainCommand.self, TestCommand.self, DiffCommand.self,
        ProbeCommand.self, LearnCommand.self, ReadinessCommand.self, KeysCommand.self, StoreCommand.self,
        RulesCommand.self, HealthcheckCommand.self, DemoCommand.self,
      ])
  }

  @Flag(name: .customShort("V"), help: "The same as --version.")
  var showsVersion = false

  func validate() throws {
    if showsVersion { throw CleanExit.message(Version.text) }
  }

  /// Runs the subcommand in the arguments, and ends the process with its exit code if it fails.
  static func start(_ arguments: [String]) {
    if let message = unknownCommand(in: arguments) {
      Console.reportError(message)
      exit(withError: ExitCode.validationFailure)
    }
    do {
      var command = try parseAsRoot(joiningIDs(arguments))
      if !(command is any SignalHandlingCommand) { Signals.unblock() }
      try command.run()
    } catch {
      let code = exitCode(for: error)
      guard code == .validationFailure else { exit(withError: error) }
      Console.reportError(CommandOutline.program?.problem(in: arguments) ?? problem(in: message(for: error)))
      let text = fullMessage(for: error)
      if let usage = text.firstRange(of: "Usage: ") { Console.writeLine(String(text[usage.lowerBound...])) }
      exit(withError: code)
    }
  }

  /// Returns the arguments with `--id=VALUE` in place of `--id VALUE`. An id that a client or a proxy has chosen may look
  /// like an option, such as `-Vx`, and the parser looks for `-V` in all arguments that are words of their own.
  static func joiningIDs(_ arguments: [String]) -> [String] {
    var joined: [String] = []
    for argument in arguments {
      let isID = joined.last == "--id"
      if isID { joined.removeLast() }
      joined.append(isID ? "--id=" + argument : argument)
    }
    return joined
  }

  /// Returns a message of the parser of arguments in the form of all other messages.
  static func problem(in message: String) -> String {
    for begin in ["Missing expected argument '", "Missing value for '", "Unexpected argument '"]
    where message.hasPrefix(begin) && message.hasSuffix("'") {
      let value = message.dropFirst(begin.count).dropLast()
      return "\(begin.dropLast().lowercased())`\(value)`"
    }
    // "The value 'x' is invalid for '--port <port>': a port is ..."
    if message.hasPrefix("The value '"), let middle = message.firstRange(of: "' is invalid for '") {
      let value = message[..<middle.lowerBound].dropFirst("The value '".count)
      let rest = message[middle.upperBound...]
      guard let end = rest.firstRange(of: "'") else { return message }
      let advice = rest[end.upperBound...].drop { $0 == ":" || $0 == " " }
      return "`\(rest[..<end.lowerBound])` cannot be `\(value)`" + (advice.isEmpty ? "" : "; \(advice)")
    }
    // "The option '--watch' does not take any value, but 'yes' was specified."
    if message.hasPrefix("The option '"), let middle = message.firstRange(of: "' does not take any value, but '"),
      let end = message[middle.upperBound...].ranges(of: "' was specified").last
    {
      let option = message[..<middle.lowerBound].dropFirst("The option '".count)
      return "`\(option)` takes no value; remove `=\(message[middle.upperBound..<end.lowerBound])`"
    }
    return message
  }

  /// Returns an error message if the arguments begin with a word that is neither a subcommand, `help` nor an option;
  /// otherwise `nil`.
  ///
  /// - Parameter parent: The name of the command whose subcommands may follow; empty for the program.
  static func unknownCommand(
    in arguments: [String], of command: any ParsableCommand.Type = Proofgate.self, named parent: String = ""
  ) -> String? {
    let arguments = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let name = arguments.first, !name.hasPrefix("-"), !command.configuration.subcommands.isEmpty else {
      return nil
    }
    let subcommands = command.configuration.subcommands.map { ($0._commandName, $0) }
    let known = subcommands.map(\.0)
    if let found = subcommands.first(where: { $0.0 == name }) {
      return unknownCommand(in: Array(arguments.dropFirst()), of: found.1, named: parent + name + " ")
    }
    let advice =
      EditDistance.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
      ?? "the commands are \(known.map { "`\($0)`" }.joined(separator: ", "))"
    return "`\(parent)\(name)` is not a command; \(advice)"
  }
}
