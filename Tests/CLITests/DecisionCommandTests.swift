import Foundation
import Testing

@Suite("proofgate test and proofgate diff")
struct DecisionCommandTests {
  private static let shipped = try? FileManager.default.contentsOfDirectory(
    atPath: Repository.root.appendingPathComponent("policies").path
  ).filter { $0.hasSuffix(".test.yaml") }.map { Repository.root.appendingPathComponent("policies/\($0)").path }.sorted()

  @Test("The cases of the shipped policies pass, and each policy has cases for all its clients")
  func shippedCases() throws {
    let files = try #require(Self.shipped)
    #expect(files.count == 3)
    let outcome = try Program.run(["test"] + files)
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(!outcome.output.contains("no case names"), "\(outcome.output)")
    #expect(try Program.run(["test", "--quiet"] + files).output.isEmpty)
  }

  @Test("A failed case ends with 1 and is in the JSON report; a malformed file ends with 1, a missing one with 2")
  func failures() throws {
    struct Report: Decodable {
      struct File: Decodable {
        struct Case: Decodable {
          let ok: Bool
          let decision: String
          let problems: [String]
        }
        let cases: [Case]
      }
      let ok: Bool
      let files: [File]
    }
    let folder = try Folder()
    try folder.write("p.yaml", try ServedPolicy().text)
    let cases = "cases: [{ name: a, request: /other, decision: reject, rule: pkce-required }]\n"
    let path = try folder.write("p.test.yaml", cases)
    let outcome = try Program.run("test", path)
    #expect(outcome.code == 1)
    #expect(outcome.output.contains("\(path):1: failed: a\n  decision: expected `reject`, got `pass`\n"))
    let json = try Program.run("test", "--json", path)
    let report = try JSONDecoder().decode(Report.self, from: Data(json.output.utf8))
    #expect(json.code == 1 && !report.ok)
    #expect(report.files[0].cases[0].decision == "pass" && report.files[0].cases[0].problems.count == 1)
    let bad = try folder.write("bad.test.yaml", cases.replacing("reject,", with: "rejekt,"))
    let errors = try Program.run("test", bad)
    #expect(errors.code == 1 && errors.errors.contains("did you mean `reject`?"))
    #expect(try Program.run("test", folder.path("missing.test.yaml")).code == 2)
    #expect(try Program.run("test", folder.write("cases.yaml", cases)).errors.contains("names no policy"))
  }

  @Test("`diff` shows the changed decisions of each client, and ends with 1 on demand")
  func diff() throws {
    struct Report: Decodable {
      struct Client: Decodable {
        let client: String?
        let kind: String
      }
      let changes: Int
      let clients: [Client]
    }
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.clientType = "public"
    let old = try folder.write("old.yaml", policy.text)
    let new = try folder.write("new.yaml", policy.text.replacing("com.example.mail:/cb", with: "com.example.mail:/new"))
    let outcome = try Program.run("diff", old, new)
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("authorization to com.example.mail:/cb with PKCE\n    forward"))
    #expect(outcome.output.contains("-> reject redirect-uri-mismatch\n"))
    #expect(try Program.run("diff", old, new, "--exit-code").code == 1)
    let same = try Program.run("diff", old, old, "--exit-code")
    #expect(same.code == 0 && same.output == "no decision changes, 1 client compared\n")
    let report = try JSONDecoder().decode(
      Report.self, from: Data(try Program.run("diff", old, new, "--json").output.utf8))
    #expect(report.changes > 0 && report.clients.first?.client == "com.example.mail")
    #expect(report.clients.first?.kind == "changed")
  }
}
