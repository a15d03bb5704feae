import ArgumentParser
import FoundationEssentials
import PolicyFile

/// A command with its options and subcommands, as the program describes itself for man pages.
///
/// The parser of arguments names the first problem that it meets, which is often a consequence of a misspelt option. After
/// it has refused arguments, `problem(in:)` looks for the cause.
struct CommandOutline: Decodable {
  struct Parameter: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let names: [Name]?
    let allValues: [String]?

    /// The names as one writes them, with dashes.
    var spellings: [String] { (names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name } }
    /// True if a value follows the name.
    var takesValue: Bool { kind == "option" }
  }

  let commandName: String
  let arguments: [Parameter]?
  let subcommands: [CommandOutline]?

  /// The option whose value is a shell. The description of the program does not list it.
  private static let completions = "--generate-completion-script"

  /// The outline of the whole program; `nil` if its description cannot be read.
  static var program: CommandOutline? {
    struct Description: Decodable { let command: CommandOutline }
    return try? JSONDecoder().decode(Description.self, from: Data(Proofgate._dumpHelp().utf8)).command
  }

  /// Returns the first unknown option, or the first value that an option cannot have, with a suggestion; `nil` if there is
  /// neither.
  func problem(in arguments: [String]) -> String? {
    var command = self
    var path = commandName
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" { return nil }
      guard argument.hasPrefix("-"), argument != "-" else {
        if let next = command.subcommands?.first(where: { $0.commandName == argument }) {
          command = next
          path += " " + argument
        }
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      if parts[0] == Self.completions {
        return Self.problem(
          of: parts.last == parts[0] ? rest.first : parts.last, Self.completions, ["bash", "zsh", "fish"])
      }
      // Several short options in one word are left to the parser.
      if !argument.hasPrefix("--"), argument.utf8.count > 2 { continue }
      guard let option = (command.arguments ?? []).first(where: { $0.spellings.contains(parts[0]) }) else {
        let known = (command.arguments ?? []).flatMap(\.spellings).filter { $0.hasPrefix("--") }
        let near = EditDistance.nearest(to: parts[0], among: known).map { "did you mean `\($0)`?" }
        return "`\(path)` has no option `\(parts[0])`; \(near ?? "`\(path) --help` lists its options")"
      }
      guard option.takesValue else { continue }
      let value = parts.count == 2 ? parts[1] : rest.first.flatMap { $0.hasPrefix("-") && $0 != "-" ? nil : $0 }
      if parts.count == 1, value != nil { rest.removeFirst() }
      if let problem = Self.problem(of: value, parts[0], option.allValues ?? []) { return problem }
    }
    return nil
  }

  /// Returns the error message about the value of an option that has these values; `nil` if it has any value, or if the
  /// value is missing or one of them.
  private static func problem(of value: String?, _ option: String, _ values: [String]) -> String? {
    guard let value, !value.isEmpty, !values.isEmpty, !values.contains(value) else { return nil }
    let near = EditDistance.nearest(to: value, among: values).map { "did you mean `\($0)`?" }
    let list = values.map { "`\($0)`" }.joined(separator: ", ")
    return "`\(option)` cannot be `\(value)`; \(near ?? "the values are \(list)")"
  }
}
