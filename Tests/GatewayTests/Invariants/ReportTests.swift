import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

@Suite("I-report")
struct ReportTests {
  private static func reporting(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.mode = .report
      policy.unknownClients = .report
      policy.editAll { $0.mode = .report }
      adjust(&policy)
    }
  }

  @Test("I-report: an unmatched redirect URI is never completed: the request goes as the client sent it")
  func unmatched() async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      let target = gateway.az("p1", "com.evil:/cb")
      gateway.upstream.script { request in
        let state = Form(decoding: request.query ?? "")["state"] ?? ""
        return Response(status: 302, headers: ["Location": "com.evil:/cb?code=rawcode0123456&state=\(state)"])
      }
      let response = try await gateway.get(target)
      #expect(response.location == "com.evil:/cb?code=rawcode0123456&state=s1")
      #expect(response.ownCookie == nil)
      let sent = try #require(gateway.upstream.recorder.requests.first)
      #expect(sent.target == target)
      #expect(gateway.logLines.contains { $0.contains("would-reject:redirect-uri-mismatch") })
    }
  }

  @Test("I-report: no code of the gateway's ever goes to an unmatched redirect URI of a running transaction")
  func unmatchedLater() async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      await gateway.reload { policy in policy.edit("p1") { $0.redirectURIs = [] } }
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session])
      #expect(response.status == 400)
      #expect(response.location == nil)
    }
  }

  @Test("I-report: a challenge that was sent is verified")
  func challenge() async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      let code = try await gateway.code()
      let wrong = gateway.tk(code) { $0.set("code_verifier", String(repeating: "a", count: 43)) }
      try await gateway.expectRefused(post: "/token", wrong).expectTokenError(400, "invalid_grant")
      let missing = gateway.tk(code) { $0.remove("code_verifier") }
      try await gateway.expectRefused(post: "/token", missing).expectTokenError(400, "invalid_request")
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test("I-report: without a challenge the flow goes on, is logged, and gets none of the gateway's credentials")
  func withoutChallenge() async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      let code = try await gateway.code("n1") { form in
        form.remove("code_challenge")
        form.remove("code_challenge_method")
      }
      let response = try await gateway.redeem(code) { $0.remove("code_verifier") }
      #expect(response.status == 401)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      #expect(!sent.headers.contains("Authorization"))
      #expect(!String(decoding: sent.body, as: UTF8.self).contains("secret"))
      #expect(gateway.logLines.contains { $0.contains("would-reject:pkce-required") })
      #expect(gateway.metricsText.contains("rule=\"pkce-required\",decision=\"report\""))
    }
  }

  @Test("I-report: a raw code goes as the client sent it, without the secret that only the gateway knows it by")
  func rawCode() async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      let form = gateway.tk("rawcode0123456", "w1") { $0.append("client_secret", "w1secret") }
      _ = try await gateway.post("/token", form, ["Cookie": "__Host-proofgate=x; a=1"])
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      #expect(String(decoding: sent.body, as: UTF8.self) == gateway.tk("rawcode0123456", "w1").encoded)
      #expect(!sent.headers.contains("Authorization"))
      #expect(sent.headers["Cookie"] == "a=1")
    }
  }

  @Test(
    "I-report: ambiguous requests are refused",
    arguments: [
      "&client_id=p1", "&redirect_uri=x", "&state=s2", "&client%5fid=x", "&Client_Id=p1", "&%ff=1",
    ])
  func ambiguous(addition: String) async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      try await gateway.expectRefused(get: gateway.az("p1") + addition)
    }
  }

  @Test("I-report: ambiguous token requests are refused")
  func ambiguousTokenRequests() async throws {
    try await GatewayFixture.run(try Self.reporting()) { gateway in
      let form = gateway.tk("rawcode0123456", "p1")
      try await gateway.expectRefused(post: "/token?code=x", form, status: 400)
      try await gateway.expectRefused(get: form.added(to: "/token"), status: 405)
      var twice = form
      twice.append("code", "b")
      try await gateway.expectRefused(post: "/token", twice, status: 400)
      try await gateway.expectRefused(get: "/%61uthorize", status: 400)
    }
  }

  @Test(
    "I-report: an upstream id with held credentials is never just unknown", arguments: [UnknownClients.report, .pass])
  func heldIDs(unknown: UnknownClients) async throws {
    let policy = try Self.reporting { $0.unknownClients = unknown }
    try await GatewayFixture.run(policy) { gateway in
      for id in ["legacy-native", "legacy-p1", "legacy-w1"] {
        let target = gateway.az(id, "https://gw.example/.proofgate/callback")
        let response = try await gateway.expectRefused(get: target, status: 400)
        #expect(response.location == nil)
        try await gateway.expectRefused(post: "/token", gateway.tk("rawcode0123456", id)).expectTokenError(
          401, "invalid_client")
        try await gateway.expectRefused(
          post: "/token",
          ["grant_type": "client_credentials", "client_id": id, "client_secret": FixturePolicy.nativeSecret]
        ).expectTokenError(401, "invalid_client")
      }
    }
  }

  @Test("I-report: an unknown client passes as it came where the policy lets it")
  func unknownClients() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.unknownClients = .pass }) { gateway in
      let target = gateway.az("stranger", "https://stranger.example/cb")
      let response = try await gateway.get(target, ["Cookie": "__Host-proofgate=x; a=1"])
      #expect(response.status == 400)
      #expect(response.text.contains("Unknown application"))
      let sent = try #require(gateway.upstream.recorder.requests.first)
      #expect(sent.target == target)
      #expect(sent.headers["Cookie"] == "a=1")
      let form = gateway.tk("rawcode0123456", "stranger")
      #expect(try await gateway.post("/token", form).status == 401)
      #expect(gateway.upstream.recorder.requests.last.map { String(decoding: $0.body, as: UTF8.self) } == form.encoded)
    }
  }

  @Test("I-report: one client may report while the others are held to the rules")
  func perClient() async throws {
    let policy = try FixturePolicy.with { policy in policy.edit("p1") { $0.mode = .report } }
    try await GatewayFixture.run(policy) { gateway in
      let without: (inout Form) -> Void = { $0.remove("code_challenge") }
      let begun = try await gateway.begin("p1", adjusting: without)
      #expect(begun.query["client_id"] == "legacy-p1")
      try await gateway.expectRefused(get: gateway.az("n1", adjusting: without))
    }
  }
}
