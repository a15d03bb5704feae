import Foundation
import HTTP
import LegacyServer
import OAuth
import Testing

@Suite("proofgate probe")
struct ProbeCommandTests {
  private static let client = LegacyClient(
    id: "legacy-mail", secret: "s3cret-of-mail", name: "Mail", redirectURI: "https://id.example.com/.proofgate/callback"
  )

  private static func server(_ adjust: (inout LegacyQuirks) -> Void = { _ in }) async throws -> LegacyService {
    try await LegacyService(
      LegacyAuthorizationServer(
        LegacyConfiguration(clients: [client], authentication: .post, quirks: .with(adjust))))
  }

  private static func url(_ server: LegacyService) -> String { "http://127.0.0.1:\(server.port)" }

  @Test("The report names what was seen and what is open; the policy passes `check` and is not overwritten")
  func report() async throws {
    let server = try await Self.server { $0.stateLimit = 255 }
    let folder = try Folder()
    let secret = try folder.write("secret", "s3cret-of-mail\n")
    let path = folder.path("policy.yaml")
    let arguments = [
      "probe", Self.url(server), "--client-id", "legacy-mail", "--client-secret-file", secret, "--redirect-uri",
      Self.client.redirectURI, "-o", path,
    ]
    let outcome = try Program.run(arguments)
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("\n  = longest `state`: 255 bytes\n"), "\(outcome.output)")
    #expect(outcome.output.contains("\n  = client authentication: fields of the body work, HTTP Basic does not\n"))
    #expect(outcome.output.contains("\n  ? code, refresh token: not tested: needs `--sign-in`"))
    #expect(outcome.output.contains("\n  state_limit: 255\n"))
    #expect(!(outcome.output + outcome.errors).contains("s3cret-of-mail"))
    let check = try Program.run("check", path, "--quiet")
    #expect(check.code == 0, "\(check.errors)\(check.output)")
    let text = try folder.read("policy.yaml")
    let again = try Program.run(arguments)
    #expect(again.code == 2)
    #expect(again.errors.contains("`--force` replaces it"), "\(again.errors)")
    #expect(try folder.read("policy.yaml") == text)
    #expect(try Program.run(arguments + ["--force"]).code == 0)
    await server.stop()
  }

  @Test("`--json` prints the findings, the number of requests and the block")
  func json() async throws {
    let server = try await Self.server()
    let outcome = try Program.run("probe", Self.url(server), "--json")
    #expect(outcome.code == 0, "\(outcome.errors)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let findings = try #require(object["findings"] as? [[String: Any]])
    let token = findings.first { $0["id"] as? String == "token" }
    #expect(token?["value"] as? String == "/token")
    #expect(token?["certainty"] as? String == "certain")
    #expect(findings.contains { $0["certainty"] as? String == "not_tested" })
    #expect((object["requests"] as? Int).map { $0 > 10 && $0 < 60 } == true)
    #expect((object["upstream"] as? String)?.hasPrefix("upstream:\n") == true)
    await server.stop()
  }

  @Test("A sign-in reads the URL of the browser from standard input, and needs a client")
  func signIn() async throws {
    let server = try await Self.server()
    let folder = try Folder()
    let secret = try folder.write("secret", "s3cret-of-mail\n")
    let arguments = [
      "probe", Self.url(server), "--client-id", "legacy-mail", "--client-secret-file", secret, "--redirect-uri",
      Self.client.redirectURI,
    ]
    let outcome = try Program.run(
      arguments + ["--sign-in"], input: "https://id.example.com/.proofgate/callback?code=c0de-of-user&state=x\n")
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("\(Self.url(server))/authorize?response_type=code&client_id=legacy-mail&"))
    #expect(outcome.output.contains("\n  = code: 12 characters (base64url)\n"), "\(outcome.output)")
    #expect(outcome.output.contains("\n  ! `state`: returned changed\n"))
    #expect(!(outcome.output + outcome.errors).contains("c0de-of-user"))
    let file = try folder.write("callback", "c0de-of-user\n")
    let callback = try Program.run(arguments + ["--callback", file])
    #expect(callback.output.contains("\n  ! redemption of the code: `invalid_grant`, status 400, JSON\n"))
    #expect(try Program.run("probe", Self.url(server), "--sign-in").code == 64)
    await server.stop()
  }

  @Test("A server that is no OAuth server, one that is away, and a wrong URL have their exit codes and remedies")
  func failures() async throws {
    let folder = try Folder()
    let server = try await LegacyService(
      LegacyAuthorizationServer(
        LegacyConfiguration(
          clients: [], paths: LegacyPaths(authorization: ["/x1"], token: ["/x2"], revocation: ["/x3"]))))
    let none = try Program.run("probe", Self.url(server), "-o", folder.path("policy.yaml"))
    #expect(none.code == 1)
    #expect(none.output.isEmpty)
    #expect(none.errors.contains("does not answer like an OAuth server"), "\(none.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("policy.yaml")))
    let named = try Program.run("probe", Self.url(server), "--authorization", "/x1", "--token", "/x2")
    #expect(named.code == 0)
    #expect(named.output.contains("`/x2` (named by you, answers like one)"), "\(named.output)")
    await server.stop()
    let away = try Program.run("probe", Self.url(server))
    #expect(away.code == 2)
    #expect(away.errors.contains("cannot be probed: no connection: "), "\(away.errors)")
    for wrong in [
      ["127.0.0.1:9000"], [Self.url(server), "--token", "token"], [Self.url(server), "--max-requests", "0"],
    ] {
      #expect(try Program.run(["probe"] + wrong).code == 64)
    }
    let misspelt = try Program.run("probe", Self.url(server), "--clientid", "x")
    #expect(misspelt.code == 64)
    #expect(misspelt.errors.contains("`--client-id`"), "\(misspelt.errors)")
    let missing = try Program.run(
      "probe", Self.url(server), "--client-id", "x", "--client-secret-file", folder.path("none"))
    #expect(missing.code == 2)
    #expect(missing.errors.contains("`--client-secret-file` does not exist"), "\(missing.errors)")
  }
}
