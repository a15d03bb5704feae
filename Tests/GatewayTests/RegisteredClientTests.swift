import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Stores
import Testing
import Time

/// Clients that registered themselves, after their registration.
@Suite("Registered clients")
struct RegisteredClientTests {
  static let uri = "http://127.0.0.1/cb"
  static let usedURI = "http://127.0.0.1:51004/cb"
  static let refreshing = "\"grant_types\":[\"authorization_code\",\"refresh_token\"]"

  static func policy(_ adjust: (inout RegistrationSettings) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { fixture in
      var settings = RegistrationSettings()
      settings.rules.scopes = ["mail", "openid"]
      settings.rules.redirects.hosts = ["app.example.com", ".example.net"]
      settings.rules.redirects.loopback = true
      settings.rules.upstream = UpstreamClient(
        clientID: ClientID("legacy-native"), clientSecret: Secret(FixturePolicy.nativeSecret), authentication: .basic,
        redirectURI: .callback)
      adjust(&settings)
      fixture.registration = settings
    }
  }

  func id(_ gateway: GatewayFixture, _ uri: String = uri, _ members: String = refreshing) async throws -> String {
    let body = "{\"redirect_uris\":[\"\(uri)\"],\(members)}"
    let response = try await gateway.send(
      Request(
        method: "POST", target: "/register", headers: ["Content-Type": "application/json"], body: Array(body.utf8)))
    #expect(response.status == 201, "\(response.text)")
    let text = response.text
    let start = try #require(text.firstRange(of: "\"client_id\":\"")?.upperBound)
    return String(text[start...].prefix { $0 != "\"" })
  }

  private func refresh(_ gateway: GatewayFixture, _ token: Secret, _ id: String) async throws -> Response {
    try await gateway.post("/token", ["grant_type": "refresh_token", "refresh_token": token.reveal(), "client_id": id])
  }

