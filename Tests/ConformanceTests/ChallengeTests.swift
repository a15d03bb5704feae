import ByteText
import Cryptography
import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// RFC 7636 at the authorization endpoint.
@Suite("PKCE at the authorization endpoint")
struct ChallengeTests {
  private let unpadded = GatewayFixture.challenge

  @Test("7636-4.4.1-missing, 8252-8.1-reject-no-pkce, 9207-2-error: a request without PKCE is refused by redirect")
  func missing() async throws {
    try await GatewayFixture.run { gateway in
      let form = try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0 = $0.without("code_challenge", "code_challenge_method") },
        error: "invalid_request")
      #expect(form["error_description"] == "code challenge required")
      #expect(form["iss"] == "https://gw.example")
    }
  }

  @Test(
    "8252-8.1-all-redirect-types, 8252-7.2-type-from-record: a native app needs PKCE with every redirect URI",
    arguments: [
      "com.example.app:/cb", "https://app.example.com/cb", "http://127.0.0.1:51004/cb", "http://[::1]:51004/cb",
    ])
  func everyRedirect(redirectURI: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("n1", redirectURI) { $0 = $0.without("code_challenge", "code_challenge_method") },
        to: redirectURI, error: "invalid_request")
    }
  }

  @Test("7636-5-compat, 8252-7.2-type-from-record: a client of type web may omit PKCE if its policy says so")
  func optional() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1") { $0 = $0.without("code_challenge", "code_challenge_method") }
      let response = try await gateway.redeem(code, "w1") {
        $0.remove("code_verifier")
        $0.append("client_secret", "w1secret")
      }
      #expect(response.status == 200)
    }
  }

  @Test("7636-5-compat: the linter refuses optional PKCE for a native app")
  func optionalNative() throws {
    let report = try Lint.check(
      clients: """
          - { id: n1, type: public, redirect_uris: ["com.example.app:/cb"], pkce: optional }
        """)
    #expect(report.errors.contains { $0.contains("[pkce-native]") })
  }

  @Test("7636-4.3-method-alone: a method without a challenge counts as no PKCE")
  func methodAlone() async throws {
    try await GatewayFixture.run { gateway in
      let form = try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.remove("code_challenge") }, error: "invalid_request")
      #expect(form["error_description"]?.contains("code challenge required") == true)
    }
  }

  @Test("7636-4.3-empty: an empty challenge counts as absent")
  func empty() async throws {
    try await GatewayFixture.run { gateway in
      let form = try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.set("code_challenge", "") }, error: "invalid_request")
      #expect(form["error_description"]?.contains("code challenge required") == true)
    }
  }

  @Test("7636-4.3-default-plain: without a method the method is plain, which is off by default")
  func defaultIsPlain() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.remove("code_challenge_method") }, error: "invalid_request")
    }
  }

  @Test("7636-4.3-default-plain: without a method the method is never S256, even if plain is enabled")
  func defaultIsNotS256() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.pkceMethods = [.s256, .plain] } }) {
      gateway in
      let code = try await gateway.code { $0.remove("code_challenge_method") }
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_grant")
    }
  }

  @Test(
    "7636-4.3-method-case, 7636-4.4.1-unsupported, 7636-4.4.1-describe, 7636-7.2-plain-off: methods other than S256 are refused with a description",
    arguments: ["s256", "S512", "plain", "none"])
  func methods(method: String) async throws {
    try await GatewayFixture.run { gateway in
      let form = try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.set("code_challenge_method", method) }, error: "invalid_request")
      #expect(form["error_description"]?.contains("transform algorithm not supported") == true)
    }
  }

  @Test("7636-7.2-plain-off: enabling plain gives a lint warning")
  func plainWarning() throws {
    let report = try Lint.check(enforcement: "pkce_methods: [S256, plain]")
    #expect(report.warnings.contains { $0.contains("RFC 7636, section 7.2") && $0.contains("[plain-enabled]") })
  }

  @Test("7636-4.2-s256-mti: S256 cannot be disabled")
  func mandatory() throws {
    let report = try Lint.check(enforcement: "pkce_methods: [plain]")
    #expect(report.errors.contains { $0.contains("S256") && $0.contains("[s256-missing]") })
  }

  @Test(
    "7636-4.2-challenge-syntax, 7636-4.2-s256-43: a challenge that no verifier can match is refused",
    arguments: [
      GatewayFixture.challenge + "=", String(GatewayFixture.challenge.dropLast()), GatewayFixture.challenge + "A",
      "13d31e961a1ad8ec2f16b10c4c982e0876a878ad6df144566ee1894acb70f9c3",
      String(GatewayFixture.challenge.dropLast()) + "+",
    ])
  func syntax(challenge: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.set("code_challenge", challenge) }, error: "invalid_request")
    }
  }

  @Test("7636-4.4.1-redirect-first: an unverified redirect URI gets no error, whatever else is wrong")
  func redirectFirst() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(
        gateway.authorizationTarget("n1", "https://evil.example/") {
          $0 = $0.without("code_challenge", "code_challenge_method")
        })
    }
  }

  @Test("7636-4.4-strip-upstream, 8252-6-pkce-support: the upstream never sees a PKCE parameter")
  func strip() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.tokens()
      let names = (gateway.upstreamAuthorizationForms + gateway.upstreamTokenForms).flatMap { $0.fields.map(\.name) }
      #expect(names.contains("code"))
      #expect(!names.contains { $0.hasPrefix("code_challenge") || $0.hasPrefix("code_verifier") })
    }
  }

  @Test("7636-4.4-no-leak: the challenge is neither in the redirect nor readable in the code")
  func noLeak() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk()
      #expect(!delivery.address.contains(GatewayFixture.challenge))
      #expect(!delivery.address.contains("S256"))
      let code = try #require(delivery.parameters["code"])
      let digest = try #require(Base64URL.decode(GatewayFixture.challenge))
      let decoded = try #require(Base64URL.decode(code))
      #expect(!decoded.contains(subsequence: digest))
      #expect(!decoded.contains(subsequence: Array(GatewayFixture.challenge.utf8)))
      #expect(!code.contains("."), "a code that looks like a JWT")
    }
  }

  @Test("7636-4.4-bind: of two concurrent flows each code works only with its own verifier")
  func bind() async throws {
    try await GatewayFixture.run { gateway in
      let other = Base64URL.encode(randomBytes(32))
      let first = try await gateway.code()
      let second = try await gateway.code { $0.set("code_challenge", Base64URL.encode(sha256(Array(other.utf8)))) }
      try await gateway.expectTokenRefusal(gateway.tokenForm(first) { $0.set("code_verifier", other) }, "invalid_grant")
      try await gateway.expectTokenRefusal(gateway.tokenForm(second), "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(first))
      try await expectStatus(200, of: gateway.redeem(second) { $0.set("code_verifier", other) })
    }
  }

  @Test("7636-4.4-bind: a code of one replica is verified by another replica with the same keys")
  func replicas() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.withReplica { replica in
        let wrong = try await replica.redeem(code) { $0.set("code_verifier", String(repeating: "a", count: 43)) }
        wrong.expectTokenError(400, "invalid_grant")
        try await expectStatus(200, of: replica.redeem(code))
      }
    }
  }
}

extension [UInt8] {
  func contains(subsequence: [UInt8]) -> Bool {
    guard count >= subsequence.count, !subsequence.isEmpty else { return false }
    return (0...count - subsequence.count).contains { self[$0..<$0 + subsequence.count].elementsEqual(subsequence) }
  }
}
