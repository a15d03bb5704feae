import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// Access tokens that the upstream issues several times.
extension ResourceTests {
  @Test("A token that the upstream hands out for two resources is withheld, and stays active for the first one only")
  func shared() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let mailCode = try await gateway.code { $0.append("resource", Self.mail) }
      let filesCode = try await gateway.code("n2") { $0.append("resource", Self.files) }
      let plainCode = try await gateway.code("n2")
      let sharedCode = try await gateway.code("n2") { $0.append("resource", Self.mail) }
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","expires_in":600,"refresh_token":"r"}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      try await expectStatus(200, of: gateway.redeem(mailCode))
      for code in [filesCode, plainCode] {
        let withheld = try await gateway.redeem(code, "n2")
        #expect(withheld.status == 502 && withheld.headers["X-Proofgate-Rule"] == "token-shared")
        #expect(!withheld.text.contains("same"))
      }
      #expect(try await Self.introspect(gateway, "same", as: "files").text == Self.inactive)
      #expect(try await Self.introspect(gateway, "same").text.contains("client_id"))
      try await expectStatus(200, of: gateway.redeem(sharedCode, "n2"))
      let both = try await Self.introspect(gateway, "same")
      #expect(both.text.contains(#""active":true"#) && !both.text.contains("client_id"))
    }
  }

  /// Lets the upstream issue the token `same` and accept every revocation.
  static func issueOneToken(_ gateway: GatewayFixture, scope: String? = nil, refresh: Bool = false) {
    let scope = (scope.map { #","scope":"\#($0)""# } ?? "") + (refresh ? #","refresh_token":"r""# : "")
    gateway.upstream.script { request in
      if request.path == "/revoke" { return Response(status: 200) }
      guard request.path == "/token" else { return nil }
      let body = #"{"access_token":"same","token_type":"Bearer","expires_in":600\#(scope)}"#
      return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
    }
  }

  @Test("A token of several clients has only the scope that each of them has")
  func sharedScope() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var codes: [(String, String)] = []
      for client in ["n1", "n2", "n1"] {
        codes.append((client, try await gateway.code(client) { $0.append("resource", Self.mail) }))
      }
      for ((client, code), (scope, expected)) in zip(
        codes, [("read admin", "read admin"), ("read list", "read"), ("admin read", "read")])
      {
        Self.issueOneToken(gateway, scope: scope)
        try await expectStatus(200, of: gateway.redeem(code, client))
        let answer = try await Self.introspect(gateway, "same")
        #expect(answer.text.contains("\"scope\":\"\(expected)\""), "\(answer.text)")
      }
    }
  }

  @Test(
    "A token of several clients is inactive as soon as the policy lacks one of them, or one of their logins has ended",
    arguments: ["n1", "n2"], ["removal", "logout"])
  func sharedDenial(client: String, reason: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var codes: [(String, String)] = []
      for client in ["n1", "n2"] {
        codes.append((client, try await gateway.code(client) { $0.append("resource", Self.mail) }))
      }
      Self.issueOneToken(gateway, refresh: true)
      var refresh: [String: String] = [:]
      for (client, code) in codes {
        let answer = try await gateway.redeem(code, client)
        refresh[client] = try #require(NativeApp.tokens(in: answer)?.refreshToken?.reveal(), "\(answer.text)")
      }
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
      if reason == "removal" {
        await gateway.reload { $0.remove(client) }
      } else {
        let token = try #require(refresh[client])
        try await expectStatus(200, of: gateway.post("/revoke", ["token": token, "client_id": client]))
      }
      #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
    }
  }

  @Test(
    "Without a positive expires_in, a token is active for access_token_lifetime, and longer belongs to its resource",
    arguments: ["", #","expires_in":0"#, #","expires_in":"-1""#])
  func unknownLifetime(member: String) async throws {
    try await GatewayFixture.run(try Self.policy { $0.upstream.accessTokenValidity = 7_200 }) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer"\#(member)}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      func redeem(for resource: String) async throws -> Response {
        try await gateway.redeem(try await gateway.code { $0.append("resource", resource) })
      }
      try await expectStatus(200, of: redeem(for: Self.mail))
      #expect(gateway.logLines.contains { $0.contains("token-lifetime-unknown") })
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
      gateway.clock.advance(by: 601)
      #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
      #expect(gateway.logLines.last?.contains("token-inactive:expired") == true)
      try await expectStatus(502, of: redeem(for: Self.files))
      #expect(try await Self.introspect(gateway, "same", as: "files").text == Self.inactive)
      // The server issues it again for its own resource.
      try await expectStatus(200, of: redeem(for: Self.mail))
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
      gateway.clock.advance(by: 7_000)
      try await expectStatus(502, of: redeem(for: Self.files))
      gateway.clock.advance(by: 400)
      try await expectStatus(200, of: redeem(for: Self.files))
    }
  }

  @Test(
    "A token whose login has ended stays inactive for as long as the server may accept it, although it is issued again")
  func endedAndIssuedAgain() async throws {
    try await GatewayFixture.run(try Self.policy { $0.upstream.accessTokenValidity = 7_200 }) { gateway in
      gateway.upstream.script { request in
        if request.path == "/revoke" { return Response(status: 200) }
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","refresh_token":"r"}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      func signIn(_ client: String = "n1") async throws -> String {
        let code = try await gateway.code(client) { $0.append("resource", Self.mail) }
        let answer = try await gateway.redeem(code, client)
        return try #require(NativeApp.tokens(in: answer)?.refreshToken?.reveal(), "\(answer.text)")
      }
      let refresh = try await signIn()
      gateway.clock.advance(by: 601)
      let other = try await signIn("n2")
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
      // The login is older than the last issue of the token.
      try await expectStatus(200, of: gateway.post("/revoke", ["token": refresh, "client_id": "n1"]))
      gateway.clock.advance(by: 601)
      for client in ["n1", "n2"] {
        _ = try await signIn(client)
        #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
      }
      try await expectStatus(200, of: gateway.post("/token", gateway.refreshForm(other, "n2")))
      #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
      gateway.clock.advance(by: 7_200)
      _ = try await signIn()
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
    }
  }

  @Test(
    "A token whose server states a longer lifetime than the longest active one belongs to its resource all the time")
  func longLifetime() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","expires_in":8640000}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      try await expectStatus(
        200, of: gateway.redeem(try await gateway.code { $0.append("resource", Self.mail) }))
      #expect(!gateway.logLines.contains { $0.contains("token-lifetime-unknown") })
      gateway.clock.advance(by: 2_592_001)
      #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
      try await expectStatus(
        502, of: gateway.redeem(try await gateway.code { $0.append("resource", Self.files) }))
    }
  }

  @Test(
    "A token of several clients is inactive after one of them has revoked it", arguments: ["n1", "n2"])
  func sharedRevocation(client: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let codes = [
        ("n1", try await gateway.code("n1") { $0.append("resource", Self.mail) }),
        ("n2", try await gateway.code("n2") { $0.append("resource", Self.mail) }),
      ]
      Self.issueOneToken(gateway)
      for (client, code) in codes { try await expectStatus(200, of: gateway.redeem(code, client)) }
      #expect(try await Self.introspect(gateway, "same").text.contains(#""active":true"#))
      try await expectStatus(200, of: gateway.post("/revoke", ["token": "same", "client_id": client]))
      #expect(try await Self.introspect(gateway, "same").text == Self.inactive)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").last)
      #expect(sent.headers["Authorization"] != nil)
    }
  }

  @Test("A token is inactive after the upstream has accepted its revocation by another client, and not after an error")
  func foreignRevocation() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      let form: Form = ["token": tokens.access, "client_id": "n2"]
      for (status, body, isActive) in [
        (401, #"{"error":"invalid_client"}"#, true), (200, #"{"error":"invalid_client"}"#, true), (200, "", false),
      ] {
        gateway.upstream.script { request in
          guard request.path == "/revoke" else { return nil }
          return Response(
            status: status, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        try await expectStatus(status, of: gateway.post("/revoke", form))
        let answer = try await Self.introspect(gateway, tokens.access)
        #expect(answer.text.contains(#""active":true"#) == isActive, "\(answer.text)")
      }
    }
  }
}
