import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

@Suite("Resources, in complete flows")
struct ResourceTests {
  static let mail = "https://mail.example.com/"
  static let files = "https://gw.example/files"

  /// The resources `mail` and `files`, each with a resource server and an upstream client of its own.
  static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    var mailResource = ResourceSettings(
      uri: try #require(ResourceURI(parsing: mail)),
      aliases: [try #require(ResourceURI(parsing: "https://mail.example.com"))], name: "Mail")
    mailResource.introspection = ResourceServer(id: "mail-api", secret: Secret("mail-secret"))
    mailResource.check = SocketAddress(host: "127.0.0.1", port: 0)
    mailResource.checkScopes = ["read"]
    var filesResource = ResourceSettings(uri: try #require(ResourceURI(parsing: files)))
    filesResource.introspection = ResourceServer(id: "files-api", secret: Secret("files-secret"))
    filesResource.scopes = ["files.read"]
    return try FixturePolicy.with { policy in
      policy.upstream.endpoints.introspection = []
      policy.resources = [mailResource, filesResource]
      adjust(&policy)
    }
  }

  static func tokens(
    _ gateway: GatewayFixture, _ client: String = "n1", for resource: String?
  ) async throws -> (access: String, refresh: String) {
    let code = try await gateway.code(client) { form in
      if let resource { form.append("resource", resource) }
      form.append("scope", "read")
    }
    let answer = try await gateway.redeem(code, client)
    let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
    return (tokens.accessToken.reveal(), try #require(tokens.refreshToken).reveal())
  }

  static func introspect(
    _ gateway: GatewayFixture, _ token: String, as server: String = "mail"
  ) async throws -> Response {
    try await gateway.post(
      "/.proofgate/introspect",
      ["token": token, "client_id": "\(server)-api", "client_secret": "\(server)-secret"])
  }

  static let inactive = #"{"active":false}"#

  @Test("A resource server learns of tokens for its own resource only, and another one cannot use them")
  func audience() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      let own = try await Self.introspect(gateway, tokens.access)
      #expect(own.status == 200)
      #expect(own.text.contains(#""active":true"#) && own.text.contains(#""client_id":"n1""#))
      #expect(own.text.contains(#""aud":"https://mail.example.com/""#) && own.text.contains(#""scope":"read""#))
      #expect(own.headers["Cache-Control"] == "no-store")
      #expect(try await Self.introspect(gateway, tokens.access, as: "files").text == Self.inactive)
      #expect(try await Self.introspect(gateway, "unknown").text == Self.inactive)
      let without = try await Self.tokens(gateway, for: nil)
      #expect(try await Self.introspect(gateway, without.access).text == Self.inactive)
    }
  }

  @Test("A grant is for one resource: another one is refused before anything is claimed, at the code and at a refresh")
  func oneResource() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let code = try await gateway.code { $0.append("resource", Self.mail) }
      var form = gateway.tokenForm(code) { $0.append("resource", Self.files) }
      try await gateway.expectRefused(post: "/token", form, status: 400).expectTokenError(400, "invalid_target")
      form = gateway.tokenForm(code) { $0.append("resource", "https://mail.example.com") }
      let answer = try await gateway.post("/token", form)
      let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
      var refresh = gateway.refreshForm(try #require(tokens.refreshToken).reveal())
      refresh.append("resource", Self.files)
      try await gateway.expectRefused(post: "/token", refresh, status: 400).expectTokenError(400, "invalid_target")
      let plain = try await Self.tokens(gateway, for: nil)
      var widened = gateway.refreshForm(plain.refresh)
      widened.append("resource", Self.mail)
      try await gateway.expectRefused(post: "/token", widened, status: 400).expectTokenError(400, "invalid_target")
    }
  }

