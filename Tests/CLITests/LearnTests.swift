import Foundation
import GatewayTestSupport
import LegacyServer
import Policy
import Testing

/// `proofgate learn` and `proofgate readiness`, with the log of a gateway that observes.
@Suite("proofgate learn and readiness")
struct LearnTests {
  /// Returns the log of an observing gateway: two apps sign in, one of them without PKCE, and redeem a code.
  private static func log() async throws -> String {
    let policy = try FixturePolicy.with { policy in
      policy.unknownClients = .observe
      policy.editAll { $0.mode = .observe }
    }
    var text = ""
    try await GatewayFixture.run(policy) { gateway async throws in
      _ = try await gateway.get(gateway.authorizationTarget("stranger", "com.example.stranger:/cb"))
      for _ in 0..<2 {
        _ = try await gateway.get(
          gateway.authorizationTarget("n1", "com.example.app:/cb") { $0.remove("code_challenge") })
      }
      _ = try await gateway.post("/token", gateway.tokenForm("rawcode0123456", "n1"))
      text = gateway.logLines.joined(separator: "\n") + "\n"
    }
    return text
  }

  @Test("The policy from the log of an observing gateway passes `check`, and enforces a client after one change")
  func learned() async throws {
    let folder = try Folder()
    let log = try folder.write("decisions.log", try await Self.log() + "not a line\n")
    let path = folder.path("policy.yaml")
    let learned = try Program.run("learn", log, "--upstream", "http://127.0.0.1:9000", "-o", path)
    #expect(learned.code == 0, "\(learned.errors)")
    #expect(learned.errors.contains("1 lines are in neither of the two formats"))
    let text = try folder.read("policy.yaml")
    #expect(text.contains("  - id: \"stranger\"\n    type: public\n    application: native\n"), "\(text)")
    #expect(text.contains("      - \"com.example.app:/cb\"  # 2 requests\n"))
    #expect(text.contains("TODO: the app sends no PKCE"))
    #expect(!text.contains("rawcode0123456"))
    let check = try Program.run("check", path, "--quiet")
    #expect(check.code == 0, "\(check.errors)")

    let request = "/authorize?response_type=code&client_id=n1&redirect_uri=com.example.app:/cb&state=s"
    let observed = try Program.run("explain", path, request, "--json")
    #expect(observed.output.contains("\"would_reject\""), "\(observed.output)")
    let enforced = try folder.write(
      "enforced.yaml",
      text.replacingOccurrences(
        of: "  - id: \"n1\"\n", with: "  - id: \"n1\"\n    mode: enforce\n    raw_refresh_until: never\n"))
    let refused = try Program.run("explain", enforced, request, "--json")
    #expect(refused.output.contains("\"decision\" : \"reject\""), "\(refused.output)")
    #expect(refused.output.contains("pkce-required"))

    #expect(try Program.run("learn", log, "-o", path).code == 2)
    #expect(try folder.read("policy.yaml") == text)
  }

  @Test("`readiness` names the rules that would refuse requests of a client, as text and as JSON")
  func readiness() async throws {
    struct Report: Decodable {
      struct Client: Decodable {
        let client: String
        let state: String
      }
      let clients: [Client]
    }
    let folder = try Folder()
    let log = try folder.write("decisions.log", try await Self.log())
    let text = try Program.run("readiness", log)
    #expect(text.code == 0, "\(text.errors)")
    #expect(text.output.contains("\nclient n1\n  "), "\(text.output)")
    #expect(text.output.contains("pkce-required: 2 requests"), "\(text.output)")
    #expect(text.output.contains("see `proofgate rules pkce-required`"))
    let json = try Program.run("readiness", log, "--json", "--exit-code")
    #expect(json.code == 1)
    let report = try JSONDecoder().decode(Report.self, from: Data(json.output.utf8))
    let states = Dictionary(report.clients.map { ($0.client, $0.state) }) { first, _ in first }
    #expect(states == ["n1": "not_ready", "stranger": "not_listed"])
    let later = try Program.run("readiness", log, "--since", "9999-01-01")
    #expect(later.code == 1 && later.errors.contains("no request of a client"))
  }

  @Test("Entries that a policy cannot contain are comments, and the policy still passes `check`")
  func hostile() throws {
    let folder = try Folder()
    func request(_ query: String) -> String {
      #"192.0.2.1 - - [24/Nov/2026:10:00:00 +0000] "GET /authorize?response_type=code&\#(query) HTTP/1.1" 302 0"#
        + " \"-\" \"-\"\n"
    }
    let log = try folder.write(
      "access.log",
      request("client_id=good&redirect_uri=com.example.good:/cb") + request("client_id=good&redirect_uri=good:/cb")
        + request("client_id=%22%0A%20%20-%20id:%20evil") + request("client_id=%F0%9F%98%80&redirect_uri=https://a/")
        + request("client_id=" + String(repeating: "x", count: 300))
        + request("client_id=two&redirect_uri=com.example.good:/cb"))
    let path = folder.path("policy.yaml")
    let learned = try Program.run("learn", log, "--output", path)
    #expect(learned.code == 0 && learned.errors.contains("are comments"), "\(learned.errors)")
    let check = try Program.run("check", path, "--quiet")
    #expect(check.code == 0, "\(check.errors)")
    let text = try folder.read("policy.yaml")
    #expect(text.contains("\n      - \"com.example.good:/cb\""), "\(text)")
    #expect(text.contains("\n      # - \"good:/cb\""), "\(text)")
    #expect(!text.contains("\n  - id: evil"))
  }

  @Test("A log without clients ends with 1, a missing log with 2, and wrong arguments with 64")
  func failures() throws {
    let folder = try Folder()
    let empty = try folder.write("empty", "")
    for command in ["learn", "readiness"] {
      #expect(try Program.run(command, empty).code == 1)
      #expect(try Program.run(command, folder.path("none")).code == 2)
      #expect(try Program.run(command).code == 64)
    }
    #expect(try Program.run("readiness", empty, "--since", "yesterday").code == 64)
  }
}
