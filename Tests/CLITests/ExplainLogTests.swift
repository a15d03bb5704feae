import Foundation
import Testing

/// `proofgate explain --id ID --log FILE`.
@Suite("proofgate explain of a logged decision")
struct ExplainLogTests {
  private static let log = """
    {"v":1,"time":"2026-11-24T10:00:00.000Z","event":"decision","request":"first-1","flow":"00112233aabbccdd",\
    "transaction":"00112233aabbccdd0011223344556677","endpoint":"authorization","client":"com.example.mail",\
    "decision":"forward","status":302,"mode":"enforce","duration_us":9,"peer":"192.0.2.1","policy":"p1"}
    {"v":1,"time":"2026-11-24T10:00:01.000Z","event":"dropped","lines":3}
    not a line
    {"v":1,"time":"2026-11-24T10:00:02.000Z","event":"decision","request":"second-2","flow":"00112233aabbccdd",\
    "endpoint":"token","client":"com.example.mail","decision":"reject","rule":"pkce-verifier-mismatch","status":400,\
    "mode":"enforce","findings":["state-missing"],"duration_us":9,"peer":"192.0.2.1","policy":"p1"}
    {"v":1,"time":"2026-11-24T10:00:03.000Z","event":"decision","request":"third-3","endpoint":"token",\
    "client":"gone\\u001b[2J","decision":"reject","rule":"no-such-rule","status":400,"mode":"enforce","peer":"","policy":"p1"}

    """

  @Test("A request id leads to its line, the rule with its source and the remedy; a flow shows all lines of a sign-in")
  func found() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    for id in ["second-2", "https://id.example.com/.proofgate/rules/pkce-verifier-mismatch#request=second-2"] {
      let outcome = try Program.run("explain", policy, "--id", id, "--log", log)
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
      #expect(outcome.output.hasPrefix("2026-11-24T10:00:02.000Z token: reject with 400\n"))
      #expect(outcome.output.contains("   rule: pkce-verifier-mismatch\n   findings: state-missing\n"))
      #expect(outcome.output.contains("RFC 7636, section 4.6"))
      #expect(outcome.output.contains("note: the policy p1 decided"))
      #expect(!outcome.output.contains("first-1"))
    }
    for id in ["00112233aabbccdd"] {
      let outcome = try Program.run("explain", policy, "--id", id, "--log", "-", input: Self.log)
      #expect(outcome.output.hasPrefix("1. 2026-11-24T10:00:00.000Z authorization: forward with 302\n"))
      #expect(outcome.output.contains("\n2. 2026-11-24T10:00:02.000Z token: reject with 400\n"))
      #expect(outcome.output.contains("\npkce-verifier-mismatch\n\n"))
    }
    let plain = try Program.run("explain", policy, "--id", "first-1", "--log", log)
    #expect(plain.code == 0 && plain.output.hasSuffix("No rule refused the request.\n"))
  }

  @Test("An unknown rule and a client that the policy does not list are noted, and control characters are not printed")
  func unknown() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let outcome = try Program.run("explain", policy, "--id", "third-3", "--log", log)
    #expect(outcome.output.contains("note: this version has no rule `no-such-rule`"))
    #expect(outcome.output.contains("note: this policy does not list the client"))
    #expect(outcome.output.contains("client: gone?[2J") && !outcome.output.contains("\u{1b}"))
  }

  @Test("With --json, the lines and the rule are one JSON document")
  func json() throws {
    struct Report: Decodable {
      struct Line: Decodable { let request: String }
      struct Rule: Decodable {
        let id: String
        let source: String
        let remedy: String
      }
      let lines: [Line]
      let rule: Rule
    }
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let outcome = try Program.run("explain", policy, "--id", "00112233aabbccdd", "--log", log, "--json")
    let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    #expect(report.lines.map(\.request) == ["first-1", "second-2"])
    #expect(report.rule.id == "pkce-verifier-mismatch" && !report.rule.remedy.isEmpty)
  }

  @Test("An id without a line ends with 1, a missing log with 2, and contradictory arguments with 64")
  func failures() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write("log", Self.log)
    let missing = try Program.run("explain", policy, "--id", "second", "--log", log)
    #expect(missing.code == 1 && missing.errors.contains("no decision in \(log) has the id `second`"))
    #expect(try Program.run("explain", policy, "--id", "x", "--log", folder.path("none")).code == 2)
    #expect(try Program.run("explain", policy, "--id", "x").code == 64)
    #expect(try Program.run("explain", policy, "--log", log).code == 64)
    #expect(try Program.run("explain", policy, "/authorize", "--id", "x", "--log", log).code == 64)
  }
}
