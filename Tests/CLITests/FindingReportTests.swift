import Foundation
import PolicyFile
import Testing

@testable import proofgate

@Suite("Findings on a terminal and in SARIF")
struct FindingReportTests {
  private static func finding(
    _ id: DiagnosticID, _ line: Int, _ column: Int, file: String = "-"
  ) -> Diagnostic {
    Diagnostic(id: id, severity: .error, file: file, line: line, column: column, message: "wrong")
  }

  private static func text(_ findings: [Diagnostic], _ policy: String, usesColor: Bool = false) -> [String] {
    let excerpts = SourceExcerpts(findings, standardInput: Array(policy.utf8))
    return findings.map { FindingPrinter(usesColor: usesColor, excerpts: excerpts).text($0) }
  }

  @Test("A finding has the line of the file below it, with a mark under its place")
  func mark() {
    let policy = "version: 1\r\ngateway:\r\n\torigin: é x\n"
    #expect(
      Self.text([Self.finding(.invalidValue, 1, 10), Self.finding(.invalidValue, 3, 12)], policy) == [
        "-:1:10: error: wrong\n  1 | version: 1\n    |          ^\n",
        "-:3:12: error: wrong\n  3 |  origin: é x\n    |            ^\n",
      ])
  }

  @Test("A long line is cut around the finding, and invisible characters are replaced")
  func long() {
    let line = String(repeating: "a", count: 500) + "\u{202e}\u{1b}[31m" + String(repeating: "b", count: 500)
    let text = Self.text([Self.finding(.invalidValue, 1, 501)], line)[0].split(separator: "\n")
    #expect(text[1].count <= 130 && text[1].contains("aa\u{fffd}\u{fffd}[31mbb"))
    #expect(text[2].firstIndex(of: "^").map { text[2].distance(from: text[2].startIndex, to: $0) } == 6 + 59)
  }

  @Test("A finding outside of the file, or in a file that cannot be read, has no excerpt")
  func outside() {
    for finding in [
      Self.finding(.invalidValue, 9, 1), Self.finding(.invalidValue, 1, 99),
      Self.finding(.invalidValue, 1, 1, file: "/no/such/file"),
      Self.finding(.invalidKeyFile, 1, 1), Self.finding(.unreadableFile, 1, 1),
    ] {
      #expect(Self.text([finding], "version: 1")[0].split(separator: "\n").count == 1, "\(finding)")
    }
  }

  @Test("An excerpt ends in front of a value that can be a secret")
  func secrets() {
    let policy = """
      secret: hunter2
      secrte: hunter2
      clients: [{ secret: hunter2, type: publik }]
      password: 'hunter2
      """
    let findings = [
      Self.finding(.inlineSecret, 1, 9), Self.finding(.unknownKey, 2, 1), Self.finding(.inlineSecret, 3, 21),
      Self.finding(.invalidValue, 3, 36), Self.finding(.invalidYAML, 4, 11),
    ]
    let text = Self.text(findings, policy)
    #expect(!text.joined().contains("hunter2"))
    #expect(text[0].hasSuffix("  1 | secret: ...\n    |         ^\n"))
    #expect(text[1].hasSuffix("  2 | secrte:...\n    | ^\n"))
    #expect(text[3].split(separator: "\n").count == 1)
  }

  @Test("The severity and the mark are colored on a terminal only, and NO_COLOR prevents it")
  func colors() throws {
    #expect(
      Self.text([Self.finding(.invalidValue, 1, 1)], "x", usesColor: true) == [
        "-:1:1: \u{1b}[1;31merror:\u{1b}[0m wrong\n  1 | x\n    | \u{1b}[1;32m^\u{1b}[0m\n"
      ])
    #expect(TerminalColor.permits([:]) && TerminalColor.permits(["NO_COLOR": "", "TERM": "xterm"]))
    #expect(!TerminalColor.permits(["NO_COLOR": "1"]) && !TerminalColor.permits(["TERM": "dumb"]))
    let folder = try Folder()
    let path = try folder.write("policy.yaml", "version: 2\n")
    let plain = try Program.run("check", path)
    #expect(!plain.output.contains("\u{1b}") && plain.output.contains("\n  1 | version: 2\n    |          ^\n"))
  }

  /// Runs `check` on a terminal, which `script` of util-linux provides.
  @Test("`check` on a terminal is colored, and with NO_COLOR it is not", arguments: ["", "1"])
  func terminal(_ noColor: String) throws {
    let folder = try Folder()
    let path = try folder.write("policy.yaml", "version: 2\n")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
    process.arguments = ["-qec", "\(try Program.url.path) check \(path)", "/dev/null"]
    process.environment = ["NO_COLOR": noColor, "TERM": "xterm", "PATH": "/usr/bin:/bin"]
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(text.contains("\u{1b}[1;31merror:\u{1b}[0m") == noColor.isEmpty, "\(text)")
  }

  @Test("The SARIF log has the members that SARIF 2.1.0 requires, and each finding at its place")
  func sarif() throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.clientType = "publik"
    policy.gateway = "  sealing_kyes: { file: keys }"
    let path = try folder.write("a policy.yaml", policy.text)
    let outcome = try Program.run("check", "--format", "sarif", path)
    #expect(outcome.code == 1)
    let log = try JSONDecoder().decode(SARIF.self, from: Data(outcome.output.utf8))
    #expect(log.version == "2.1.0")
    let run = try #require(log.runs.first)
    #expect(log.runs.count == 1 && run.tool.driver.name == "proofgate" && run.columnKind == "unicodeCodePoints")
    #expect(Set(run.tool.driver.rules.map(\.id)).count == run.tool.driver.rules.count)
    for result in run.results {
      #expect(["error", "warning", "note", "none"].contains(result.level))
      #expect(run.tool.driver.rules[result.ruleIndex].id == result.ruleId)
      let location = try #require(result.locations.first).physicalLocation
      #expect(location.artifactLocation.uri == "file://" + path.replacing(" ", with: "%20"))
      #expect(location.region.startLine >= 1 && location.region.startColumn >= 1 && !result.message.text.isEmpty)
    }
    let wrong = try #require(run.results.first { $0.message.text.contains("publik") })
    #expect(wrong.ruleId == "invalid-value" && wrong.level == "error")
    let region = try #require(wrong.locations.first).physicalLocation.region
    #expect(region.startLine == 17 && region.startColumn == 11)
    let text = try Program.run("check", path)
    #expect(run.results.allSatisfy { text.output.contains($0.message.text) })
  }

  /// The required members of a SARIF log (sections 3.13, 3.14, 3.18, 3.19, 3.27, 3.28 and 3.29 to 3.30).
  private struct SARIF: Decodable {
    struct Run: Decodable {
      let tool: Tool
      let columnKind: String
      let results: [Result]
    }
    struct Tool: Decodable { let driver: Driver }
    struct Driver: Decodable {
      let name: String
      let rules: [Rule]
    }
    struct Rule: Decodable { let id: String }
    struct Message: Decodable { let text: String }
    struct Result: Decodable {
      let ruleId: String
      let ruleIndex: Int
      let level: String
      let message: Message
      let locations: [Location]
    }
    struct Location: Decodable { let physicalLocation: Physical }
    struct Physical: Decodable {
      let artifactLocation: Artifact
      let region: Region
    }
    struct Artifact: Decodable { let uri: String }
    struct Region: Decodable {
      let startLine: Int
      let startColumn: Int
    }
    let version: String
    let runs: [Run]
  }
}
