import ArgumentParser
import FoundationEssentials
import GatewayTestSupport
import HTTP
import OAuth
import Policy
import PolicyFile
import Testing
import VectorsTestSupport

@testable import proofgate

/// The diagnostics of the linter for a policy file.
@Suite("Lint")
struct PolicyLintTests {
  private static func native(_ uris: String, _ more: String = "", id: String = "n1") -> String {
    "  - { id: \(id), type: public, application: native, redirect_uris: [\(uris)]\(more) }"
  }

  @Test("8252-5-no-oob: an out-of-band redirect URI is refused")
  func outOfBand() throws {
    let report = try Lint.check(clients: Self.native("\"urn:ietf:wg:oauth:2.0:oob\""))
    #expect(report.errors.contains { $0.contains("[out-of-band]") })
    #expect(!report.isServable)
  }

  @Test("8252-7.1-unique-scheme: two clients with one scheme give a warning that names both")
  func sharedScheme() throws {
    let report = try Lint.check(
      clients: Self.native("\"com.example.app:/a\"", id: "a") + "\n" + Self.native("\"com.example.app:/b\"", id: "b"))
    #expect(report.warnings.contains { $0.contains("[shared-scheme]") && $0.contains("`a`") && $0.contains("`b`") })
  }

  @Test("8252-8.4-record-type, 6749-2.1-no-assumption: a client without a type keeps the gateway from starting")
  func type() async throws {
    let text = "  - { id: legacy-app, redirect_uris: [\"com.example.app:/cb\"] }"
    let report = try Lint.check(clients: text)
    #expect(report.errors.contains { $0.contains("`legacy-app`") && $0.contains("[client-type]") })
    #expect(!report.isServable)
    // Until an operator states its type, the client does not exist for the gateway.
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("legacy-app", "com.example.app:/cb"))
    }
  }

  @Test("8252-8.4-reverse-domain: a scheme that is no reversed domain gives an error, or with `minimum` a warning")
  func reversed() throws {
    let strict = try Lint.check(clients: Self.native("\"local.myapp:/cb\""))
    #expect(strict.errors.contains { $0.contains("[scheme-not-reversed]") })
    let minimum = try Lint.check(enforcement: "schemes: minimum", clients: Self.native("\"local.myapp:/cb\""))
    #expect(minimum.errors.isEmpty)
    #expect(minimum.warnings.contains { $0.contains("[scheme-not-reversed]") })
    let plain = try Lint.check(enforcement: "schemes: minimum", clients: Self.native("\"myapp:/cb\""))
    #expect(!plain.errors.isEmpty)
  }

  @Test(
    "8252-8.4-reverse-domain, 8252-7.1-single-slash: every scheme vector gets its expected verdict from the linter",
    arguments: Vectors.all.privateUseSchemes.vectors)
  func schemeVector(vector: Vectors.Scheme) throws {
    let quoted = vector.uri.replacing("'", with: "''")
    let report = try Lint.check(clients: Self.native("'\(quoted)'"))
    #expect(report.errors.isEmpty == vector.expectedValid, "\(report.all)")
    if vector.warn { #expect(!report.warnings.isEmpty || !report.notes.isEmpty, "\(report.all)") }
  }

  @Test("8252-8.10-unique-redirect: one redirect URI at two servers gives a warning")
  func twoServers() throws {
    func text(_ origin: String) -> String {
      """
      version: 1
      gateway: { origin: \(origin), listeners: [{ address: "127.0.0.1:8080" }] }
      upstream: { url: "http://127.0.0.1:9000", endpoints: { authorization: /authorize, token: /token } }
      clients:
      \(Self.native("\"com.example.app:/cb\""))

      """
    }
    let directory = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString
    let paths = [directory + "-a.yaml", directory + "-b.yaml"]
    defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
    for (path, origin) in zip(paths, ["https://a.example", "https://b.example"]) {
      try Data(text(origin).utf8).write(to: URL(fileURLWithPath: path))
    }
    let check = PolicyFile.check(paths: paths, PolicySources(environment: [:]))
    #expect(check.conflicts.contains { $0.id == .sharedRedirectURI && $0.severity == .warning })
  }

  @Test("8252-A-selfcheck: the report names a failed point of the checklist, and the profile is not met")
  func selfCheck() throws {
    let path = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString + ".yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let text = """
      version: 1
      gateway: { origin: https://gw.example, listeners: [{ address: "127.0.0.1:8080" }] }
      upstream: { url: "http://127.0.0.1:9000", endpoints: { authorization: /authorize, token: /token } }
      enforcement: { redirects: [private_use, claimed_https] }

      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let report = CheckReport(paths: [path], PolicySources(environment: [:]))
    #expect(report.text(quiet: false).contains("3. loopback redirect URIs on any port: failed"))
    #expect(report.text(quiet: false).contains("appendix A: not met"))
    var command = try CheckCommand.parse(["--quiet", "--require-rfc8252", path])
    #expect(throws: (any Error).self) { try command.run() }
    command = try CheckCommand.parse(["--quiet", path])
    try command.run()
  }

  @Test("8252-B.3-39-chars: a scheme of 40 or more characters gives a warning on UWP only")
  func longScheme() throws {
    let forty = "com.example." + String(repeating: "a", count: 28)
    func report(_ scheme: String, _ platform: String) throws -> Lint.Report {
      try Lint.check(clients: Self.native("\"\(scheme):/cb\"", ", platform: \(platform)"))
    }
    #expect(forty.utf8.count == 40)
    #expect(try report(forty, "uwp").warnings.contains { $0.contains("[scheme-too-long]") })
    #expect(try !report(forty, "ios").all.contains { $0.contains("[scheme-too-long]") })
    #expect(try !report(String(forty.dropLast()), "uwp").all.contains { $0.contains("[scheme-too-long]") })
  }

  @Test("7595-3.8-domain-lapse: the domains that schemes claim are listed")
  func domains() throws {
    let report = try Lint.check(clients: Self.native("\"com.example.app:/cb\""))
    let domains = try #require(report.outcome.policy).schemeDomains
    #expect(domains.map(\.description) == ["com.example.app claims example.com (n1)"])
  }
}
