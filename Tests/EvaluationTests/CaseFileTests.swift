import Policy
import Testing

@testable import Evaluation

@Suite("Files of cases")
struct CaseFileTests {
  private static let good = """
    policy: app.yaml
    cases:
      - name: The app signs in
        get: /authorize
        parameters:
          response_type: code
          client_id: app
          redirect_uri: com.example.app:/cb
          state: x
          code_challenge: \(Sample.challenge)
          code_challenge_method: S256
        decision: forward
        consent: false
        upstream: { client_id: legacy }
      - name: A request without PKCE is refused
        request: /authorize?response_type=code&client_id=app&redirect_uri=com.example.app:/cb
        decision: reject
        rule: pkce-required
      - name: A password is refused
        post: /token
        parameters: { grant_type: password, client_id: app, username: a, password: b }
        headers: { User-Agent: test }
        decision: reject
        rule: password-grant

    """

  private func report(_ text: String) throws -> CaseReport {
    CaseReport(try CaseFile(parsing: text, path: "dir/app.test.yaml"), try Sample.evaluator(), policyPath: "app.yaml")
  }

  @Test("Cases that get the expected decision pass, and clients without a case are named")
  func passed() throws {
    let report = try report(Self.good)
    #expect(report.failures.isEmpty, "\(report.text)")
    #expect(report.text == "dir/app.test.yaml: 3 of 3 cases passed\ndir/app.test.yaml: note: no case names `web`\n")
  }

  @Test("A case that gets another decision, rule, consent, finding or upstream value fails, with its line")
  func failed() throws {
    let text = Self.good.replacing("decision: forward", with: "decision: reject").replacing(
      "consent: false", with: "consent: true\n    findings: [state-missing]"
    ).replacing("client_id: legacy", with: "client_id: other").replacing("password-grant", with: "pkce-required")
    let failures = try report(text).failures
    #expect(failures.map(\.testCase.line) == [3, 20])
    #expect(
      failures[0].problems == [
        "decision: expected `reject`, got `forward`", "consent: expected `true`, got `false`",
        "findings: expected `state-missing`, got none", "upstream: expected `client_id` to be `other`, got `legacy`",
      ])
    #expect(failures[1].problems == ["rule: expected `pkce-required`, got `password-grant`"])
    #expect(try report(text).text.contains("dir/app.test.yaml:3: failed: The app signs in\n"))
  }

  @Test(
    "An error of the file is reported with its place and advice",
    arguments: [
      (
        "decision: forward", "decision: forwad", ":12:15: error: `decision` cannot be `forwad`; did you mean `forward`?"
      ),
      ("rule: pkce-required", "rule: pkce-requird", ":18:11: error: `rule` cannot be `pkce-requird`; did you mean"),
      (
        "decision: forward", "decison: forward",
        ":12:5: error: `decison` is not a key of a case; did you mean `decision`?"
      ),
      ("get: /authorize\n", "get: ftp://x\n", ":4:10: error: the URL is neither http nor https"),
      ("    get: /authorize\n", "", ":3:5: error: the case needs exactly one of `request`, `get` and `post`"),
      ("cases:", "policy2:", "is not a key of the file"), ("policy: app.yaml", "policy: &a x", "anchor"),
    ])
  func errors(_ old: String, _ new: String, _ message: String) throws {
    let error = #expect(throws: CaseFile.Failure.self) {
      try CaseFile(parsing: Self.good.replacing(old, with: new), path: "f.yaml")
    }
    #expect(error?.lines.contains { $0.contains(message) } == true, "\(error?.lines ?? [])")
  }

  @Test("The policy is relative to the folder of the file, or has its name")
  func policyPath() throws {
    func path(_ file: String, _ text: String) throws -> String? { try CaseFile(parsing: text, path: file).policyPath }
    let unnamed = Self.good.replacing("policy: app.yaml\n", with: "")
    #expect(try path("dir/x.test.yaml", Self.good) == "dir/app.yaml")
    #expect(try path("x.test.yaml", Self.good) == "app.yaml")
    #expect(try path("/x.test.yaml", Self.good) == "/app.yaml")
    #expect(try path("dir/x.test.yaml", unnamed) == "dir/x.yaml")
    #expect(try path("dir/x.yaml", unnamed) == nil)
  }
}
