import Foundation
import Testing

@testable import proofgate

@Suite("Wrong arguments of every command")
struct WrongArgumentTests {
  /// The commands as the program lists them for man pages and completions, each with its parents.
  private static let commands = Result {
    struct Dump: Decodable {
      struct Command: Decodable {
        let commandName: String
        let subcommands: [Command]?
      }
      let command: Command
    }
    func paths(_ command: Dump.Command, below parents: [String]) -> [[String]] {
      (command.subcommands ?? []).filter { $0.commandName != "help" }.flatMap { each in
        let path = parents + [each.commandName]
        return [path] + paths(each, below: path)
      }
    }
    let dump = try Program.run("--experimental-dump-help").output
    return paths(try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command, below: [])
  }

  @Test(
    "Every command ends with 64 for an unknown option and for too many arguments, and writes only to standard error")
  func everyCommand() throws {
    let commands = try Self.commands.get()
    #expect(commands.contains(["serve"]) && commands.contains(["keys", "rotate"]) && commands.count >= 14)
    for command in commands {
      for wrong in [["--no-such-option"], Array(repeating: "x", count: 3) + ["--no-such-option=x"]] {
        let outcome = try Program.run(command + wrong)
        #expect(outcome.code == 64, "\(command + wrong)")
        #expect(outcome.output.isEmpty && !outcome.errors.isEmpty, "\(command + wrong)")
      }
    }
  }

  @Test("Every command has its section in docs/cli.md, and `--help` ends with 0")
  func documented() throws {
    let manual = try Repository.read("docs/cli.md")
    for command in try Self.commands.get() {
      let name = command.joined(separator: " ")
      let isGroup = ["keys", "store"].contains(name)
      #expect(isGroup || manual.contains("`proofgate \(name)"), "\(name)")
      #expect(try Program.run(command + ["--help"]).code == 0, "\(name)")
    }
  }

  @Test(
    "A misspelt command gets a suggestion, also below another command and behind `help`",
    arguments: [
      (["keys", "rotat"], "`keys rotat` is not a command; did you mean `rotate`?"),
      (["store", "rest"], "`store rest` is not a command; did you mean `reset`?"),
      (["help", "serv"], "`serv` is not a command; did you mean `serve`?"),
      (["chekc", "x.yaml"], "`chekc` is not a command; did you mean `check`?"),
    ])
  func suggestion(_ arguments: [String], _ said: String) throws {
    let outcome = try Program.run(arguments)
    #expect(outcome.code == 64 && outcome.output.isEmpty)
    #expect(outcome.errors == "proofgate: error: \(said)\n")
  }

  @Test(
    "A missing file ends with 2 for every command that reads one",
    arguments: [
      ["serve", "no-such-file"], ["check", "no-such-file"], ["explain", "no-such-file", "/x"],
      ["test", "no-such-file"],
      ["diff", "no-such-file", "no-such-file"], ["keys", "list", "--file", "no-such-file"],
    ])
  func missingFile(_ arguments: [String]) throws {
    let outcome = try Program.run(arguments)
    #expect(outcome.code == 2)
    #expect((outcome.errors + outcome.output).contains("no-such-file"))
  }
}
