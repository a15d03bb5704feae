import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

@Suite("I-credentials")
struct CredentialsTests {
  /// The requests in which the upstream saw a secret that the gateway holds.
  private func lent(_ gateway: GatewayFixture) -> [Request] {
    let secrets = gateway.policy.clients.values.compactMap { client in
      client.upstream.clientSecret.map { ($0, client.upstream.clientID.rawValue) }
    }
    let fields = Set(secrets.map { BasicCredentials(user: $0.1, password: $0.0).header.reveal() })
    let words = Set(secrets.map { $0.0.reveal() })
    return gateway.upstream.recorder.requests.filter { request in
      let text = String(decoding: request.body, as: UTF8.self) + request.target
      return request.headers.fields.contains { fields.contains($0.value) || words.contains($0.value) }
        || words.contains { text.contains($0) }
    }
  }

  private func tokens(_ gateway: GatewayFixture, _ client: String = "n1") async throws -> NativeApp.Tokens {
    let code = try await gateway.code(client)
    let response = try await gateway.redeem(code, client)
    return try #require(NativeApp.tokens(in: response), "\(response.text)")
  }

  private func refresh(_ token: String, _ client: String = "n1", _ more: Form = [:]) -> Form {
    Form(
      ["grant_type": "refresh_token", "refresh_token": token, "client_id": client].map { .init(name: $0, value: $1) }
        + more.fields)
  }

  @Test("I-credentials: a complete flow uses the held credentials once for the code and once for each refresh")
  func refresh() async throws {
    try await GatewayFixture.run(quirks: .with { $0.rotatesRefreshTokens = true }) { gateway in
      let first = try await tokens(gateway)
      let sealed = try #require(first.refreshToken).reveal()
      let grant = try gateway.sealer.open(RefreshGrant.self, from: sealed)
      #expect(grant.clientID == ClientID("n1"))
      let response = try await gateway.post("/token", refresh(sealed))
      let second = try #require(NativeApp.tokens(in: response), "\(response.text)")
      let renewed = try #require(second.refreshToken).reveal()
      #expect(renewed != sealed)
      let next = try gateway.sealer.open(RefreshGrant.self, from: renewed)
      #expect(next.family == grant.family)
      #expect(next.generation == grant.generation + 1)
      #expect(next.upstreamRefreshToken.reveal() != grant.upstreamRefreshToken.reveal())
      let uses = lent(gateway)
      #expect(uses.map(\.path) == ["/token", "/token"])
      #expect(
        Form(decoding: String(decoding: uses[1].body, as: UTF8.self)) == [
          "grant_type": "refresh_token", "refresh_token": grant.upstreamRefreshToken.reveal(),
        ])
      #expect(try await gateway.post("/token", refresh(renewed)).status == 200)
      // A refresh token that was already used ends the family.
      try await gateway.post("/token", refresh(sealed)).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("I-credentials: a refresh token of one client is refused for every other client")
  func foreignRefreshToken() async throws {
    try await GatewayFixture.run { gateway in
      let sealed = try #require(try await tokens(gateway).refreshToken).reveal()
      for client in ["n2", "p1"] {
        try await gateway.expectRefused(post: "/token", refresh(sealed, client)).expectTokenError(400, "invalid_grant")
      }
      let confidential = refresh(sealed, "w1", ["client_secret": "w1secret"])
      try await gateway.expectRefused(post: "/token", confidential).expectTokenError(400, "invalid_grant")
      #expect(try await gateway.post("/token", refresh(sealed)).status == 200)
    }
  }

  @Test("I-credentials: a raw refresh token is refused, and never sent with the gateway's credentials")
  func rawRefreshToken() async throws {
    try await GatewayFixture.run { gateway in
      let sealed = try #require(try await tokens(gateway).refreshToken).reveal()
      let raw = try gateway.sealer.open(RefreshGrant.self, from: sealed).upstreamRefreshToken.reveal()
      try await gateway.expectRefused(post: "/token", refresh(raw)).expectTokenError(400, "invalid_grant")
      let confidential = refresh(raw, "w1", ["client_secret": "w1secret"])
      try await gateway.expectRefused(post: "/token", confidential).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("I-credentials: a client with an upstream client of its own refreshes with its own credentials")
  func ownRefreshToken() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w3")
      let response = try await gateway.redeem(code, "w3") { $0.append("client_secret", "w3secret") }
      let token = try #require(NativeApp.tokens(in: response)?.refreshToken).reveal()
      let refreshed = try await gateway.post("/token", refresh(token, "w3", ["client_secret": "w3secret"]))
      #expect(refreshed.status == 200)
      try await gateway.post("/token", refresh(token, "w3", ["client_secret": "wrong"])).expectTokenError(
        401, "invalid_client")
      #expect(lent(gateway).isEmpty)
    }
  }

  @Test(
    "I-credentials: a confidential client's own credentials go upstream with its code and its refresh token",
    arguments: [true, false])
  func presented(inHeader: Bool) async throws {
    try await GatewayFixture.run { gateway in
      let basic = BasicCredentials(user: "w3", password: Secret("w3secret")).header.reveal()
      let headers: Headers = inHeader ? ["Authorization": basic] : [:]
      func form(_ form: Form) -> Form {
        var form = form
        form.remove("client_id")
        guard !inHeader else { return form }
        form.append("client_id", "w3")
        form.append("client_secret", "w3secret")
        return form
      }
      let code = try await gateway.code("w3")
      let response = try await gateway.post("/token", form(gateway.tokenForm(code, "w3")), headers)
      let token = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)").reveal()
      let refreshed = try await gateway.post("/token", form(refresh(token, "w3")), headers)
      #expect(refreshed.status == 200, "\(refreshed.text)")
      let sent = gateway.upstream.recorder.requests(to: "/token")
      #expect(sent.map { $0.headers["Authorization"] } == [inHeader ? basic : nil, inHeader ? basic : nil])
      for request in sent {
        let body = Form(decoding: String(decoding: request.body, as: UTF8.self))
        #expect(body["client_secret"] == (inHeader ? nil : "w3secret"))
      }
    }
  }

