import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// The challenge between the gateway and an upstream that supports PKCE.
@Suite("I-request: the gateway's own challenge")
struct UpstreamChallengeTests {
  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.upstream.usesPKCE = true
      // p1 is an app that sends a challenge, w1 is one that may omit it.
      policy.edit("w1") { $0.consent = .upstream }
      adjust(&policy)
    }
  }

  private static let verifying = LegacyQuirks.with { $0.verifiesPKCE = true }

  @Test("Each sign-in sends a new S256 challenge upstream, whatever the app sent", arguments: ["S256", "plain", nil])
  func challenge(method: String?) async throws {
    let policy = try Self.policy { $0.editAll { $0.pkceMethods = [.s256, .plain] } }
    try await GatewayFixture.run(policy) { gateway in
      var seen: Set<String> = [GatewayFixture.challenge, GatewayFixture.verifier]
      for _ in 0..<2 {
        let begun = try await gateway.begin(method == nil ? "w1" : "p1") { form in
          form.remove("code_challenge")
          form.remove("code_challenge_method")
          guard let method else { return }
          form.append("code_challenge", method == "plain" ? GatewayFixture.verifier : GatewayFixture.challenge)
          form.append("code_challenge_method", method)
        }
        let challenge = try #require(begun.query["code_challenge"])
        #expect(CodeChallenge(parsing: challenge, method: .s256) != nil)
        #expect(begun.query["code_challenge_method"] == "S256")
        #expect(begun.query.fields.count { $0.name.hasPrefix("code_challenge") } == 2)
        #expect(seen.insert(challenge).inserted)
        let verifier = try #require(try gateway.transaction(of: begun).upstreamVerifier)
        #expect(verifier.challenge.text == challenge)
        #expect("\(verifier)" == "***" && String(reflecting: verifier) == "***")
      }
    }
  }

  @Test("An upstream that verifies PKCE redeems the codes of native and web apps with the gateway's verifier")
  func redemption() async throws {
    try await GatewayFixture.run(try Self.policy(), quirks: Self.verifying) { gateway in
      for client in ["n1", "p1"] {
        let code = try await gateway.code(client)
        #expect(try await gateway.redeem(code, client).status == 200)
      }
      let code = try await gateway.code("w1") {
        $0.remove("code_challenge")
        $0.remove("code_challenge_method")
      }
      let response = try await gateway.redeem(code, "w1") {
        $0.remove("code_verifier")
        $0.append("client_secret", "w1secret")
      }
      #expect(response.status == 200, "\(response.text)")
      let verifiers = gateway.upstream.recorder.requests(to: "/token").map {
        Form(decoding: String(decoding: $0.body, as: UTF8.self))["code_verifier"]
      }
      #expect(Set(verifiers).count == 3)
      for verifier in verifiers { #expect(CodeVerifier(parsing: try #require(verifier)) != nil) }
      #expect(!verifiers.contains(GatewayFixture.verifier))
    }
  }

  @Test("The gateway compares the app's verifier, and a wrong one does not reach the upstream")
  func wrongVerifier() async throws {
    try await GatewayFixture.run(try Self.policy(), quirks: Self.verifying) { gateway in
      let code = try await gateway.code("p1")
      let wrong = try await gateway.redeem(code, "p1") { $0.set("code_verifier", String(repeating: "a", count: 43)) }
      wrong.expectTokenError(400, "invalid_grant")
      #expect(gateway.upstream.recorder.requests(to: "/token").isEmpty)
      #expect(try await gateway.redeem(code, "p1").status == 200)
    }
  }

  @Test("After a reload that turns PKCE off, a code is still redeemed with its verifier")
  func reload() async throws {
    try await GatewayFixture.run(try Self.policy(), quirks: Self.verifying) { gateway in
      let code = try await gateway.code("p1")
      await gateway.reload { $0.upstream.usesPKCE = false }
      #expect(try await gateway.redeem(code, "p1").status == 200)
    }
  }

  @Test("With `callback: network`, a stolen raw code cannot be redeemed through a sign-in of the thief")
  func stolenCode() async throws {
    let policy = try Self.policy { $0.upstream.callback = .atCallback }
    try await GatewayFixture.run(policy, quirks: Self.verifying) { gateway in
      let session = try await gateway.legacySession()
      let victim = try await gateway.begin(cookies: [session])
      let thief = try await gateway.begin()
      // The upstream's response, as a script in the victim's browser sees it.
      var form = victim.query
      form.append("confirm", "yes")
      let raw = try await ClientLoop.send(
        gateway.upstream.address,
        Request(
          method: "POST", target: "/authorize",
          headers: ["Content-Type": "application/x-www-form-urlencoded", "Cookie": session],
          body: Array(form.encoded.utf8)))
      let code = try #require(raw.answer["code"])
      let answer: Form = ["code": code, "state": thief.state]
      let delivered = try await gateway.get(answer.added(to: "/.proofgate/callback"), Headers.cookies([thief.cookie]))
      let sealed = try #require(delivered.answer["code"])
      let response = try await gateway.redeem(sealed, "p1")
      response.expectTokenError(400, "invalid_grant")
      #expect(NativeApp.tokens(in: response) == nil)
    }
  }

  @Test("I-reentry: the upstream's form must contain exactly the gateway's challenge")
  func reentry() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let begun = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      #expect(try await gateway.get(begun.target, cookies).status == 302)
      for change in [GatewayFixture.challenge, "x"] {
        let target = begun.target { $0.set("code_challenge", change) }
        let refused = try await gateway.expectRefused(get: target, cookies, status: 400)
        #expect(refused.text.contains("reentry-changed"))
      }
      try await gateway.expectRefused(
        get: begun.target { $0.set("code_challenge_method", "plain") }, cookies, status: 400)
    }
  }

  @Test("A response of the upstream that repeats the verifier does not show it to the app")
  func screened() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let code = try await gateway.code("p1")
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let form = Form(decoding: String(decoding: request.body, as: UTF8.self))
        let error = "bad verifier \(form["code_verifier"] ?? "")"
        return Response(
          status: 400, headers: ["Content-Type": "application/json"],
          body: Array(#"{"error":"invalid_grant","error_description":"\#(error)"}"#.utf8))
      }
      let response = try await gateway.redeem(code, "p1")
      response.expectTokenError(400, "invalid_grant")
      #expect(response.text.contains("bad verifier ***"))
    }
  }
}
