import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import VectorsTestSupport

/// The settings in which the drafts of RFC 8252 differ, each for one client while the others keep the default.
@Suite("Settings of one client")
struct ClientSettingsTests {
  @Test("`state: require` refuses a request without state, for that client only")
  func state() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.state = .require } }) { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.remove("state") }, error: "invalid_request", state: nil)
      try await expectStatus(200, of: gateway.get(gateway.authorizationTarget("n2") { $0.remove("state") }))
    }
  }

  @Test("`state: off` gives no finding for a missing state")
  func stateOff() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.state = .off } }) { gateway in
      _ = try await gateway.get(gateway.authorizationTarget { $0.remove("state") })
      #expect(!gateway.logLines.contains { $0.contains("state-missing") })
    }
  }

  @Test("`pkce_syntax: lenient` accepts padding and still compares exactly")
  func lenient() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.pkceSyntax = .lenient } }) { gateway in
      let code = try await gateway.code { $0.set("code_challenge", GatewayFixture.challenge + "=") }
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code) { $0.set("code_verifier", String(repeating: "a", count: 43) + "=") }, "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(code))
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("n2") { $0.set("code_challenge", GatewayFixture.challenge + "=") },
        to: "com.example.app2:/cb",
        error: "invalid_request")
    }
  }

  @Test("`embedded_user_agents: block` shows a page with the address to open in a browser")
  func embedded() async throws {
    let agent = Vectors.all.userAgents.vectors.first { $0.expectedEmbedded }?.userAgent ?? ""
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.embeddedUserAgents = .block } }) {
      gateway in
      let page = try await gateway.expectErrorPage(gateway.authorizationTarget(), status: 403, ["User-Agent": agent])
      #expect(page.text.lowercased().contains("browser"))
      #expect(page.text.contains("/authorize?"), "the address to open in a browser")
      try await expectStatus(200, of: gateway.get(gateway.authorizationTarget("n2"), ["User-Agent": agent]))
    }
  }

  @Test("`embedded_user_agents: off` does not check the user agent")
  func embeddedOff() async throws {
    let agent = Vectors.all.userAgents.vectors.first { $0.expectedEmbedded }?.userAgent ?? ""
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.embeddedUserAgents = .off } }) { gateway in
      try await expectStatus(200, of: gateway.get(gateway.authorizationTarget(), ["User-Agent": agent]))
      #expect(!gateway.logLines.contains { $0.contains("user-agent-embedded") })
    }
  }

  @Test(
    "Each deviation from the RFCs gives a lint warning with its section, for one client and for all",
    arguments: [
      ("localhost: any_port", "RFC 8252, section 8.3"), ("schemes: minimum", "RFC 8252, sections 7.1 and 8.4"),
      ("embedded_user_agents: off", "RFC 8252, section 8.12"), ("state: off", "RFC 8252, section 8.9"),
      ("pkce_syntax: lenient", "RFC 7636, section 4.1"), ("refresh_reuse_window: 60s", "RFC 9700, section 4.14.2"),
      ("raw_refresh_until: 2027-03-31", "RFC 6749, section 10.4"),
    ])
  func linted(setting: String, section: String) throws {
    let forAll = try Lint.check(enforcement: setting)
    #expect(forAll.warnings.contains { $0.contains("(\(section))") }, "\(forAll.all)")
    let forOne = try Lint.check(
      clients: "  - { id: n1, type: public, redirect_uris: [\"com.example.app:/cb\"], \(setting) }")
    #expect(forOne.warnings.contains { $0.contains("(\(section))") }, "\(forOne.all)")
  }
}
