import ByteText
import Cryptography
import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import VectorsTestSupport

/// RFC 7636 at the token endpoint.
@Suite("PKCE at the token endpoint")
struct VerifierTests {
  @Test("7636-4.6-s256, 7636-B-vector, 8252-8.5-no-secret: the RFC's verifier redeems the code without a client secret")
  func vector() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let flipped = "e" + GatewayFixture.verifier.dropFirst()
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code) { $0.set("code_verifier", flipped) }, "invalid_grant")
      let response = try await gateway.redeem(code)
      #expect(NativeApp.tokens(in: response) != nil, "\(response.text)")
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      let credentials = "Basic " + Base64URL.encode(Array("legacy-native:\(FixturePolicy.nativeSecret)".utf8))
      #expect(sent.headers["Authorization"]?.filter { $0 != "=" } == credentials)
    }
  }

  @Test("7636-A-base64url, 7636-B-random-octets: the base64url codec matches the examples of the RFC")
  func codec() {
    #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
    let octets: [UInt8] = [
      116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240,
      91, 88, 5, 88, 83, 132, 141, 121,
    ]
    #expect(Base64URL.encode(octets) == GatewayFixture.verifier)
    #expect(Base64URL.encode(sha256(Array(GatewayFixture.verifier.utf8))) == GatewayFixture.challenge)
  }

  @Test(
    "7636-4.1-length, 7636-4.6-s256: every valid pair of the vectors is accepted, from 43 to 128 characters",
    arguments: Vectors.all.pkce.validPairs)
  func validPair(pair: Vectors.Pair) async throws {
    let policy = try FixturePolicy.with { $0.edit("n1") { $0.pkceMethods = [.s256, .plain] } }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code {
        $0.set("code_challenge", pair.challenge)
        $0.set("code_challenge_method", pair.method)
      }
      let response = try await gateway.redeem(code) { $0.set("code_verifier", pair.verifier) }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "7636-4.1-length, 7636-4.1-charset, 7636-4.6-mismatch: every invalid verifier is refused without the upstream",
    arguments: Vectors.all.pkce.invalidVerifiers)
  func invalidVerifier(vector: Vectors.Verifier) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code { $0.set("code_challenge", vector.againstChallenge) }
      // The verifier is form-encoded here, so that every octet reaches the gateway.
      let response = try await gateway.expectRefused(
        post: "/token", gateway.tokenForm(code) { $0.set("code_verifier", vector.verifier) }, status: 400)
      #expect(NativeApp.error(in: response) == vector.expectedError)
    }
  }

  @Test(
    "7636-4.2-challenge-syntax, 7636-4.2-string-compare: no invalid challenge of the vectors ever gives tokens",
    arguments: Vectors.all.pkce.invalidChallenges)
  func invalidChallenge(vector: Vectors.Challenge) async throws {
    try await GatewayFixture.run { gateway in
      let target = gateway.authorizationTarget {
        $0 = $0.without("code_challenge", "code_challenge_method")
        if let challenge = vector.challenge { $0.append("code_challenge", challenge) }
        if let method = vector.method { $0.append("code_challenge_method", method) }
      }
      let before = gateway.upstream.recorder.count
      let answer = try await gateway.get(target)
      guard answer.status == 200 else {
        #expect(gateway.upstream.recorder.count == before)
        let form = try answer.expectErrorRedirect(to: "com.example.app:/cb")
        #expect(form["error"] == "invalid_request")
        return
      }
      // A challenge that passes here, for example a non-canonical spelling, must fail at the token endpoint.
      let code = try await gateway.code {
        $0 = $0.without("code_challenge", "code_challenge_method")
        if let challenge = vector.challenge { $0.append("code_challenge", challenge) }
        if let method = vector.method { $0.append("code_challenge_method", method) }
      }
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_grant")
    }
  }

  @Test("7636-4.1-form-decoding: a percent-encoded unreserved character is decoded")
  func formDecoding() async throws {
    let verifier = String(repeating: "~", count: 64)
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code { $0.set("code_challenge", "EEn3eHAIUWpE54Hmb0W-t-5-dzEkyY4PhFY2an6dERM") }
      let body =
        gateway.tokenForm(code) { $0.remove("code_verifier") }.encoded + "&code_verifier="
        + String(repeating: "%7E", count: verifier.count)
      let response = try await gateway.send(
        Request(
          method: "POST", target: "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
          body: Array(body.utf8)))
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "7636-4.1-charset: extra characters at the end of the verifier are not trimmed", arguments: ["%0A", "%2B", "%20"])
  func trailing(ending: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let body = gateway.tokenForm(code).encoded + ending
      let response = try await gateway.expectRefused(
        Request(
          method: "POST", target: "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
          body: Array(body.utf8)))
      response.expectTokenError(400, "invalid_request")
    }
  }

  @Test(
    "7636-4.5-missing-verifier, 9700-2.1.1-enforce-any: a client that sent a challenge must send the verifier",
    arguments: ["n1", "w1"])
  func missing(client: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code(client)
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, client) {
          $0.remove("code_verifier")
          if client == "w1" { $0.append("client_secret", "w1secret") }
        }, "invalid_request")
    }
  }

  @Test("7636-4.6-plain: if plain is enabled, the verifier must be equal to the challenge")
  func plain() async throws {
    let policy = try FixturePolicy.with { $0.edit("n1") { $0.pkceMethods = [.s256, .plain] } }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code {
        $0.set("code_challenge", GatewayFixture.verifier)
        $0.set("code_challenge_method", "plain")
      }
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code) { $0.set("code_verifier", GatewayFixture.challenge) }, "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(code))
    }
  }

  @Test("7636-4.6-mismatch: a wrong verifier is invalid_grant and never reaches the upstream")
  func mismatch() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let response = try await gateway.expectTokenRefusal(
        gateway.tokenForm(code) { $0.set("code_verifier", String(GatewayFixture.verifier.dropLast()) + "j") },
        "invalid_grant")
      #expect(response.headers["Cache-Control"] == "no-store")
    }
  }

  @Test("7636-4.6-method-pinned, 7636-7.2-no-fallback: the token request cannot change the method")
  func pinned() async throws {
    let policy = try FixturePolicy.with { $0.edit("n1") { $0.pkceMethods = [.s256, .plain] } }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code()
      for method in ["plain", "S256", nil] {
        try await gateway.expectTokenRefusal(
          gateway.tokenForm(code) {
            $0.set("code_verifier", GatewayFixture.challenge)
            if let method { $0.append("code_challenge_method", method) }
          }, "invalid_grant")
      }
      try await expectStatus(200, of: gateway.redeem(code))
    }
  }

  @Test("7636-4.6-attempts: wrong guesses are throttled and never use up the code")
  func attempts() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let wrong = String(repeating: "a", count: 43)
      try await gateway.expectTokenRefusal(gateway.tokenForm(code) { $0.set("code_verifier", wrong) }, "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(code))

      let guessed = try await gateway.code()
      var statuses: Set<Int> = []
      for _ in 0..<50 {
        let response = try await gateway.expectRefused(
          post: "/token", gateway.tokenForm(guessed) { $0.set("code_verifier", wrong) })
        statuses.insert(response.status)
        if response.status == 429 { #expect(response.headers["Retry-After"] != nil) }
      }
      #expect(statuses == [400, 429])
      // From another address, that of the app, the code is still valid.
      let response = try await gateway.redeem(guessed, headers: ["X-Forwarded-For": "192.0.2.77"])
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "7636-4.6-continue, 6749-4.1.3-client-binding: another client cannot redeem a code, even with the right verifier")
  func otherClient() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.expectTokenRefusal(gateway.tokenForm(code) { $0.set("client_id", "n2") }, "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(code))
    }
  }

  @Test("9700-4.8.2-downgrade, 2.1-4.1.3-iff: a verifier without a challenge is refused without the upstream")
  func downgrade() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1") { $0 = $0.without("code_challenge", "code_challenge_method") }
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, "w1") { $0.append("client_secret", "w1secret") }, "invalid_request")
    }
  }

  @Test(
    "7636-4.4-unbound-code: a code that the gateway did not issue never reaches the upstream",
    arguments: ["forged-upstream-code", "AAAA", "a.b.c"])
  func unbound(code: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_grant")
    }
  }

  @Test("7636-4.4-unbound-code: an altered code never reaches the upstream")
  func altered() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let last = code.last == "A" ? "B" : "A"
      try await gateway.expectTokenRefusal(gateway.tokenForm(code.dropLast(5) + "AAAA" + last), "invalid_grant")
    }
  }

  @Test("8252-8.5-secret-not-identity: a secret in a native app replaces neither challenge nor verifier")
  func shippedSecret() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("n3") { $0 = $0.without("code_challenge", "code_challenge_method") },
        to: "com.example.app3:/cb",
        error: "invalid_request")
      let code = try await gateway.code("n3")
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, "n3") {
          $0.append("client_secret", "s3")
          $0.set("code_verifier", String(repeating: "a", count: 43))
        }, "invalid_grant")
    }
  }
}
