import ByteText
import Cryptography
import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// RFC 6749, sections 3.2, 4.1.3 and 5: requests and responses of the token endpoint.
@Suite("Token requests")
struct TokenRequestTests {
  @Test("6749-3.2-post: only POST is accepted, and Allow names it", arguments: ["GET", "PUT", "DELETE", "PATCH"])
  func methods(method: String) async throws {
    try await GatewayFixture.run { gateway in
      let target = gateway.tokenForm("x").added(to: "/token")
      let response = try await gateway.expectRefused(Request(method: method, target: target), status: 405)
      #expect(response.headers["Allow"]?.contains("POST") == true)
    }
  }

  @Test(
    "6749-3.2-content-type: only forms are accepted",
    arguments: ["application/json", "multipart/form-data", "text/plain"])
  func contentTypes(type: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_request", ["Content-Type": type])
      let response = try await gateway.post(
        "/token", gateway.tokenForm(code), ["Content-Type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8"])
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "6749-3.2-dup: a repeated parameter is refused, even with equal values",
    arguments: ["code_verifier", "code", "redirect_uri", "client_id", "grant_type"])
  func repeated(name: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code) { $0.append(name, $0[name] ?? "") }, "invalid_request")
      let response = try await gateway.redeem(code) {
        $0.append("resource", "https://a.example")
        $0.append("resource", "https://b.example")
      }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test(
    "6749-3.2-query, 6749-2.3.1-uri-secret: parameters in the URI are refused, and its query is not logged",
    arguments: [("code", "whatever"), ("client_secret", "w1secret"), ("grant_type", "authorization_code")])
  func query(name: String, value: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let response = try await gateway.expectRefused(
        post: Form(dictionaryLiteral: (name, value)).added(to: "/token"), gateway.tokenForm(code).without(name))
      response.expectTokenError(400, "invalid_request")
      #expect(!gateway.logLines.contains { $0.contains(value) && name != "grant_type" })
    }
  }

  @Test("6749-4.1.2-lifetime: a code expires after its lifetime, which is at most ten minutes")
  func lifetime() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.codeLifetime = 600 } }) { gateway in
      let code = try await gateway.code()
      let late = try await gateway.code()
      gateway.clock.advance(by: 590)
      try await expectStatus(200, of: gateway.redeem(code))
      gateway.clock.advance(by: 11)
      try await gateway.expectTokenRefusal(gateway.tokenForm(late), "invalid_grant")
    }
    let report = try Lint.check(enforcement: "code_lifetime: 601s")
    #expect(report.errors.contains { $0.contains("[code-lifetime]") })
  }

  @Test("6749-4.1.2-single-use: of twenty concurrent redemptions at two replicas one gets tokens")
  func singleUse() async throws {
    try await GatewayFixture.run(workers: 2) { gateway in
      let code = try await gateway.code()
      try await gateway.withReplica(sharesStore: true) { replica in
        let statuses = try await withThrowingTaskGroup(of: Response.self) { group in
          for attempt in 0..<20 {
            group.addTask { try await (attempt.isMultiple(of: 2) ? gateway : replica).redeem(code) }
          }
          var answers: [Response] = []
          for try await answer in group { answers.append(answer) }
          return answers
        }
        #expect(statuses.filter { $0.status == 200 }.count == 1)
        for refused in statuses where refused.status != 200 { refused.expectTokenError(400, "invalid_grant") }
        #expect(gateway.upstreamTokenForms.filter { $0["grant_type"] == "authorization_code" }.count == 1)
      }
    }
  }

  @Test("6749-4.1.3-redirect-equal: redirect_uri must be the requested one, including the port")
  func redirectURI() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("n4", "http://127.0.0.1:51004/cb")
      for other in ["http://127.0.0.1/cb", "http://127.0.0.1:51005/cb", "http://[::1]:51004/cb"] {
        try await gateway.expectTokenRefusal(gateway.tokenForm(code, "n4", other), "invalid_grant")
      }
      try await gateway.expectTokenRefusal(gateway.tokenForm(code, "n4") { $0.remove("redirect_uri") }, "invalid_grant")
      try await expectStatus(200, of: gateway.redeem(code, "n4", "http://127.0.0.1:51004/cb"))
    }
  }

  @Test("6749-3.2.1-public-id: a request without a known client_id is refused")
  func identified() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      try await gateway.expectTokenRefusal(gateway.tokenForm(code) { $0.remove("client_id") }, "invalid_client")
      try await gateway.expectTokenRefusal(gateway.tokenForm(code) { $0.set("client_id", "nobody") }, "invalid_client")
    }
  }

  @Test("6749-4.4-public: a public client cannot use client credentials")
  func clientCredentials() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectTokenRefusal(
        ["grant_type": "client_credentials", "client_id": "n1"], "unauthorized_client")
    }
  }

  @Test(
    "6749-5.2-grant-type: unknown grants are unsupported, and other grants need permission",
    arguments: ["urn:x:y", "foo"])
  func grants(type: String) async throws {
    let policy = try FixturePolicy.with { $0.edit("n2") { $0.grants = [.authorizationCode] } }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectTokenRefusal(["grant_type": type, "client_id": "n1"], "unsupported_grant_type")
      try await gateway.expectTokenRefusal(gateway.refreshForm("x", "n2"), "unauthorized_client")
    }
  }

  @Test("9700-2.4-password: the password grant is never forwarded, and the password is not logged")
  func password() async throws {
    try await GatewayFixture.run { gateway in
      for client in ["n1", "w3"] {
        try await gateway.expectTokenRefusal(
          ["grant_type": "password", "username": "alice", "password": "wonderland", "client_id": client],
          "unsupported_grant_type")
      }
      #expect(!gateway.logLines.contains { $0.contains("wonderland") || $0.contains("alice") })
    }
  }

  @Test("6749-5.1-no-store: token responses are never stored, whatever the upstream says")
  func noStore() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200,
          headers: ["Content-Type": "application/json", "Cache-Control": "public, max-age=600", "Pragma": "x"],
          body: Array(#"{"access_token":"a","token_type":"bearer"}"#.utf8))
      }
      let code = try await gateway.code()
      let response = try await gateway.redeem(code)
      #expect(response.status == 200)
      #expect(response.headers.all("Cache-Control") == ["no-store"])
      #expect(response.headers.all("Pragma") == ["no-cache"])
      let refused = try await gateway.redeem(code)
      #expect(refused.headers.all("Cache-Control") == ["no-store"])
      #expect(refused.headers.all("Pragma") == ["no-cache"])
    }
  }

  @Test(
    "6749-5.2-normalise: responses of a legacy token endpoint become those of RFC 6749",
    arguments: [
      Legacy(200, "application/json", #"{"error":"invalid_grant"}"#, becomes: 400, "invalid_grant"),
      Legacy(401, "application/json", #"{"error":"invalid_grant"}"#, becomes: 400, "invalid_grant"),
      // A server error says nothing about the grant; if it were passed on, clients would discard their tokens.
      Legacy(500, "application/json", #"{"error":"invalid_grant"}"#, becomes: 502, "server_error"),
      Legacy(200, "application/x-www-form-urlencoded", "error=invalid_grant", becomes: 400, "invalid_grant"),
      Legacy(401, "application/json", #"{"error_message":"bad_verification_code"}"#, becomes: 400, "invalid_grant"),
      Legacy(500, "text/html", "<h1>Tomcat at legacy.internal</h1>", becomes: 502, "server_error"),
      Legacy(200, "text/html", "<h1>Tomcat at legacy.internal</h1>", becomes: 502, "server_error"),
      Legacy(200, "application/json", #"{"token_type":"bearer"}"#, becomes: 502, "server_error"),
      Legacy(200, "application/json", "[1,", becomes: 502, "server_error"),
      Legacy(302, "text/html", "", becomes: 502, "server_error"),
      Legacy(503, "text/html", "later", becomes: 503, "temporarily_unavailable"),
      // Wrong credentials of the gateway are not the client's fault.
      Legacy(401, "application/json", #"{"error":"invalid_client"}"#, becomes: 502, "server_error"),
      // The words of servers for a bad code or token, wherever they put them.
      Legacy(200, "application/json", #"{"error":"bad_refresh_token"}"#, becomes: 400, "invalid_grant"),
      Legacy(403, "application/json", #"{"error":"Refresh token expired."}"#, becomes: 400, "invalid_grant"),
      Legacy(400, "application/json", #"{"error":{"code":9,"type":"invalid_grant"}}"#, becomes: 400, "invalid_grant"),
      Legacy(
        401, "application/json",
        #"{"fault":{"faultstring":"Invalid","detail":{"errorcode":"keymanagement.service.invalid_refresh_token"}}}"#,
        becomes: 400, "invalid_grant"),
      Legacy(400, "application/json", #"{"errors":[{"message":"Token is invalid"}]}"#, becomes: 400, "invalid_grant"),
      Legacy(400, "text/plain", "invalid_grant", becomes: 400, "invalid_grant"),
      Legacy(400, "application/json", #"{"error":{"message":"quota"}}"#, becomes: 502, "server_error"),
      // No word counts with a status that a proxy or a wrong path has.
      Legacy(404, "application/json", #"{"error":"invalid_grant"}"#, becomes: 502, "server_error"),
      Legacy(502, "text/plain", "invalid_grant", becomes: 502, "server_error"),
      Legacy(400, "text/html", "<h1>Bad Request</h1>", becomes: 502, "server_error"),
    ])
  func normalised(legacy: Legacy) async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in request.path == "/token" ? legacy.response : nil }
      let response = try await gateway.redeem(try await gateway.code())
      response.expectTokenError(legacy.expectedStatus, legacy.expectedError)
      #expect(response.headers["Content-Type"] == "application/json")
      #expect(!response.text.contains("Tomcat") && !response.text.contains("legacy.internal"))
    }
  }

  @Test(
    "6749-5.2-normalise: a word, a number or a status that the operator has mapped is this error, and others stay as they are",
    arguments: [
      Legacy(
        400, "application/json", #"{"error":{"message":"Session has expired","type":"OAuthException","code":1}}"#,
        becomes: 400, "invalid_grant"),
      Legacy(200, "application/json", #"{"error":"dead"}"#, becomes: 400, "invalid_grant"),
      Legacy(404, "application/json", #"{"error":"dead"}"#, becomes: 400, "invalid_grant"),
      Legacy(500, "application/json", #"{"error":"dead"}"#, becomes: 400, "invalid_grant"),
      Legacy(400, "application/json", #"{"errors":[{"code":190}]}"#, becomes: 400, "invalid_scope"),
      Legacy(400, "text/plain", "dead", becomes: 400, "invalid_grant"),
      Legacy(422, "text/html", "<h1>No</h1>", becomes: 400, "invalid_grant"),
      Legacy(422, "application/json", #"{"error":"quota"}"#, becomes: 400, "invalid_grant"),
      // A word counts before the status, and the operator's word before the known ones.
      Legacy(401, "application/json", #"{"error":"invalid_token"}"#, becomes: 503, "temporarily_unavailable"),
      Legacy(422, "application/json", #"{"error":"dead"}"#, becomes: 400, "invalid_grant"),
      Legacy(400, "application/json", #"{"error":"Dead"}"#, becomes: 502, "server_error"),
      Legacy(500, "application/json", #"{"error":"invalid_grant"}"#, becomes: 502, "server_error"),
      Legacy(429, "application/json", #"{"error":"dead"}"#, becomes: 503, "temporarily_unavailable"),
      Legacy(502, "application/json", #"{"error":"dead"}"#, becomes: 502, "server_error"),
    ])
  func mapped(legacy: Legacy) async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.errors.add("OAuthException", .invalidGrant)
      policy.upstream.errors.add("dead", .invalidGrant)
      policy.upstream.errors.add("190", .invalidScope)
      policy.upstream.errors.add("422", .invalidGrant)
      policy.upstream.errors.add("invalid_token", .temporarilyUnavailable)
    }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { request in request.path == "/token" ? legacy.response : nil }
      let response = try await gateway.redeem(try await gateway.code())
      response.expectTokenError(legacy.expectedStatus, legacy.expectedError)
    }
  }

  struct Legacy: Sendable, CustomTestStringConvertible {
    let response: Response
    let expectedStatus: Int
    let expectedError: String

    init(_ status: Int, _ type: String, _ body: String, becomes expectedStatus: Int, _ expectedError: String) {
      response = Response(status: status, headers: ["Content-Type": type], body: Array(body.utf8))
      self.expectedStatus = expectedStatus
      self.expectedError = expectedError
    }

    var testDescription: String {
      "\(response.status) \(String(decoding: response.body, as: UTF8.self)) → \(expectedStatus) \(expectedError)"
    }
  }

  @Test("6749-5.2-normalise: form-encoded tokens with commas become JSON with spaces")
  func formTokens() async throws {
    let quirks = LegacyQuirks.with {
      $0.tokenFormat = .form
      $0.commaSeparatedScopes = true
    }
    try await GatewayFixture.run(quirks: quirks) { gateway in
      let code = try await gateway.code { $0.append("scope", "read write") }
      let response = try await gateway.redeem(code)
      let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
      #expect(response.headers["Content-Type"] == "application/json")
      #expect(tokens.scope == "read write")
      #expect(response.text.contains("\"expires_in\":3600"))
    }
  }

  @Test("6749-3.3-scope-echo: the app gets the granted scope, even if it is narrower than the requested one")
  func scope() async throws {
    let answer = #"{"access_token":"a","token_type":"bearer","refresh_token":"r","scope":"read"}"#
    try await GatewayFixture.run { gateway in
      gateway.upstream.script(Self.answering(answer))
      let response = try await gateway.redeem(try await gateway.code { $0.append("scope", "read write") })
      #expect(NativeApp.tokens(in: response)?.scope == "read")
    }
  }

  @Test(
    "6749-3.3-scope-echo: the response names the scope that the gateway has changed, if the server names none",
    arguments: [
      ("read openid", nil, "read"), ("read", nil, nil), ("openid", nil, "basic mail"), (nil, nil, "basic mail"),
      ("read openid", "read openid", "read"), ("read openid", "openid", "read"), ("read openid", "read", "read"),
    ] as [(String?, String?, String?)])
  func changedScope(requested: String?, refreshed: String?, expected: String?) async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.scopes = ScopeRules(drop: ["openid"], default: ["basic", "mail"])
      $0.editAll { $0.refreshReuseWindow = 30 }
    }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script(Self.answering(#"{"access_token":"a","token_type":"bearer","refresh_token":"r"}"#))
      let code = try await gateway.code { if let requested { $0.append("scope", requested) } }
      let tokens = try #require(NativeApp.tokens(in: try await gateway.redeem(code)))
      #expect(tokens.scope == expected)
      var form: Form = [
        "grant_type": "refresh_token", "client_id": "n1",
        "refresh_token": try #require(tokens.refreshToken).reveal(),
      ]
      if let refreshed { form.append("scope", refreshed) }
      let answer = try await gateway.post("/token", form)
      #expect(answer.status == 200, "\(answer.text)")
      // Without a scope in the request, or with one that is sent as it is, the response need not repeat it.
      let isChanged = refreshed?.contains("openid") ?? false
      #expect(NativeApp.tokens(in: answer)?.scope == (isChanged ? expected : nil))
      // A repeat within the reuse window gets the same response.
      let repeated = try await gateway.post("/token", form)
      #expect(repeated.text == answer.text)
    }
  }

  private static func answering(_ text: String) -> FixtureUpstream.Script {
    { request in
      guard request.path == "/token" else { return nil }
      return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
    }
  }

  @Test("6749-10.10-entropy: codes never repeat and have only their header in common")
  func entropy() async throws {
    try await GatewayFixture.run { gateway in
      var codes: Set<String> = []
      for _ in 0..<20 { codes.insert(try await gateway.code("p1")) }
      #expect(codes.count == 20)
      // The header is version and key id; salt and ciphertext follow.
      let secret = codes.compactMap { Base64URL.decode($0)?.dropFirst(5) }.map { Array($0.prefix(16)) }
      #expect(Set(secret).count == 20)
      #expect(secret.allSatisfy { $0.count == 16 })
    }
    let values = (0..<10_000).map { _ in randomBytes(16) }
    #expect(Set(values).count == 10_000)
  }

  @Test("6819-5.1.4.1.3-at-rest: the store contains no code, verifier or token in plain text")
  func atRest() async throws {
    let store = SpyStore()
    let policy = try FixturePolicy.with { policy in
      policy.upstream.stateLimit = 40
      policy.editAll { $0.refreshReuseWindow = 30 }
    }
    try await GatewayFixture.run(policy, store: store) { gateway in
      let code = try await gateway.code()
      let first = try #require(NativeApp.tokens(in: try await gateway.redeem(code)))
      let second = try await gateway.refresh(first.refresh())
      let upstreamSecrets = gateway.upstreamTokenForms.flatMap { [$0["code"], $0["refresh_token"]].compactMap(\.self) }
      let secrets =
        [
          code, GatewayFixture.verifier, first.accessToken.reveal(), try first.refresh(), try second.refreshToken(),
          FixturePolicy.nativeSecret,
        ] + upstreamSecrets
      let dump = store.dump
      #expect(dump.count > 2)
      for secret in secrets {
        #expect(!dump.contains { $0.contains(subsequence: Array(secret.utf8)) }, "a secret is in the store")
      }
    }
  }
}
