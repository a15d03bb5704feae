import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("A policy that changes during a flow")
struct ReloadTests {
  static let changes: [(String, @Sendable (inout FixturePolicy) -> Void)] = [
    ("the client is gone", { $0.remove("p1") }),
    ("its redirect URI is gone", { policy in policy.edit("p1") { $0.redirectURIs = [] } }),
    (
      "its upstream client is another one", { policy in policy.edit("p1") { $0.upstream.clientID = ClientID("other") } }
    ),
    ("it may not use the grant any more", { policy in policy.edit("p1") { $0.grants = [.refreshToken] } }),
  ]

  @Test(
    "I-completion: a request completes under the policy at its start, and the next request under the new one",
    arguments: changes.indices)
  func completion(index: Int) async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      // The policy changes while the upstream prepares its response.
      let gate = Gate()
      gateway.upstream.script { request in
        guard request.method == "POST" else { return nil }
        await gate.pass()
        return nil
      }
      let before = gateway.upstream.recorder.count
      async let answer = gateway.allow(begun, cookies: [begun.cookie, session])
      await gate.someoneWaits()
      await gateway.reload(Self.changes[index].1)
      await gate.open()
      let late = try await answer
      #expect(gateway.upstream.recorder.count == before + 1)
      // A request in progress ends under the policy it began under; a later request is checked against the new one.
      #expect(late.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      let response = try await gateway.expectRefusedAfterReload(begun, [begun.cookie, session])
      #expect(response.status == 400)
      #expect(response.location == nil)
    }
  }

  @Test(
    "I-completion: the callback checks a response against the policy in force",
    arguments: changes.indices)
  func callback(index: Int) async throws {
    let policy = try FixturePolicy.with { $0.upstream.callback = .atCallback }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin()
      await gateway.reload(Self.changes[index].1)
      let response = try await gateway.expectRefused(
        get: "/.proofgate/callback?code=freshCode0123456&state=\(begun.state)", Headers.cookies([begun.cookie]),
        status: 400)
      #expect(response.location == nil)
      #expect(response.text.contains("transaction-outdated"))
    }
  }

  @Test("A code of a removed client is refused")
  func codeOfGoneClient() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      await gateway.reload { $0.remove("p1") }
      try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "p1", "com.example.p1:/cb"))
        .expectTokenError(400, "invalid_client")
    }
  }

  @Test("I-credentials: a code or refresh token is never sent with the credentials of another upstream client")
  func otherUpstreamClient() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      let sealed = try await gateway.sealedRefreshToken()
      await gateway.reload { policy in policy.edit("p1") { $0.upstream.clientID = ClientID("legacy-native") } }
      try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "p1")).expectTokenError(
        400, "invalid_grant")
      let refresh: Form = ["grant_type": "refresh_token", "refresh_token": sealed, "client_id": "p1"]
      try await gateway.expectRefused(post: "/token", refresh).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("A reload that does not concern a flow does not disturb it")
  func unconcerned() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      await gateway.reload { $0.remove("n2") }
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session])
      let code = try #require(response.answer["code"])
      await gateway.reload { $0.remove("n4") }
      #expect(try await gateway.redeem(code, "p1").status == 200)
    }
  }
}

extension GatewayFixture {
  fileprivate func expectRefusedAfterReload(_ begun: Begun, _ cookies: [String]) async throws -> Response {
    var form = begun.query
    form.append("confirm", "yes")
    return try await expectRefused(post: "/authorize", form, Headers.cookies(cookies))
  }
}
