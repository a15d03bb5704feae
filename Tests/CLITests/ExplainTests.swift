import Foundation
import Testing

@Suite("proofgate explain")
struct ExplainTests {
  private static let query = "client_id=com.example.mail&redirect_uri=com.example.mail:/cb"

  @Test("A request gets its decision with exit code 0, from an argument, a file and standard input")
  func sources() throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let request = "/authorize?response_type=code&state=s&" + Self.query
    let file = try folder.write("request.txt", "GET \(request) HTTP/1.1\n\n")
    let outcomes = [
      try Program.run("explain", policy, request), try Program.run("explain", policy, "--file", file),
      try Program.run("explain", policy, "--file", "-", input: "curl '\(request)'"),
    ]
    for outcome in outcomes {
      #expect(outcome.code == 0 && outcome.errors.isEmpty)
      #expect(
        outcome.output.hasPrefix("GET /authorize: endpoint authorization, client com.example.mail, mode enforce\n"))
      #expect(outcome.output.contains("\ndecision: reject pkce-required (by redirect)\n"))
    }
  }

  @Test("With --json, the explanation is one JSON document")
  func json() throws {
    struct Report: Decodable {
      struct Rule: Decodable {
        let rule: String
        let verdict: String
        let source: String?
      }
      let decision: String
      let rule: String?
      let rules: [Rule]
    }
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let outcome = try Program.run("explain", policy, "/authorize?response_type=token&" + Self.query, "--json")
    let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    #expect(report.decision == "reject" && report.rule == "response-type-for-native")
    #expect(report.rules.first?.verdict == "pass" && report.rules.last?.verdict == "refuse")
    #expect(report.rules.last?.source == "RFC 8252, section 8.2")
  }

  @Test("A policy with errors and a file without a request end with 1, and a missing file ends with 2")
  func failures() throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    let good = try folder.write("good.yaml", policy.text)
    policy.clientType = "publik"
    let bad = try folder.write("bad.yaml", policy.text)
    let text = try folder.write("text", "no request")
    #expect(try Program.run("explain", bad, "/x").code == 1)
    #expect(try Program.run("explain", bad, "/x").errors.contains("did you mean `public`?"))
    #expect(try Program.run("explain", good, "--file", text).code == 1)
    #expect(try Program.run("explain", good, "--file", folder.path("missing")).code == 2)
    #expect(try Program.run("explain", folder.path("missing"), "/x").code == 2)
  }
}
