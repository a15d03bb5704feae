import Compression
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

  @Test(
    "`diff --log` counts the requests of a log that a policy would refuse, and names the lines that it cannot rebuild")
  func diffOfLog() throws {
    let line = { (members: String, count: Int) in
      String(
        repeating: """
          {"v":1,"time":"2026-11-24T10:00:00.000Z","event":"decision","client":"com.example.mail","status":302,\
          "mode":"observe","policy":"p1",\(members)}

          """, count: count)
    }
    let authorization = """
      "endpoint":"authorization","decision":"would_reject","rule":"pkce-required","redirect_uri":"com.example.mail:/cb",\
      "response_type":"code","pkce":"none"
      """
    let good = """
      "endpoint":"authorization","decision":"forward","redirect_uri":"com.example.mail:/cb","response_type":"code",\
      "pkce":"S256"
      """
    let log =
      line(authorization, 412) + line(good, 588)
      + line("\"endpoint\":\"authorization\",\"decision\":\"forward\",\"step\":\"login\"", 3)
      + line("\"endpoint\":\"revocation\",\"decision\":\"forward\"", 2) + "no line\n"
    let folder = try Folder()
    let policy = try ServedPolicy()
    let new = try folder.write("new.yaml", policy.text)
    let old = try folder.write(
      "old.yaml", policy.text.replacing("raw_refresh_until: never", with: "mode: observe"))
    let first = try folder.write("log.1", log)
    let second = folder.path("log.2.gz")
    try Data(try #require(Encoder.gzip(Array(line(good, 1).utf8)))).write(to: URL(fileURLWithPath: second))
    let outcome = try Program.run("diff", "--log", first, old, new, "--log", second)
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(
      outcome.output.contains("client com.example.mail: 1001 of 1001 requests in the log change\n"), "\(outcome.output)"
    )
    #expect(outcome.output.contains("  412 of 1001 requests would be refused by pkce-required\n"))
    #expect(
      outcome.output.contains(
        """
          412 x authorization to com.example.mail:/cb without PKCE
            would_reject pkce-required -> reject pkce-required (by redirect)

        """))
    #expect(outcome.output.contains("not compared: 3 lines without the content of a request"))
    #expect(outcome.output.contains("not compared: 2 requests of other endpoints"))
    #expect(outcome.output.contains("not compared: 1 lines that are no decision\n"))
    let same = try Program.run("diff", new, new, "--log", second, "--exit-code")
    #expect(same.code == 0 && same.output.hasSuffix("\n0 of 1 requests in the log change\n"), "\(same.output)")
    #expect(try Program.run("diff", new, new, "--log", folder.path("none")).code == 2)
    let json = try Program.run("diff", old, new, "--log", first, "--json")
    #expect(json.output.contains("\"rule\" : \"pkce-required\"") && json.output.contains("\"count\" : 412"))
  }
}
