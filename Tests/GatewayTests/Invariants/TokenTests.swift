import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing
import Time

@Suite("I-token")
struct TokenTests {
  @Test("I-token: the upstream gets its own code, its own redirect URI and the credentials of its client")
  func redemption() async throws {
    try await GatewayFixture.run { gateway in
      let sealed = try await gateway.code()
      let code = try gateway.sealer.open(IssuedCode.self, from: sealed)
      let response = try await gateway.redeem(sealed)
      #expect(response.status == 200)
      #expect(response.headers["Cache-Control"] == "no-store")
      #expect(response.headers["Pragma"] == "no-cache")
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      #expect(
        Form(decoding: String(decoding: sent.body, as: UTF8.self)) == [
          "grant_type": "authorization_code", "code": code.upstreamCode.reveal(),
          "redirect_uri": "https://gw.example/.proofgate/callback",
        ])
      let credentials = BasicCredentials(user: "legacy-native", password: Secret(FixturePolicy.nativeSecret))
      #expect(sent.headers["Authorization"] == credentials.header.reveal())
    }
  }

  static let refusals: [(String, @Sendable (inout Form) -> Void, Int, String)] = [
    ("another client", { $0.set("client_id", "n2") }, 400, "invalid_grant"),
    ("another redirect URI", { $0.set("redirect_uri", "https://app.example.com/cb") }, 400, "invalid_grant"),
    ("no redirect URI", { $0.remove("redirect_uri") }, 400, "invalid_grant"),
    ("a wrong verifier", { $0.set("code_verifier", String(repeating: "a", count: 43)) }, 400, "invalid_grant"),
    ("the challenge as the verifier", { $0.set("code_verifier", GatewayFixture.challenge) }, 400, "invalid_grant"),
    ("no verifier", { $0.remove("code_verifier") }, 400, "invalid_request"),
    ("an empty verifier", { $0.set("code_verifier", "") }, 400, "invalid_request"),
    ("a malformed verifier", { $0.set("code_verifier", "too-short") }, 400, "invalid_request"),
    ("a verifier twice", { $0.append("code_verifier", GatewayFixture.verifier) }, 400, "invalid_request"),
    ("an unknown client", { $0.set("client_id", "nobody") }, 400, "invalid_client"),
    ("the upstream's own id", { $0.set("client_id", "legacy-native") }, 401, "invalid_client"),
    ("no client", { $0.remove("client_id") }, 400, "invalid_client"),
    ("another grant type", { $0.set("grant_type", "urn:x") }, 400, "unsupported_grant_type"),
  ]

  @Test(
    "I-token: a request that does not fit the code is refused without the upstream, and the code stays valid",
    arguments: refusals.indices)
  func refused(index: Int) async throws {
    let (_, change, status, error) = Self.refusals[index]
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let response = try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, adjusting: change))
      response.expectTokenError(status, error)
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("I-token: an altered code, or another spelling of it, is refused")
  func altered() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let last = code.index(before: code.endIndex)
      var spellings = [code + "=", code + "==", code + "A", String(code.dropLast()), " " + code, code + "\n"]
      spellings.append(code.replacing("-", with: "+").replacing("_", with: "/") + "=")
      // For most lengths the last character has spare bits, so a lenient decoder accepts several characters.
      for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" where character != code[last]
      {
        spellings.append(String(code.dropLast()) + String(character))
      }
      for offset in stride(from: 0, to: code.count, by: 7) {
        spellings.append(code.replacingCharacter(at: code.index(code.startIndex, offsetBy: offset)))
      }
      for spelling in spellings where spelling != code {
        let response = try await gateway.expectRefused(post: "/token", gateway.tokenForm(spelling))
        // An altered key id looks like an unknown key, which this replica may not have yet.
        #expect([400, 503].contains(response.status))
      }
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("I-token: after twenty wrong verifiers further ones get 429, and the code stays valid")
  func throttled() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let other = try await gateway.code()
      let wrong = gateway.tokenForm(code) { $0.set("code_verifier", String(repeating: "b", count: 64)) }
      var statuses: [Int] = []
      for _ in 0..<25 { statuses.append(try await gateway.expectRefused(post: "/token", wrong).status) }
      #expect(statuses.prefix(20).allSatisfy { $0 == 400 })
      #expect(statuses.last == 429)
      let throttled = try await gateway.expectRefused(post: "/token", wrong)
      #expect(throttled.headers.contains("Retry-After"))
      #expect(NativeApp.error(in: throttled) != "invalid_grant")
      // Another flow from the same address, and a request with the right verifier, are not throttled.
      #expect(try await gateway.redeem(other).status == 200)
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("I-token: a verifier for a code without a challenge is refused")
  func downgrade() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1") { form in
        form.remove("code_challenge")
        form.remove("code_challenge_method")
      }
      let surplus = gateway.tokenForm(code, "w1") { $0.append("client_secret", "w1secret") }
      try await gateway.expectRefused(post: "/token", surplus).expectTokenError(400, "invalid_request")
      let response = try await gateway.redeem(code, "w1") { form in
        form.append("client_secret", "w1secret")
        form.remove("code_verifier")
      }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "I-token: an unsealed code is refused for every configured client",
    arguments: ["n1", "n3", "p1", "w1", "w3"])
  func rawCode(client: String) async throws {
    try await GatewayFixture.run { gateway in
      let secrets = ["w1": "w1secret", "w3": "w3secret"]
      let sealed = try await gateway.code(client)
      let raw = try gateway.sealer.open(IssuedCode.self, from: sealed).upstreamCode.reveal()
      let form = gateway.tokenForm(raw, client) { form in
        if let secret = secrets[client] { form.append("client_secret", secret) }
      }
      try await gateway.expectRefused(post: "/token", form).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("I-token: other values that the gateway sealed are refused as codes")
  func otherPurposes() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let cookie = try #require(begun.cookie.split(separator: "=").last).description
      for value in [begun.state, cookie] {
        try await gateway.expectRefused(post: "/token", gateway.tokenForm(value, "p1")).expectTokenError(
          400, "invalid_grant")
      }
    }
  }

  @Test("I-token: a code can be redeemed once", arguments: [1, 2])
  func once(workers: Int) async throws {
    try await GatewayFixture.run(workers: workers) { gateway in
      let code = try await gateway.code()
      #expect(try await gateway.redeem(code).status == 200)
      try await expectReplayRefused(code, gateway)
    }
  }

  /// Expects that a replay redeems nothing; the upstream sees only the revocation of the first redemption's tokens.
  private func expectReplayRefused(_ code: String, _ gateway: GatewayFixture) async throws {
    let before = gateway.upstream.recorder.requests(to: "/token").count
    try await gateway.redeem(code).expectTokenError(400, "invalid_grant")
    #expect(gateway.upstream.recorder.requests(to: "/token").count == before)
  }

  @Test("I-token: of twenty concurrent redemptions one gets tokens and one reaches the upstream")
  func parallel() async throws {
    try await GatewayFixture.run(workers: 2) { gateway in
      let code = try await gateway.code()
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { try await gateway.redeem(code).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 200 }.count == 1)
      #expect(statuses.filter { $0 == 400 }.count == 19)
      #expect(gateway.upstream.recorder.requests(to: "/token").count == 1)
    }
  }

  @Test("I-token: an expired code is refused")
  func expired() async throws {
    let policy = try FixturePolicy.with { $0.edit("n1") { $0.codeLifetime = 0 } }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code()
      let response = try await gateway.expectRefused(post: "/token", gateway.tokenForm(code))
      response.expectTokenError(400, "invalid_grant")
      #expect(response.headers["X-Proofgate-Rule"] == "code-expired")
    }
  }

  @Test("I-token: a code stays valid if the upstream refuses the connection")
  func released() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.withReplica(upstream: .dead, sharesStore: true) { replica in
        for _ in 0..<2 {
          let response = try await replica.redeem(code)
          response.expectTokenError(503, "temporarily_unavailable")
          #expect(response.headers.contains("Retry-After"))
        }
      }
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("I-token: after a request without a response only the same client with the same verifier may retry")
  func unsettled() async throws {
    let raw = try await RawUpstream(.reset)
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.withReplica(upstream: .raw(raw), sharesStore: true) { replica in
        try await replica.redeem(code).expectTokenError(502, "server_error")
        #expect(raw.requests.count == 1)
      }
      let stranger = gateway.tokenForm(code) { $0.set("code_verifier", String(repeating: "c", count: 43)) }
      try await gateway.expectRefused(post: "/token", stranger).expectTokenError(400, "invalid_grant")
      try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "n2")).expectTokenError(
        400, "invalid_grant")
      #expect(try await gateway.redeem(code).status == 200)
      try await expectReplayRefused(code, gateway)
    }
    await raw.stop()
  }

  @Test("I-token: a code that an attempt without a response used up gives 502 and never invalid_grant")
  func usedUp() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let legacy = gateway.upstream.legacy
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        _ = legacy.respond(to: request, now: 1_700_000_000)
        return Response(status: 500, body: Array("the database went away".utf8))
      }
      try await gateway.redeem(code).expectTokenError(502, "server_error")
      gateway.upstream.script(nil)
      try await gateway.redeem(code).expectTokenError(502, "server_error")
    }
  }

  @Test("I-token: the token endpoint accepts only forms in a POST")
  func methodAndBody() async throws {
    try await GatewayFixture.run(quirks: .with { $0.tokensOverGET = true }) { gateway in
      let code = try await gateway.code()
      let form = gateway.tokenForm(code)
      let got = try await gateway.expectRefused(get: form.added(to: "/token"), status: 405)
      #expect(got.headers["Allow"] == "POST")
      try await gateway.expectRefused(post: form.added(to: "/token"), [:], status: 400)
      try await gateway.expectRefused(post: "/token?code=\(code)", form, status: 400)
      try await gateway.expectRefused(post: "/token", form, ["Content-Type": "text/plain"], status: 400)
      try await gateway.expectRefused(post: "/token", form, ["Content-Type": "application/json"], status: 400)
      try await gateway.expectRefused(
        post: "/token", form, ["Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip"],
        status: 400)
      #expect(try await gateway.redeem(code).status == 200)
    }
  }
}
