import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// The end of the logins of an access token.
extension ResourceTests {
  @Test("Expiry, revocation, the end of the login and the removal of the client make a token inactive")
  func ends() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let revoked = try await Self.tokens(gateway, for: Self.mail)
      // The upstream refuses the other client, which has no credentials there.
      _ = try await gateway.post("/revoke", ["token": revoked.access, "client_id": "n2"])
      #expect(try await Self.introspect(gateway, revoked.access).text.contains(#""active":true"#))
      try await expectStatus(200, of: gateway.post("/revoke", ["token": revoked.access, "client_id": "n1"]))
      #expect(try await Self.introspect(gateway, revoked.access).text == Self.inactive)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").last)
      #expect(sent.headers["Authorization"] != nil)

      let ended = try await Self.tokens(gateway, for: Self.mail)
      try await expectStatus(200, of: gateway.post("/revoke", ["token": ended.refresh, "client_id": "n1"]))
      #expect(try await Self.introspect(gateway, ended.access).text == Self.inactive)

      let orphaned = try await Self.tokens(gateway, "n2", for: Self.mail)
      await gateway.reload { $0.remove("n2") }
      #expect(try await Self.introspect(gateway, orphaned.access).text == Self.inactive)

      let expired = try await Self.tokens(gateway, for: Self.mail)
      gateway.clock.advance(by: 86_400)
      #expect(try await Self.introspect(gateway, expired.access).text == Self.inactive)
    }
  }

  @Test(
    "The end of a login makes its tokens inactive for as long as they would be active, also beyond refresh_idle",
    arguments: ["logout", "reuse", "code", "repeated logout"])
  func endOutlivesIdleTime(_ reason: String) async throws {
    let policy = try Self.policy { $0.editAll { $0.refreshIdle = 60 } }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code { $0.append("resource", Self.mail) }
      let tokens = try #require(NativeApp.tokens(in: try await gateway.redeem(code)))
      let refresh = try #require(tokens.refreshToken?.reveal())
      switch reason {
      case "code": try await gateway.redeem(code).expectTokenError(400, "invalid_grant")
      case "reuse":
        try await expectStatus(200, of: gateway.post("/token", gateway.refreshForm(refresh)))
        try await expectStatus(400, of: gateway.post("/token", gateway.refreshForm(refresh)))
      default: try await expectStatus(200, of: gateway.post("/revoke", ["token": refresh, "client_id": "n1"]))
      }
      // A token of a later generation, whose revocation changes the record of the end.
      if reason == "repeated logout" {
        try await expectStatus(400, of: gateway.post("/token", gateway.refreshForm(refresh)))
      }
      for _ in 0..<3 {
        #expect(try await Self.introspect(gateway, tokens.accessToken.reveal()).text == Self.inactive)
        gateway.clock.advance(by: 150)
      }
      #expect(gateway.logLines.last?.contains("token-inactive:login-ended") == true)
    }
  }

  @Test("The end of a login is remembered for the time in which its tokens are issued again, or they stay inactive")
  func reissuedLater() async throws {
    let day = 86_400
    for (validity, ends, isActive) in [
      (day, true, false), (day, false, false), (60 * day, true, false), (60 * day, false, true),
    ] as [(Int, Bool, Bool)] {
      let policy = try Self.policy {
        $0.editAll { $0.refreshIdle = 60 }
        $0.upstream.accessTokenValidity = Seconds(validity)
      }
      try await GatewayFixture.run(policy) { gateway in
        gateway.upstream.script { request in
          guard request.path == "/token" else { return nil }
          let body =
            #"{"access_token":"same","token_type":"Bearer","refresh_token":"r1","expires_in":5184000,"scope":"read"}"#
          return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        func signIn() async throws -> String {
          let answer = try await gateway.redeem(try await gateway.code { $0.append("resource", Self.mail) })
          return try #require(NativeApp.tokens(in: answer)?.refreshToken?.reveal(), "\(answer.text)")
        }
        let refresh = try await signIn()
        gateway.clock.advance(by: 29 * day)
        // No end can be forgotten yet.
        if !ends {
          _ = try await signIn()
          #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
        } else {
          try await expectStatus(200, of: gateway.post("/revoke", ["token": refresh, "client_id": "n1"]))
        }
        gateway.clock.advance(by: 31 * day)
        _ = try await signIn()
        let answer = try await Self.introspect(gateway, "same").text
        #expect(answer.contains(#""active":true"#) == isActive, "\(validity) \(ends) \(answer)")
      }
    }
  }

  @Test("Logouts and revocations count for resources that the policy does not list at that time")
  func endsWithoutResources() async throws {
    let policy = try Self.policy { $0.editAll { $0.refreshIdle = 60 } }
    try await GatewayFixture.run(policy) { gateway in
      let ended = try await Self.tokens(gateway, for: Self.mail)
      let revoked = try await Self.tokens(gateway, for: Self.mail)
      let kept = try await Self.tokens(gateway, for: Self.mail)
      let resources = FixturePolicy(gateway.policy).resources
      await gateway.reload { $0.resources = [] }
      for token in [ended.refresh, revoked.access] {
        try await expectStatus(200, of: gateway.post("/revoke", ["token": token, "client_id": "n1"]))
      }
      gateway.clock.advance(by: 300)
      await gateway.reload { $0.resources = resources }
      for token in [ended.access, revoked.access] {
        #expect(try await Self.introspect(gateway, token).text == Self.inactive)
      }
      #expect(try await Self.introspect(gateway, kept.access).text.contains(#""active":true"#))
    }
  }

  @Test(
    "A token that two logins of one client have got is inactive as soon as either of them has ended",
    arguments: [0, 1], ["logout", "reuse", "code"])
  func severalLogins(_ login: Int, _ reason: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var codes: [String] = []
      for _ in 0..<2 { codes.append(try await gateway.code { $0.append("resource", Self.mail) }) }
      Self.issueOneToken(gateway, refresh: true)
      var refresh: [String] = []
      for code in codes {
        let answer = try await gateway.redeem(code)
        refresh.append(try #require(NativeApp.tokens(in: answer)?.refreshToken?.reveal(), "\(answer.text)"))
      }
      #expect(try await Self.introspect(gateway, "same").text.contains(#""client_id":"n1""#))
      switch reason {
      case "code": try await gateway.redeem(codes[login]).expectTokenError(400, "invalid_grant")
      case "reuse":
        try await expectStatus(200, of: gateway.post("/token", gateway.refreshForm(refresh[login])))
        #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
        try await expectStatus(400, of: gateway.post("/token", gateway.refreshForm(refresh[login])))
      default: try await expectStatus(200, of: gateway.post("/revoke", ["token": refresh[login], "client_id": "n1"]))
      }
      #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
    }
  }

  @Test("A token whose login has ended stays inactive, however many further logins get it")
  func manyLogins() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var codes: [String] = []
      for _ in 0..<10 { codes.append(try await gateway.code { $0.append("resource", Self.mail) }) }
      Self.issueOneToken(gateway, refresh: true)
      let first = try await gateway.redeem(codes[0])
      let refresh = try #require(NativeApp.tokens(in: first)?.refreshToken?.reveal(), "\(first.text)")
      try await expectStatus(200, of: gateway.redeem(codes[1]))
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
      try await expectStatus(200, of: gateway.post("/revoke", ["token": refresh, "client_id": "n1"]))
      for code in codes.dropFirst(2) {
        try await expectStatus(200, of: gateway.redeem(code))
        #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
      }
    }
  }
}
