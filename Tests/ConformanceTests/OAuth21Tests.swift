import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// `profile: oauth_2_1`.
@Suite("The OAuth 2.1 profile")
struct OAuth21Tests {
  private static func policy(_ adjust: @escaping (inout ClientSettings) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with {
      $0.editAll { $0.profile = .oauth21 }
      $0.edit("w1", adjust)
    }
  }

  @Test("2.1-4.1.2.1-all-clients: every client must send a challenge, whatever its other settings")
  func allClients() async throws {
    try await GatewayFixture.run(try Self.policy { $0.pkce = .optional }) { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("w1") { $0 = $0.without("code_challenge", "code_challenge_method") },
        to: "https://web.example.com/cb?x=1", error: "invalid_request")
    }
  }

  @Test("2.1-4.1.2.1-all-clients: a confidential client that relies on the nonce may send it instead of a challenge")
  func nonce() async throws {
    let policy = try Self.policy {
      $0.pkce = .optional
      $0.reliesOnNonce = true
    }
    try await GatewayFixture.run(policy) { gateway in
      let bare = { (form: inout Form) in form = form.without("code_challenge", "code_challenge_method") }
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("w1", adjusting: bare), to: "https://web.example.com/cb?x=1",
        error: "invalid_request")
      let code = try await gateway.code("w1") {
        bare(&$0)
        $0.append("nonce", "n-0S6_WzA2Mj")
      }
      let response = try await gateway.redeem(code, "w1") {
        $0.remove("code_verifier")
        $0.append("client_secret", "w1secret")
      }
      #expect(response.status == 200, "\(response.text)")
      #expect(gateway.upstreamAuthorizationForms.contains { $0["nonce"] == "n-0S6_WzA2Mj" })
    }
  }

  @Test("2.1-4.1.3-iff: optional PKCE is a lint error, and a code without a challenge is refused")
  func onlyWithChallenge() async throws {
    let report = try Lint.check(
      clients: """
          - id: w1
            type: confidential
            profile: oauth_2_1
            pkce: optional
            redirect_uris: ["https://web.example.com/cb"]
        """)
    #expect(report.errors.contains { $0.contains("[pkce-profile]") })
    #expect(!report.isServable)
    let before = try FixturePolicy.with { $0.edit("w1") { $0.pkce = .optional } }
    try await GatewayFixture.run(before) { gateway in
      let code = try await gateway.code("w1") { $0 = $0.without("code_challenge", "code_challenge_method") }
      await gateway.reload { $0.edit("w1") { $0.profile = .oauth21 } }
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, "w1") {
          $0.remove("code_verifier")
          $0.append("client_secret", "w1secret")
        }, "invalid_grant")
    }
  }

  @Test("2.1-10.2-redirect-uri: redirect_uri may be omitted at the token endpoint, and is compared if it is sent")
  func redirectURI() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let code = try await gateway.code()
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, "n1", "https://app.example.com/cb"), "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(code) { $0.remove("redirect_uri") })
      #expect(gateway.upstreamTokenForms.last?["redirect_uri"] == "https://gw.example/.proofgate/callback")
    }
  }
}