  @Test("A refreshed token is for the resource of the grant, and the upstream never gets a resource that is not mapped")
  func refresh() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      let answer = try await gateway.post("/token", gateway.refreshForm(tokens.refresh))
      let access = try #require(NativeApp.tokens(in: answer), "\(answer.text)").accessToken.reveal()
      #expect(access != tokens.access)
      #expect(try await Self.introspect(gateway, access).text.contains(#""active":true"#))
      let sent = gateway.upstream.recorder.requests(to: "/authorize") + gateway.upstream.recorder.requests(to: "/token")
      for request in sent {
        #expect(!(request.query ?? "").contains("resource="))
        #expect(!String(decoding: request.body, as: UTF8.self).contains("resource="))
      }
    }
  }

  @Test("Unlisted and several resources are refused with invalid_target at the app")
  func unlisted() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      for resources in [["https://evil.example/"], ["https://mail.example.com/X"], [Self.mail, Self.files]] {
        let target = gateway.authorizationTarget { form in
          for resource in resources { form.append("resource", resource) }
        }
        let refused = try await gateway.expectRefused(get: target)
        #expect(try refused.expectErrorRedirect(to: "com.example.app:/cb")["error"] == "invalid_target")
      }
    }
  }

  @Test("The consent page shows the resource with its name and identifier")
  func consent() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var browser = gateway.browser(for: "com.example.app:/cb")
      let target = gateway.authorizationTarget { $0.append("resource", Self.mail) }
      guard case .page(let page) = try await browser.open(gateway.front.at(target)) else {
        Issue.record("the gateway did not ask")
        return
      }
      #expect(page.text.contains("Mail") && page.text.contains(Self.mail))
    }
  }

  @Test("Only a listed resource server with its secret may ask; wrong secrets are throttled, and never the right one")
  func authentication() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let none = try await gateway.post("/.proofgate/introspect", ["token": "x"])
      #expect(none.status == 401)
      let get = try await gateway.get("/.proofgate/introspect?token=x")
      #expect(get.status == 405)
      var statuses: [Int] = []
      while statuses.count < 200, statuses.last != 429 {
        let wrong = try await gateway.post(
          "/.proofgate/introspect", ["token": "x", "client_id": "mail-api", "client_secret": "files-secret"])
        statuses.append(wrong.status)
      }
      // The bucket refills while a slow machine empties it.
      #expect(statuses.count > 20 && statuses.dropLast().allSatisfy { $0 == 401 }, "\(statuses)")
      #expect(statuses.last == 429)
      #expect(try await Self.introspect(gateway, "x").status == 200)
    }
  }

  @Test("Without resources in the policy there is no introspection endpoint, and nothing is recorded")
  func off() async throws {
    let store = MemoryStore()
    try await GatewayFixture.run(try FixturePolicy.with(), store: store) { gateway in
      _ = try await gateway.tokens()
      #expect(store.usage.first { $0.kind == .access }?.entries == 0)
      #expect(try await gateway.post("/.proofgate/introspect", ["token": "x"]).status == 404)
      #expect(
        try await gateway.get("/.well-known/oauth-protected-resource").text.contains("authorization_servers") == false)
    }
  }

  @Test("The metadata of a resource on the gateway's origin names the resource and the issuer, with an entity tag")
  func metadata() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let path = "/.well-known/oauth-protected-resource/files"
      let answer = try await gateway.get(path)
      #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/json")
      let expected =
        #"{"authorization_servers":["https://gw.example"],"bearer_methods_supported":["header"],"#
        + #""resource":"https://gw.example/files","scopes_supported":["files.read"]}"#
      #expect(answer.text == expected)
      #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
      let tag = try #require(answer.headers["ETag"])
      #expect(try await gateway.get(path, ["If-None-Match": tag]).status == 304)
      #expect(try await gateway.post(path, [:]).status == 405)
    }
  }

  @Test("The check of a proxy permits a bearer token for the resource of its listener, whatever the request names")
  func check() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let port = try #require(gateway.checkPorts.first)
      func check(_ target: String, _ headers: Headers) async throws -> Response {
        var headers = headers
        headers.append("Host", "127.0.0.1:\(port)")
        return try await ClientLoop.send(
          WebAddress(host: "127.0.0.1", port: port), Request(method: "GET", target: target, headers: headers))
      }
      let mail = try await Self.tokens(gateway, for: Self.mail)
      let files = try await Self.tokens(gateway, for: Self.files)
      let permitted = try await check("/inbox", ["Authorization": "Bearer \(mail.access)"])
      #expect(permitted.status == 200 && permitted.headers["X-Proofgate-Client"] == "n1")
      #expect(permitted.headers["X-Proofgate-Scope"] == "read")
      let foreign = try await check("/?resource=\(Self.files)", ["Authorization": "Bearer \(files.access)"])
      #expect(foreign.status == 401 && foreign.headers["WWW-Authenticate"]?.contains("invalid_token") == true)
      #expect(try await check("/?access_token=\(mail.access)", [:]).status == 401)
      let twice: Headers = [
        "Authorization": "Bearer \(mail.access)", "authorization": "Bearer \(mail.access)",
      ]
      #expect(try await check("/", twice).status == 401)
      await gateway.reload { $0.resources[0].checkScopes = ["write"] }
      let narrow = try await check("/", ["Authorization": "Bearer \(mail.access)"])
      #expect(narrow.status == 403 && narrow.headers["WWW-Authenticate"]?.contains("insufficient_scope") == true)
    }
  }

  @Test("The answer of a check always names client and scope, empty if they are unknown")
  func checkFields() async throws {
    try await GatewayFixture.run(try Self.policy { $0.resources[0].checkScopes = [] }) { gateway in
      var codes: [String: String] = [:]
      for client in ["n1", "n2"] {
        codes[client] = try await gateway.code(client) { $0.append("resource", Self.mail) }
      }
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","expires_in":600}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      for (client, code) in codes { try await expectStatus(200, of: gateway.redeem(code, client)) }
      let port = try #require(gateway.checkPorts.first)
      let answer = try await ClientLoop.send(
        WebAddress(host: "127.0.0.1", port: port),
        Request(
          method: "GET", target: "/", headers: ["Host": "127.0.0.1:\(port)", "Authorization": "Bearer same"]))
      #expect(answer.status == 200 && answer.headers.all("X-Proofgate-Client") == [""])
      #expect(answer.headers.all("X-Proofgate-Scope") == [""])
    }
  }

  @Test("A resource gets its audience, its scopes and its upstream client, also at the refresh")
  func mapping() async throws {
    let policy = try Self.policy { policy in
      policy.resources[0].upstream.audience = "api1"
      policy.resources[0].upstream.scope = Scope(parsing: "mail")
      policy.resources[1].upstream.client = UpstreamClient(
        clientID: ClientID("legacy-files"), clientSecret: Secret("files-upstream-secret"), authentication: .basic,
        redirectURI: .callback)
    }
    try await GatewayFixture.run(policy) { gateway in
      _ = try await Self.tokens(gateway, for: Self.mail)
      let sent = try #require(gateway.upstreamAuthorizationForms.first { $0["client_id"] == "legacy-native" })
      #expect(sent["audience"] == "api1" && sent["scope"] == "read mail" && sent["client_id"] == "legacy-native")
      let files = try await Self.tokens(gateway, for: Self.files)
      #expect(gateway.upstreamAuthorizationForms.contains { $0["client_id"] == "legacy-files" })
      try await expectStatus(200, of: gateway.post("/token", gateway.refreshForm(files.refresh)))
      let refresh = try #require(gateway.upstream.recorder.requests(to: "/token").last)
      let credentials = try BasicCredentials(parsing: try #require(refresh.headers["Authorization"]))
      #expect(credentials.user == "legacy-files")
    }
  }

  @Test("Both the gateway and the upstream's introspection endpoint must say that a token is active")
  func overlay() async throws {
    let policy = try Self.policy { policy in
      policy.upstream.endpoints.introspection = ["/introspect"]
      policy.resources[0].introspection?.upstream = UpstreamClient(
        clientID: ClientID("mail-rs"), clientSecret: Secret("rs-secret"), authentication: .basic,
        redirectURI: .requested)
    }
    try await GatewayFixture.run(policy) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      for (answer, expected) in [(#"{"active":true,"sub":"alice"}"#, true), (#"{"active":false}"#, false)] {
        gateway.upstream.script { request in
          guard request.path == "/introspect" else { return nil }
          return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(answer.utf8))
        }
        let told = try await Self.introspect(gateway, tokens.access)
        #expect(told.text.contains(#""active":true"#) == expected, "\(told.text)")
        #expect(told.text.contains("alice") == expected)
      }
      let sent = try #require(gateway.upstream.recorder.requests(to: "/introspect").last)
      #expect(try BasicCredentials(parsing: try #require(sent.headers["Authorization"])).user == "mail-rs")
      gateway.upstream.script { $0.path == "/introspect" ? Response(status: 500) : nil }
      #expect(try await Self.introspect(gateway, tokens.access).status == 502)
      let count = gateway.upstream.recorder.requests(to: "/introspect").count
      #expect(try await Self.introspect(gateway, "unknown").text == Self.inactive)
      #expect(gateway.upstream.recorder.requests(to: "/introspect").count == count)
    }
  }

  @Test("A resource server that asks at the path of the upstream gets the gateway's answer, and its secret stays here")
  func introspectionAtUpstreamPath() async throws {
    let policy = try Self.policy { policy in
      policy.upstream.endpoints.introspection = ["/introspect"]
      // The other one has the same credentials at the upstream and at the gateway.
      policy.resources[1].introspection?.upstream = UpstreamClient(
        clientID: ClientID("files-api"), clientSecret: Secret("files-secret"), authentication: .basic,
        redirectURI: .requested)
    }
    try await GatewayFixture.run(policy) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      func ask(_ server: String, _ secret: String) async throws -> Response {
        try await gateway.post(
          "/introspect", ["token": tokens.access],
          ["Authorization": BasicCredentials(user: "\(server)-api", password: Secret(secret)).header.reveal()])
      }
      let answer = try await ask("mail", "mail-secret")
      #expect(answer.text.contains(#""active":true"#) && answer.text.contains(Self.mail), "\(answer.text)")
      #expect(gateway.upstream.recorder.requests(to: "/introspect").isEmpty)
      // Other secrets are for the upstream.
      _ = try await ask("mail", "upstream-secret")
      _ = try await ask("files", "files-secret")
      #expect(gateway.upstream.recorder.requests(to: "/introspect").count == 2)
    }
  }

  @Test("If the record of a token cannot be stored, the token is revoked and the client gets 503")
  func notRecorded() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.access: 1])
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let now = gateway.clock.now
      let holder = StoreHolder(address: "192.0.2.1")
      _ = try await store.put(StoreKey(.access, hashing: [1]), [1], holder: holder, expiry: now + 1_000, now: now)
      let code = try await gateway.code { $0.append("resource", Self.mail) }
      let answer = try await gateway.redeem(code)
      #expect(answer.status == 503 && !answer.text.contains("access_token"))
      #expect(gateway.upstream.recorder.requests(to: "/revoke").count == 2)
      #expect(gateway.logLines.contains { $0.contains("token-not-recorded") })
    }
  }

  @Test("A client whose secret only the upstream knows cannot use the upstream client of a resource")
  func foreignSecret() async throws {
    let policy = try Self.policy { policy in
      policy.resources[1].upstream.client = UpstreamClient(
        clientID: ClientID("legacy-files"), clientSecret: Secret("files-upstream-secret"), authentication: .basic,
        redirectURI: .callback)
    }
    try await GatewayFixture.run(policy) { gateway in
      let refused = try await gateway.expectRefused(
        get: gateway.authorizationTarget("w3") { $0.append("resource", Self.files) })
      #expect(try refused.expectErrorRedirect(to: "https://web3.example.com/cb")["error"] == "invalid_target")
    }
  }

  @Test("Without its entry in the policy, the grants of a resource end, and others continue")
  func unlistedLater() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let mail = try await Self.tokens(gateway, for: Self.mail)
      let files = try await Self.tokens(gateway, for: Self.files)
      let code = try await gateway.code { $0.append("resource", Self.mail) }
      await gateway.reload { $0.resources.removeFirst() }
      try await gateway.expectTokenRefusal(gateway.refreshForm(mail.refresh), "invalid_grant")
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_grant")
      try await expectStatus(200, of: gateway.post("/token", gateway.refreshForm(files.refresh)))
    }
  }

  @Test("A pushed request with an unlisted resource is refused at the push")
  func pushed() async throws {
    let policy = try Self.policy { policy in
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
      policy.edit("n1") { $0.enforcement.pushedAuthorization = .optional }
    }
    try await GatewayFixture.run(policy) { gateway in
      var form = Form(decoding: gateway.authorizationTarget().dropFirst("/authorize?".count))
      form.append("resource", "https://evil.example/")
      try await gateway.expectRefused(post: "/par", form, status: 400).expectTokenError(400, "invalid_target")
    }
  }

  @Test("The store has neither a token nor the resource in a readable form")
  func sealedRecords() async throws {
    let store = SpyStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      #expect(store.operationCount(.access) == 1)
      for value in store.dump {
        let text = String(decoding: value, as: UTF8.self)
        #expect(!text.contains(tokens.access) && !text.contains("mail.example.com"))
      }
    }
  }

  @Test("A repeated refresh gets the held answer only with the same resource, and another resource changes nothing")
  func heldAnswer() async throws {
    let policy = try Self.policy { policy in policy.edit("n1") { $0.refreshReuseWindow = 30 } }
    try await GatewayFixture.run(policy) { gateway in
      let tokens = try await Self.tokens(gateway, for: Self.mail)
      var refresh = gateway.refreshForm(tokens.refresh)
      refresh.append("resource", Self.mail)
      let first = try await gateway.post("/token", refresh)
      expectStatus(200, of: first)
      var other = gateway.refreshForm(tokens.refresh)
      other.append("resource", Self.files)
      try await gateway.expectRefused(post: "/token", other, status: 400).expectTokenError(400, "invalid_target")
      // The held answer is sent again, and the login continues.
      let repeated = try await gateway.post("/token", refresh)
      #expect(NativeApp.tokens(in: repeated)?.accessToken.reveal() == NativeApp.tokens(in: first)?.accessToken.reveal())
      let access = try #require(NativeApp.tokens(in: repeated)).accessToken.reveal()
      #expect(try await Self.introspect(gateway, access).text.contains(#""active":true"#))
      // Without the resource it is another request with a used token.
      let reuse = try await gateway.post("/token", gateway.refreshForm(tokens.refresh))
      reuse.expectTokenError(400, "invalid_grant")
      #expect(try await Self.introspect(gateway, access).text == Self.inactive)
    }
  }

  @Test("A token of the client itself that cannot be recorded is refused with 503, and is active for no resource")
  func clientCredentials() async throws {
    let store = BrittleStore()
    let policy = try Self.policy { policy in policy.edit("w3") { $0.grants.insert(.clientCredentials) } }
    try await GatewayFixture.run(policy, store: store) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"service-token","token_type":"Bearer","expires_in":600}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      let form: Form = [
        "grant_type": "client_credentials", "client_id": "w3", "client_secret": "w3secret", "resource": Self.mail,
      ]
      store.isAway = true
      let refused = try await gateway.post("/token", form)
      #expect(refused.status == 503 && !refused.text.contains("service-token"))
      #expect(gateway.logLines.last?.contains("token-not-recorded") == true)
      store.isAway = false
      #expect(try await Self.introspect(gateway, "service-token").text == Self.inactive)
      let issued = try await gateway.post("/token", form)
      #expect(issued.text.contains("service-token"))
      #expect(try await Self.introspect(gateway, "service-token").text.contains(#""active":true"#))
    }
  }

  @Test("Introspection and checks are in the log with the client of the token and the reason, and in the metrics")
  func visible() async throws {
    let store = BrittleStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let port = try #require(gateway.checkPorts.first)
      func check(_ token: String?) async throws -> Response {
        var headers: Headers = ["Host": "127.0.0.1:\(port)"]
        if let token { headers.append("Authorization", "Bearer \(token)") }
        return try await ClientLoop.send(
          WebAddress(host: "127.0.0.1", port: port), Request(method: "GET", target: "/", headers: headers))
      }
      let mail = try await Self.tokens(gateway, for: Self.mail)
      let files = try await Self.tokens(gateway, for: Self.files)
      for (token, outcome) in [(mail.access, "active"), ("unknown", "unknown"), (files.access, "other-resource")] {
        _ = try await Self.introspect(gateway, token)
        let introspected = try #require(gateway.logLines.last)
        #expect(introspected.contains(#""endpoint":"introspection""#))
        #expect(introspected.contains(#""decision":"forward""#))
        let answer = try await check(token)
        let checked = try #require(gateway.logLines.last)
        #expect(checked.contains(#""endpoint":"check""#) && checked.contains("\"status\":\(answer.status)"))
        for line in [introspected, checked] {
          #expect(line.contains("token-inactive:\(outcome)") == (outcome != "active"))
          #expect(line.contains(#""client":"n1""#) == (outcome != "unknown"))
          #expect(!line.contains(token) || token == "unknown")
        }
        #expect(checked.contains(#""rule":"check-token-inactive""#) == (outcome != "active"))
        for endpoint in ["introspection", "check"] {
          let labels = "endpoint=\"\(endpoint)\",outcome=\"\(outcome)\""
          #expect(gateway.metricsText.contains("proofgate_token_checks_total{\(labels)} 1"))
        }
      }
      #expect(try await check(nil).headers["X-Proofgate-Rule"] == "check-token-missing")
      await gateway.reload { $0.resources[0].checkScopes = ["write"] }
      #expect(try await check(mail.access).headers["X-Proofgate-Rule"] == "check-scope-insufficient")
      store.isAway = true
      let away = try await check(mail.access)
      #expect(away.status == 503 && away.headers["X-Proofgate-Rule"] == "store-unavailable")
      #expect(gateway.metricsText.contains(#"{endpoint="check",outcome="store-unavailable"} 1"#))
      store.isAway = false
      await gateway.reload { $0.resources.removeFirst() }
      #expect(try await check(mail.access).headers["X-Proofgate-Rule"] == "check-closed")
      #expect(gateway.metricsText.contains(#"endpoint="check",client="unknown",rule="check-closed""#))
    }
  }
}