  @Test("I-token: wrong credentials that only the upstream can compare do not use up the code")
  func wrongPresented() async throws {
    let policy = try FixturePolicy.with { $0.edit("w3") { $0.pkce = .off } }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code("w3") { form in
        form.remove("code_challenge")
        form.remove("code_challenge_method")
      }
      let form = gateway.tokenForm(code, "w3") { $0.remove("code_verifier") }
      for _ in 0..<2 {
        var wrong = form
        wrong.append("client_secret", "wrong")
        try await gateway.post("/token", wrong).expectTokenError(401, "invalid_client")
      }
      var right = form
      right.append("client_secret", "w3secret")
      let response = try await gateway.post("/token", right)
      #expect(response.status == 200, "\(response.text)")
      try await gateway.post("/token", right).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("I-token: a refusal by the upstream after invalid_client is 502 and never invalid_grant")
  func refusedAfterInvalidClient() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w3")
      let wrong = gateway.tokenForm(code, "w3") { $0.append("client_secret", "wrong") }
      try await gateway.post("/token", wrong).expectTokenError(401, "invalid_client")
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 400, headers: ["Content-Type": "application/json"], body: Array(#"{"error":"invalid_grant"}"#.utf8))
      }
      let right = gateway.tokenForm(code, "w3") { $0.append("client_secret", "w3secret") }
      try await gateway.post("/token", right).expectTokenError(502, "server_error")
    }
  }

  @Test("I-credentials: a secret that only the gateway knows never goes upstream with client credentials")
  func gatewaySecretOfOwnID() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("w3") { client in
        client.secret = Secret("gateway-only")
        client.grants = [.authorizationCode, .clientCredentials]
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let form: Form = ["grant_type": "client_credentials", "client_id": "w3", "client_secret": "gateway-only"]
      try await gateway.expectRefused(post: "/token", form).expectTokenError(400, "unauthorized_client")
    }
  }

  @Test("I-credentials: access tokens are those of the upstream")
  func accessTokens() async throws {
    try await GatewayFixture.run { gateway in
      let token = try await tokens(gateway).accessToken.reveal()
      let response = try await ClientLoop.send(
        gateway.upstream.address,
        Request(method: "GET", target: "/api/me", headers: ["Authorization": "Bearer \(token)"]))
      #expect(response.status == 200)
      #expect(response.text.contains("\"client_id\":\"legacy-native\""))
    }
  }

  @Test("I-credentials: only the client of a sealed refresh token can revoke it")
  func revocation() async throws {
    try await GatewayFixture.run { gateway in
      let sealed = try #require(try await tokens(gateway).refreshToken).reveal()
      let raw = try gateway.sealer.open(RefreshGrant.self, from: sealed).upstreamRefreshToken.reveal()
      try await gateway.expectRefused(post: "/revoke", ["token": sealed, "client_id": "n2"], status: 200)
      try await gateway.expectRefused(post: "/revoke", ["token": sealed], status: 400)
      try await gateway.expectRefused(post: "/revoke", ["token": sealed, "client_id": "w1"])
      #expect(try await gateway.post("/revoke", ["token": sealed, "client_id": "n1"]).status == 200)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").first)
      #expect(Form(decoding: String(decoding: sent.body, as: UTF8.self))["token"] == raw)
      #expect(lent(gateway).map(\.path) == ["/token", "/revoke"])
      try await gateway.post("/token", refresh(sealed)).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("I-credentials: a revocation of any other token goes upstream unchanged")
  func rawRevocation() async throws {
    try await GatewayFixture.run { gateway in
      let access = try await tokens(gateway).accessToken.reveal()
      let form: Form = ["token": access, "client_id": "n1"]
      let response = try await gateway.post("/revoke", form)
      #expect(response.status == 401)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").first)
      #expect(String(decoding: sent.body, as: UTF8.self) == form.encoded)
      #expect(!sent.headers.contains("Authorization"))
      #expect(lent(gateway).map(\.path) == ["/token"])
    }
  }

  @Test("I-credentials: an introspection request goes upstream unchanged")
  func introspection() async throws {
    try await GatewayFixture.run { gateway in
      let access = try await tokens(gateway).accessToken.reveal()
      let form: Form = ["token": access, "client_id": "n1"]
      _ = try await gateway.post("/introspect", form, ["Authorization": "Basic bjE6"])
      let sent = try #require(gateway.upstream.recorder.requests(to: "/introspect").first)
      #expect(String(decoding: sent.body, as: UTF8.self) == form.encoded)
      #expect(sent.headers["Authorization"] == "Basic bjE6")
      #expect(lent(gateway).map(\.path) == ["/token"])
    }
  }

  @Test("I-credentials: no other grant uses the held credentials")
  func otherGrants() async throws {
    let policy = try FixturePolicy.with { policy in
      for id in ["w1", "w3"] { policy.edit(id) { $0.grants = [.authorizationCode, .clientCredentials] } }
    }
    try await GatewayFixture.run(policy) { gateway in
      for client in ["n1", "w1"] {
        let form: Form = ["grant_type": "client_credentials", "client_id": client, "client_secret": "w1secret"]
        #expect(try await gateway.expectRefused(post: "/token", form).status == 400)
      }
      let password: Form = [
        "grant_type": "password", "client_id": "n1", "username": "alice", "password": "wonderland",
      ]
      try await gateway.expectRefused(post: "/token", password).expectTokenError(400, "unsupported_grant_type")
      let own: Form = ["grant_type": "client_credentials", "client_id": "w3", "client_secret": "w3secret"]
      _ = try await gateway.post("/token", own)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").last)
      #expect(Form(decoding: String(decoding: sent.body, as: UTF8.self))["client_secret"] == "w3secret")
      #expect(lent(gateway).isEmpty)
    }
  }

  @Test(
    "I-credentials: a confidential client with another id at the upstream must present its own secret",
    arguments: [
      ["client_id": "w1"], ["client_id": "w1", "client_secret": ""], ["client_id": "w1", "client_secret": "wrong"],
      ["client_id": "w1", "client_secret": "upstream-secret-of-w1"],
      ["client_id": "legacy-w1", "client_secret": "upstream-secret-of-w1"],
      ["client_id": "n1", "client_secret": "w1secret"],
    ] as [[String: String]])
  func ownSecret(credentials: [String: String]) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      let form = gateway.tokenForm(code, "w1") { form in
        for (name, value) in credentials { form.set(name, value) }
      }
      let response = try await gateway.expectRefused(post: "/token", form)
      #expect([400, 401].contains(response.status))
      #expect(lent(gateway).isEmpty)
      #expect(try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }.status == 200)
    }
  }

  @Test("I-credentials: Basic works if the policy has a secret, and not together with a second method")
  func basic() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("web:2")
      let form = gateway.tokenForm(code, "web:2") { $0.remove("client_id") }
      let right: Headers = ["Authorization": "Basic d2ViJTNBMjphK2IlMjVj"]
      // Without form encoding, a colon ends the id.
      try await gateway.expectRefused(
        post: "/token", form, ["Authorization": "Basic d2ViOjI6YSBiJWM="], status: 400)
      let other = BasicCredentials(user: "web:2", password: Secret("wrong")).header.reveal()
      let wrong = try await gateway.expectRefused(post: "/token", form, ["Authorization": other], status: 401)
      #expect(wrong.headers["WWW-Authenticate"]?.hasPrefix("Basic") == true)
      var both = form
      both.append("client_secret", "a b%c")
      try await gateway.expectRefused(post: "/token", both, right, status: 400)
      let response = try await gateway.post("/token", form, right)
      #expect(response.status == 200, "\(response.text)")
      #expect(lent(gateway).count == 1)
    }
  }

  @Test("I-credentials: the secret that a public client ships does not authenticate it")
  func shippedSecret() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("n3")
      let withoutVerifier = gateway.tokenForm(code, "n3") { form in
        form.remove("code_verifier")
        form.append("client_secret", "s3")
      }
      try await gateway.expectRefused(post: "/token", withoutVerifier).expectTokenError(400, "invalid_request")
      let response = try await gateway.redeem(code, "n3") { $0.append("client_secret", "s3") }
      #expect(response.status == 200)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      let form = Form(decoding: String(decoding: sent.body, as: UTF8.self))
      #expect(form["code"] != nil)
      #expect(form["client_secret"] == nil)
    }
  }

  @Test(
    "I-credentials: held credentials are sent by the method that the policy names, and by no other",
    arguments: [UpstreamClient.Authentication.basic, .post])
  func methods(method: UpstreamClient.Authentication) async throws {
    let policy = try FixturePolicy.with { policy in policy.edit("p1") { $0.upstream.authentication = method } }
    try await GatewayFixture.run(policy) { gateway in
      _ = try await tokens(gateway, "p1")
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      let form = Form(decoding: String(decoding: sent.body, as: UTF8.self))
      #expect(sent.headers.contains("Authorization") == (method == .basic))
      #expect(form["client_secret"] == (method == .post ? "upstream-secret-of-p1" : nil))
      #expect(form["client_id"] == (method == .post ? "legacy-p1" : nil))
    }
  }
}