  @Test("The metadata names the registration endpoint exactly if clients can register")
  func metadata() async throws {
    let path = "/.well-known/oauth-authorization-server"
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let document = try await gateway.get(path).text
      #expect(document.contains("\"registration_endpoint\":\"https://gw.example/register\""))
      await gateway.reload { $0.registration = nil }
      #expect(try await !gateway.get(path).text.contains("registration_endpoint"))
    }
  }

  @Test("Scripts of the listed origins may register a client")
  func scripts() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      await gateway.reload { $0.gateway.corsOrigins = [ScriptOrigin(Origin(scheme: .https, host: "app.example.com"))] }
      for (origin, expected) in [("https://app.example.com", "https://app.example.com"), ("https://x.example", nil)] {
        let response = try await gateway.send(
          Request(
            method: "POST", target: "/register", headers: ["Content-Type": "application/json", "Origin": origin],
            body: Array("{\"redirect_uris\":[\"https://app.example.com/cb\"]}".utf8)))
        #expect(response.status == 201)
        #expect(response.headers["Access-Control-Allow-Origin"] == expected)
      }
    }
  }

  @Test("A client registers, the user consents, and the client gets, refreshes and revokes tokens")
  func completeFlow() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway)
      let code = try await gateway.code(id, Self.usedURI)
      let response = try await gateway.redeem(code, id, Self.usedURI)
      let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
      let refreshed = try await refresh(gateway, try #require(tokens.refreshToken), id)
      #expect(refreshed.status == 200, "\(refreshed.text)")
      let next = try #require(NativeApp.tokens(in: refreshed)?.refreshToken)
      let revoked = try await gateway.post("/revoke", ["token": next.reveal(), "client_id": id])
      #expect(revoked.status == 200)
      #expect(try await refresh(gateway, next, id).status == 400)
    }
  }

  @Test("The same metadata gives the same id within a quarter, whatever the order of its lists, and another id later")
  func idempotent() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let first = try await id(gateway, "http://127.0.0.1/a\",\"http://127.0.0.1/b")
      #expect(try await id(gateway, "http://127.0.0.1/b\",\"http://127.0.0.1/a") == first)
      #expect(try await id(gateway, "http://127.0.0.1/a") != first)
      gateway.clock.advance(by: 100 * 86_400)
      let later = try await id(gateway, "http://127.0.0.1/a\",\"http://127.0.0.1/b")
      #expect(later != first)
      #expect(try await gateway.get(gateway.authorizationTarget(first, "http://127.0.0.1/a")).status == 200)
    }
  }

  @Test("The page says that a registered client calls itself so, that it is unverified, and which scope it gets")
  func page() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway, Self.uri, "\"client_name\":\"Example Bank\"")
      let page = try await gateway.get(gateway.authorizationTarget(id, Self.usedURI))
      #expect(page.text.contains("an app that calls itself “<bdi>Example Bank</bdi>”"))
      #expect(page.text.contains("<title>Allow an app that calls itself “Example Bank”?</title>"), "\(page.text)")
      #expect(page.text.contains("unverified"))
      #expect(page.text.contains("<code>mail</code>"))
      let nameless = try await self.id(gateway)
      let other = try await gateway.get(gateway.authorizationTarget(nameless, Self.usedURI))
      #expect(other.text.contains("an app without a name"))
      #expect(!other.text.contains("pg1."))
    }
  }

  @Test("The page says that a redirect URI has a query, and a redirect URI on the gateway's own host is refused")
  func queryOfRedirectURI() async throws {
    let policy = try Self.policy { $0.rules.redirects.anyHost = true }
    try await GatewayFixture.run(policy) { gateway in
      let query = "next=https%3A%2F%2Fevil.example"
      let uri = "https://app.example.com/login?\(query)"
      let page = try await gateway.get(gateway.authorizationTarget(try await id(gateway, uri), uri))
      #expect(page.text.contains("<code>https://app.example.com/login?…</code>"), "\(page.text)")
      let plain = "https://app.example.com/login"
      let other = try await gateway.get(gateway.authorizationTarget(try await id(gateway, plain), plain))
      #expect(other.text.contains("<code>https://app.example.com/login</code>"))
      let own = try await gateway.send(
        Request(
          method: "POST", target: "/register", headers: ["Content-Type": "application/json"],
          body: Array("{\"redirect_uris\":[\"https://gw.example/login?\(query)\"]}".utf8)))
      #expect(own.status == 400 && own.text.contains("invalid_redirect_uri"), "\(own.text)")
    }
  }

  @Test(
    "An entry of the deny-list ends a client at every endpoint with the next reload",
    arguments: ["id", "loopback", "name", "not_before"])
  func denied(by entry: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway, Self.uri, Self.refreshing + ",\"client_name\":\"Free Coins\"")
      let code = try await gateway.code(id, Self.usedURI)
      let response = try await gateway.redeem(try await gateway.code(id, Self.usedURI), id, Self.usedURI)
      let token = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)")
      let now = gateway.clock.now
      await gateway.reload { policy in
        switch entry {
        case "id": policy.registration?.rules.denied.ids = [id]
        case "loopback": policy.registration?.rules.denied.loopback = true
        case "name": policy.registration?.rules.denied.names = ["*COINS*"]
        default: policy.registration?.notBefore = now + 100 * 86_400
        }
      }
      let page = try await gateway.get(gateway.authorizationTarget(id, Self.usedURI))
      #expect(page.status == 400)
      #expect(page.text.contains("client-unknown"))
      for refused in [try await gateway.redeem(code, id, Self.usedURI), try await refresh(gateway, token, id)] {
        #expect(refused.status == 400, "\(refused.text)")
        #expect(refused.text.contains("invalid_client"))
      }
    }
  }

  @Test(
    "A raw code that an observed request sends to the redirect URI of a registered client is worthless to the client")
  func rawCodeOfObservedRequest() async throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.registration = try? Self.policy().registration
      fixture.unknownClients = .observe
    }
    try await GatewayFixture.run(policy) { gateway in
      let uri = "https://other.example.net/cb"
      let id = try await id(gateway, uri)
      gateway.upstream.script { request in
        request.path == "/authorize"
          ? Response(status: 302, headers: ["Location": uri + "?code=raw-code&state=s1"]) : nil
      }
      // The gateway keeps no list of registered clients, so it cannot know that the URI belongs to one.
      let observed = try await gateway.get(
        "/authorize?response_type=code&client_id=old-app&redirect_uri=https%3A%2F%2Fother.example.net%2Fcb&state=s1")
      #expect(observed.location?.contains("code=raw-code") == true, "\(observed.text)")
      gateway.upstream.script(nil)
      try await gateway.expectRefused(post: "/token", gateway.tokenForm("raw-code", id, uri))
        .expectTokenError(400, "invalid_grant")
    }
  }

  @Test("The metadata names methods with a secret exactly if registered clients can get one")
  func secretMethods() async throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.registration = try? Self.policy().registration
      for id in ["w1", "web:2", "w3"] { fixture.remove(id) }
    }
    try await GatewayFixture.run(policy) { gateway async throws in
      let path = "/.well-known/oauth-authorization-server"
      #expect(try await gateway.get(path).text.contains("\"token_endpoint_auth_methods_supported\":[\"none\"]"))
      await gateway.reload { $0.registration?.issuesSecrets = true }
      #expect(
        try await gateway.get(path).text.contains(
          "\"token_endpoint_auth_methods_supported\":[\"client_secret_basic\",\"client_secret_post\",\"none\"]"))
    }
  }

  @Test("The limits of registrations are those of the policy, for each network and for all")
  func registrationLimits() async throws {
    for key in [\LimitSettings.registrationsPerNetwork, \LimitSettings.registrations] {
      let policy = try FixturePolicy.with { fixture in
        fixture.registration = try? Self.policy().registration
        fixture.gateway.limits[keyPath: key] = 3
      }
      try await GatewayFixture.run(policy) { gateway in
        for _ in 0..<3 { _ = try await id(gateway) }
        let body = Array("{\"redirect_uris\":[\"\(Self.uri)\"]}".utf8)
        let request = Request(
          method: "POST", target: "/register", headers: ["Content-Type": "application/json"], body: body)
        let refused = try await gateway.send(request)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] != nil)
        await gateway.reload { $0.gateway.limits[keyPath: key] = 0 }
        #expect(try await gateway.send(request).status == 201)
      }
    }
  }

  @Test("Programs behind a proxy on this machine, and those without the initial access token, do not use up a limit")
  func uncounted() async throws {
    let registration = try Self.policy().registration
    let body = Array("{\"redirect_uris\":[\"\(Self.uri)\"]}".utf8)
    func register(_ gateway: GatewayFixture, _ token: String?) async throws -> Int {
      var request = Request(
        method: "POST", target: "/register", headers: ["Content-Type": "application/json"], body: body)
      if let token { request.headers.append("Authorization", "Bearer \(token)") }
      return try await gateway.send(request).status
    }
    let local = try FixturePolicy.with { fixture in
      fixture.registration = registration
      fixture.gateway.trustedProxies = [AddressRange(network: [UInt8](repeating: 1, count: 16), prefixLength: 128)]
      fixture.gateway.limits.registrationsPerNetwork = 3
    }
    try await GatewayFixture.run(local) { gateway in
      for _ in 0..<10 {
        let status = try await register(gateway, nil)
        #expect(status == 201)
      }
    }
    let token = "5f0c1e9d7a3b48268d4e0f6b2c917a35"
    let closed = try FixturePolicy.with { fixture in
      fixture.registration = registration
      fixture.registration?.initialAccessToken = Secret(token)
      fixture.gateway.limits.registrationsPerNetwork = 3
      fixture.gateway.limits.registrations = 3
    }
    try await GatewayFixture.run(closed) { gateway in
      for number in 0..<10 {
        let status = try await register(gateway, number % 2 == 0 ? nil : "wrong")
        #expect(status == 401)
      }
      for expected in [201, 201, 201, 429] {
        let status = try await register(gateway, token)
        #expect(status == expected)
      }
    }
  }

  @Test("A limit that becomes narrower applies to clients that registered before")
  func narrowed() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway, "https://app.example.com/cb")
      #expect(try await gateway.get(gateway.authorizationTarget(id, "https://app.example.com/cb")).status == 200)
      await gateway.reload { $0.registration?.rules.redirects.hosts = [".example.net"] }
      #expect(try await gateway.get(gateway.authorizationTarget(id, "https://app.example.com/cb")).status == 400)
      await gateway.reload { $0.registration = nil }
      #expect(try await gateway.get(gateway.authorizationTarget(id, "https://app.example.com/cb")).status == 400)
    }
  }

  @Test("Scopes and resources that are no longer permitted end with the reload, also in codes and refresh tokens")
  func narrowedGrants() async throws {
    let mail = try #require(ResourceURI(parsing: "https://mail.example.com/"))
    let registration = try Self.policy { $0.rules.resources = [mail.text] }.registration
    var resource = ResourceSettings(uri: mail)
    resource.introspection = ResourceServer(id: "mail-api", secret: Secret("mail-secret"))
    let policy = try FixturePolicy.with { fixture in
      fixture.upstream.endpoints.introspection = []
      fixture.resources = [resource]
      fixture.registration = registration
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await id(gateway)
      let used = try await gateway.code(id, Self.usedURI) { $0.append("resource", mail.text) }
      let access = try #require(NativeApp.tokens(in: try await gateway.redeem(used, id, Self.usedURI))?.accessToken)
      func introspect() async throws -> String {
        try await gateway.post(
          "/.proofgate/introspect",
          ["token": access.reveal(), "client_id": "mail-api", "client_secret": "mail-secret"]
        ).text
      }
      #expect(try await introspect().contains(#""active":true"#))
      let code = try await gateway.code(id, Self.usedURI)
      let forMail = try await gateway.code(id, Self.usedURI) { $0.append("resource", mail.text) }
      let tokens = try #require(NativeApp.tokens(in: try await gateway.redeem(code, id, Self.usedURI)))
      let later = try await gateway.code(id, Self.usedURI)
      await gateway.reload { $0.registration?.rules.scopes = ["mail"] }
      let refreshed = try await refresh(gateway, try #require(tokens.refreshToken), id)
      #expect(refreshed.status == 200, "\(refreshed.text)")
      #expect(refreshed.text.contains(#""scope":"mail""#), "\(refreshed.text)")
      try await gateway.redeem(later, id, Self.usedURI).expectTokenError(400, "invalid_grant")
      let next = try #require(NativeApp.tokens(in: refreshed)?.refreshToken)
      // Without any scope left for the upstream, it would renew the whole grant.
      await gateway.reload { $0.upstream.scopes = ScopeRules(drop: ["mail"]) }
      try await refresh(gateway, next, id).expectTokenError(400, "invalid_grant")
      await gateway.reload { policy in
        policy.registration?.rules.scopes = ["mail", "openid"]
        policy.registration?.rules.resources = []
      }
      try await gateway.redeem(forMail, id, Self.usedURI).expectTokenError(400, "invalid_grant")
      #expect(try await introspect().contains(#""active":false"#))
    }
  }

  @Test(
    "A registered client whose scope tokens are all dropped gets no code, since the server would grant its default",
    arguments: [nil, "openid"])
  func droppedScope(_ scope: String?) async throws {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: "https://mail.example.com/")))
    // The rules of the resource's client do not replace the limit of the registered one.
    resource.upstream.client = UpstreamClient(
      clientID: ClientID("legacy-native"), clientSecret: Secret(FixturePolicy.nativeSecret), authentication: .basic,
      redirectURI: .callback, scopes: ScopeRules(drop: ["openid"], default: ["admin"]))
    let policy = try FixturePolicy.with { [resource] fixture in
      fixture.registration = try? Self.policy { $0.rules.resources = ["https://mail.example.com/"] }.registration
      fixture.resources = [resource]
      fixture.upstream.scopes = ScopeRules(drop: ["openid"], default: ["admin"])
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await id(gateway, Self.uri, Self.refreshing + #","scope":"openid""#)
      let other = try await self.id(gateway)
      for resource in [nil, "https://mail.example.com/"] {
        func adjust(_ form: inout Form) {
          if let scope { form.append("scope", scope) }
          if let resource { form.append("resource", resource) }
        }
        let target = gateway.authorizationTarget(id, Self.usedURI, adjusting: adjust)
        try await gateway.expectRefused(get: target, status: 400)
        // Of a client with further tokens, these go upstream.
        _ = try await gateway.code(other, Self.usedURI, adjusting: adjust)
      }
      let queries = gateway.upstream.recorder.requests(to: "/authorize").compactMap(\.query)
      let begun = queries.map { Form(decoding: $0) }.filter { $0["client_id"] != nil }
      #expect(!begun.isEmpty && begun.allSatisfy { $0["scope"] == "mail" }, "\(begun)")
    }
  }

  @Test("All registered clients of a network share one limit in the store, and other networks still get tokens")
  func storeLimit() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize)
    let mail = try #require(ResourceURI(parsing: "https://mail.example.com/"))
    let registration = try Self.policy().registration
    let policy = try FixturePolicy.with { fixture in
      fixture.resources = [ResourceSettings(uri: mail)]
      fixture.registration = registration
    }
    try await GatewayFixture.run(policy, store: store) { gateway in
      var statuses: [Int] = []
      for number in 0..<4 {
        let long = String(repeating: "x", count: 200)
        let id = try await id(
          gateway, (0..<3).map { "http://127.0.0.1/\(number)\($0)\(long)" }.joined(separator: "\",\""))
        let uri = "http://127.0.0.1:51004/\(number)0\(long)"
        var tokens = NativeApp.tokens(in: try await gateway.redeem(gateway.code(id, uri), id, uri))
        for _ in 0..<15 {
          guard let token = tokens?.refreshToken else { break }
          let answer = try await gateway.post(
            "/token", ["grant_type": "refresh_token", "refresh_token": token.reveal(), "client_id": id],
            ["X-Forwarded-For": "192.0.2.9"])
          statuses.append(answer.status)
          tokens = NativeApp.tokens(in: answer)
        }
      }
      #expect(statuses.contains(503), "\(statuses.count) tokens")
      #expect(statuses.filter { $0 == 200 }.count < 40)
      let other = try await gateway.redeem(gateway.code("n1"), "n1", headers: ["X-Forwarded-For": "198.51.100.9"])
      #expect(other.status == 200, "\(other.text)")
    }
  }

  @Test("Registered clients of many networks fill half of a share of the store, and listed clients still get tokens")
  func unlistedHalf() async throws {
    let mail = try #require(ResourceURI(parsing: "https://mail.example.com/"))
    let registration = try Self.policy().registration
    let policy = try FixturePolicy.with { fixture in
      fixture.resources = [ResourceSettings(uri: mail)]
      fixture.registration = registration
    }
    try await GatewayFixture.run(policy, store: MemoryStore(entries: [.access: 20])) { gateway in
      let id = try await id(gateway, Self.uri)
      var statuses: [Int] = []
      for network in 0..<12 {
        let code = try await gateway.code(id, Self.usedURI)
        let answer = try await gateway.redeem(code, id, Self.usedURI, headers: ["X-Forwarded-For": "10.0.\(network).1"])
        statuses.append(answer.status)
      }
      #expect(statuses == Array(repeating: 200, count: 10) + [503, 503])
      let listed = try await gateway.redeem(gateway.code("n1"), "n1", headers: ["X-Forwarded-For": "10.0.0.1"])
      #expect(listed.status == 200, "\(listed.text)")
    }
  }

  @Test("A registered client gets the scope of its registration, and may ask for each scope that the policy permits")
  func scope() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway, Self.uri, "\"scope\":\"mail\"")
      func page(_ scope: String?) async throws -> Response {
        try await gateway.get(
          gateway.authorizationTarget(id, Self.usedURI) { if let scope { $0.append("scope", scope) } })
      }
      let own = try await page(nil)
      #expect(own.status == 200 && own.text.contains("<code>mail</code>") && !own.text.contains("openid"))
      // A tool needs more than the first one (MCP, “Step-Up Authorization Flow”).
      let wider = try await page("mail openid")
      #expect(wider.status == 200 && wider.text.contains("<code>mail</code>") && wider.text.contains("openid"))
      #expect(try await page("mail admin").status == 400)
      let code = try await gateway.code(id, Self.usedURI) { $0.append("scope", "mail openid") }
      let response = try await gateway.redeem(code, id, Self.usedURI)
      #expect(NativeApp.tokens(in: response)?.scope == "mail openid", "\(response.text)")
    }
  }

  @Test("`offline_access` that the policy does not permit is left out of the request, and the response says so")
  func offlineAccess() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway)
      // The server itself names no scope.
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"a1","token_type":"bearer","refresh_token":"r1"}"#.utf8))
      }
      let code = try await gateway.code(id, Self.usedURI) { $0.append("scope", "mail offline_access") }
      let sent = gateway.upstream.recorder.requests(to: "/authorize").compactMap(\.query).map { Form(decoding: $0) }
      #expect(sent.contains { $0["scope"] == "mail" } && !sent.contains { $0["scope"]?.contains("offline") == true })
      let response = try await gateway.redeem(code, id, Self.usedURI)
      let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
      #expect(tokens.scope == "mail")
      let refreshed = try await gateway.post(
        "/token",
        [
          "grant_type": "refresh_token", "refresh_token": try #require(tokens.refreshToken).reveal(), "client_id": id,
          "scope": "mail offline_access",
        ])
      #expect(NativeApp.tokens(in: refreshed)?.scope == "mail", "\(refreshed.text)")
      #expect(gateway.logLines.contains { $0.contains("\"scope-dropped\"") })
      await gateway.reload { $0.registration?.rules.scopes = ["mail", "offline_access"] }
      _ = try await gateway.code(id, Self.usedURI) { $0.append("scope", "mail offline_access") }
      let later = gateway.upstream.recorder.requests(to: "/authorize").compactMap(\.query).map { Form(decoding: $0) }
      #expect(later.contains { $0["scope"] == "mail offline_access" })
    }
  }

  @Test("An altered id, an id of another gateway's key and an overlong id belong to no client")
  func foreign() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway)
      var foreign = ""
      try await GatewayFixture.run(try Self.policy()) { other in foreign = try await self.id(other) }
      for wrong in [String(id.dropLast(2)) + "AA", foreign, "pg1.", "pg1." + String(repeating: "A", count: 1_200)] {
        #expect(try await gateway.get(gateway.authorizationTarget(wrong, Self.usedURI)).status == 400)
      }
    }
  }

  @Test("A registered client cannot push, and needs PKCE")
  func limits() async throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.registration = try? Self.policy().registration
      fixture.upstream.endpoints.pushedAuthorization = ["/par"]
      fixture.edit("n1") { $0.pushedAuthorization = .optional }
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await id(gateway)
      let pushed = try await gateway.post(
        "/par",
        [
          "client_id": id, "redirect_uri": Self.usedURI, "response_type": "code",
          "code_challenge": GatewayFixture.challenge, "code_challenge_method": "S256",
        ])
      #expect(pushed.status == 400)
      let target = gateway.authorizationTarget(id, Self.usedURI) { $0.remove("code_challenge") }
      #expect(try await gateway.get(target).status == 400)
    }
  }

  @Test("A registered client is enforced although unknown clients are observed")
  func observed() async throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.registration = try? Self.policy().registration
      fixture.unknownClients = .observe
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await id(gateway)
      #expect(try await gateway.get(gateway.authorizationTarget(id, Self.usedURI)).text.contains("consent_token"))
      #expect(try await gateway.get(gateway.authorizationTarget("pg1.AAAA", Self.usedURI)).status == 400)
    }
  }

  @Test(
    "A sign-in with the longest id fits behind a handle if the server accepts only a short state, or in a state of 512 bytes",
    arguments: [64, 512])
  func longestID(stateLimit: Int) async throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.registration = try? Self.policy().registration
      fixture.upstream.stateLimit = stateLimit
    }
    try await GatewayFixture.run(policy) { gateway in
      func register(_ length: Int) async throws -> String {
        let uris = [Self.uri, "http://127.0.0.1/" + String(repeating: "x", count: length)]
        let members = Self.refreshing + ",\"client_name\":\"Tool\""
        return try await self.id(gateway, uris.joined(separator: "\",\""), members)
      }
      let short = try await register(500)
      // Four characters of the id contain three bytes.
      let length = 500 + (ClientID.maximumIssuedLength - short.utf8.count) * 3 / 4
      let id = try await register(length)
      #expect((ClientID.maximumIssuedLength - 3...ClientID.maximumIssuedLength).contains(id.utf8.count))
      let uri = "http://127.0.0.1/" + String(repeating: "x", count: length + 3)
      let tooLong = try await gateway.send(
        Request(
          method: "POST", target: "/register", headers: ["Content-Type": "application/json"],
          body: Array("{\"redirect_uris\":[\"\(Self.uri)\",\"\(uri)\"],\"client_name\":\"Tool\"}".utf8)))
      #expect(tooLong.status == 400 && tooLong.text.contains("invalid_client_metadata"), "\(tooLong.text)")
      let code = try await gateway.code(id, Self.usedURI)
      let query = try #require(gateway.upstream.recorder.requests(to: "/authorize").first?.query)
      #expect(try #require(Form(decoding: query)["state"]).utf8.count <= stateLimit)
      let response = try await gateway.redeem(code, id, Self.usedURI)
      let token = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)")
      #expect(try await refresh(gateway, token, id).status == 200)
    }
  }

  @Test(
    "I-token: a code is redeemed only with the id of its client, not with another one, its short form or a part of it")
  func codeOfOtherID() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let first = try await id(gateway, Self.uri, Self.refreshing + ",\"client_name\":\"A\"")
      let second = try await id(gateway, Self.uri, Self.refreshing + ",\"client_name\":\"B\"")
      let code = try await gateway.code(first, Self.usedURI)
      try await gateway.redeem(code, second, Self.usedURI).expectTokenError(400, "invalid_grant")
      for wrong in [ClientID(first).shortForm.rawValue, String(first.dropLast()), first + "A"] {
        let refused = try await gateway.redeem(code, wrong, Self.usedURI)
        #expect(refused.status == 400 && refused.text.contains("invalid_client"), "\(refused.text)")
      }
      try await gateway.redeem(code, "n1", Self.usedURI).expectTokenError(400, "invalid_grant")
      let response = try await gateway.redeem(code, first, Self.usedURI)
      let token = try #require(NativeApp.tokens(in: response)?.refreshToken, "\(response.text)")
      try await refresh(gateway, token, second).expectTokenError(400, "invalid_grant")
      #expect(try await refresh(gateway, token, ClientID(first).shortForm.rawValue).text.contains("invalid_client"))
      #expect(try await refresh(gateway, token, first).status == 200)
      let target = gateway.authorizationTarget(ClientID(first).shortForm.rawValue, Self.usedURI)
      #expect(try await gateway.get(target).status == 400)
    }
  }

  @Test("All log lines of a sign-in name a registered client by the short form of its id, which the deny-list accepts")
  func log() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await id(gateway)
      let response = try await gateway.redeem(gateway.code(id, Self.usedURI), id, Self.usedURI)
      #expect(response.status == 200)
      let short = ClientID(id).shortForm.rawValue
      let lines = gateway.logLines.filter { $0.contains("\"client\":\"pg1.") }
      #expect(lines.count >= 4)
      for line in lines { #expect(line.contains("\"client\":\"\(short)\""), "\(line)") }
      #expect(!gateway.logLines.contains { $0.contains(id) })
      await gateway.reload { $0.registration?.rules.denied.ids = [short] }
      #expect(try await gateway.get(gateway.authorizationTarget(id, Self.usedURI)).status == 400)
    }
  }

  @Test("A sign-in of a registered client fits behind a handle if the server accepts only a short state")
  func shortState() async throws {
    let policy = try FixturePolicy.with { fixture in
      fixture.registration = try? Self.policy().registration
      fixture.upstream.stateLimit = 64
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await id(gateway)
      let response = try await gateway.redeem(try await gateway.code(id, Self.usedURI), id, Self.usedURI)
      #expect(response.status == 200, "\(response.text)")
    }
  }
}
