import Foundation
import Testing

@testable import proofgate

@Suite("Exit codes")
struct ExitCodeTests {
  @Test("`--help` and docs/cli.md have the table of the program; `make reference` writes it")
  func table() throws {
    let path = "docs/cli.md"
    var manual = try Repository.read(path)
    if ProcessInfo.processInfo.environment["PROOFGATE_WRITE_REFERENCE"] != nil {
      let begin = try #require(manual.range(of: "| exit code |")).lowerBound
      let end = try #require(manual.range(of: "\n\n", range: begin..<manual.endIndex)).lowerBound
      manual.replaceSubrange(begin...end, with: ExitMeaning.manual)
      try manual.write(to: Repository.root.appendingPathComponent(path), atomically: true, encoding: .utf8)
    }
    #expect(manual.contains("\n\n" + ExitMeaning.manual + "\n"))
    let help = try Program.run("--help").output.split(separator: "\n").joined(separator: " ")
    for line in ExitMeaning.help.split(separator: "\n") { #expect(help.contains(line), "\(line)") }
  }

  struct KeyFile: CustomTestStringConvertible {
    let testDescription: String
    /// The text of the file; nil if there is no file.
    let text: String?
    let code: Int32
    let message: String
  }

  private static let files = [
    KeyFile(testDescription: "malformed", text: "3f9a01c2 yesterday short seals\n", code: 1, message: ":1:10: error: "),
    KeyFile(testDescription: "not there", text: nil, code: 2, message: ":1:1: error: the key file does not exist"),
  ]

  private static let commands = [
    ["serve"], ["check"], ["keys", "rotate", "--file"], ["keys", "retire", "00000000", "--file"],
    ["keys", "list", "--file"],
  ]

  @Test("A malformed key file ends with 1 and a missing one with 2, for every command", arguments: files, commands)
  func keyFile(_ file: KeyFile, _ command: [String]) throws {
    let folder = try Folder()
    if let text = file.text { try folder.write("keys", text) }
    var argument = folder.path("keys")
    if command.count == 1 {
      var policy = try ServedPolicy()
      policy.gateway = "  sealing_keys: { file: keys }"
      argument = try folder.write("policy.yaml", policy.text)
    }
    let outcome = try Program.run(command + [argument])
    #expect(outcome.code == file.code)
    // `check` reports on standard output.
    let report = outcome.errors + outcome.output
    #expect(report.contains(file.message) || report.contains("keys` does not exist"), "\(report)")
  }

  @Test("Malformed keys on standard input end with 1", arguments: [["rotate"], ["retire", "00000000"], ["list"]])
  func standardInput(_ command: [String]) throws {
    let outcome = try Program.run(["keys"] + command, input: "3f9a01c2 yesterday short seals\n")
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("standard input:1:10: error: "))
  }

  @Test(
    "A malformed key file is reported together with a missing secret, and ends with 1", arguments: ["serve", "check"])
  func both(_ command: String) throws {
    let folder = try Folder()
    try folder.write("keys", "3f9a01c2 yesterday short seals\n")
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: keys }"
    let text = policy.text.replacing("type: public", with: "type: confidential\n    secret: { file: no-such-secret }")
    let outcome = try Program.run([command, try folder.write("policy.yaml", text)])
    #expect(outcome.code == 1)
    let report = outcome.errors + outcome.output
    #expect(report.contains("no-such-secret") && report.contains("keys:1:10: error: "), "\(report)")
  }
}
