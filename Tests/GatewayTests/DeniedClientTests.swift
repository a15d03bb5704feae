import Demo
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing
import Time

/// Registered clients that the operator denies between two requests of a sign-in.
@Suite("Denied clients")
struct DeniedClientTests {
  /// Begins a sign-in and approves it on the gateway's consent page. Returns the form of the upstream's consent page with
  /// the user's approval, and the cookies of the browser.
  private func begin(
    _ gateway: GatewayFixture, _ id: String, _ uri: String
  ) async throws -> (form: Form, cookies: [String]) {
    let session = try await gateway.legacySession()
    let page = try await gateway.get(gateway.authorizationTarget(id, uri))
    let consent = try #require(HTMLForm.forms(in: page.text).first)
    let approval = try #require(consent.buttons.first { $0.value == "approve" })
    let approved = try await gateway.post(
      "/.proofgate/consent", consent.submission(button: approval), Headers.cookies([try #require(page.ownCookie)]))
    let cookies = [try #require(approved.ownCookie), session]
    _ = try await gateway.get(try #require(approved.location), Headers.cookies(cookies))
    var form = Form(decoding: try #require(gateway.upstream.recorder.requests(to: "/authorize").last?.query))
    form.append("confirm", "yes")
    return (form, cookies)
  }

  @Test(
    "A sign-in that a client began before it was denied never gives it a code",
    arguments: [
      "none", "id", "short id", "host", "scheme", "loopback", "name", "other host", "other scheme", "not before",
      "no registration",
    ])
  func deniedDuringSignIn(by entry: String) async throws {
    let uris = ["host": "https://app.example.com/cb", "scheme": "com.example.app:/cb"]
    let uri = uris[entry, default: RegisteredClientTests.uri]
    let others =
      ["other host": ["https://a.example.net/cb"], "other scheme": ["com.example.app:/cb"]][entry, default: []]
    let policy = try RegisteredClientTests.policy { $0.rules.redirects.schemes = ["com.example.app"] }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await RegisteredClientTests().id(
        gateway, ([uri] + others).joined(separator: "\",\""),
        RegisteredClientTests.refreshing + ",\"client_name\":\"Free Coins\"")
      let signIn = try await begin(gateway, id, uri == RegisteredClientTests.uri ? RegisteredClientTests.usedURI : uri)
      let now = gateway.clock.now
      await gateway.reload { policy in
        switch entry {
        case "id": policy.registration?.rules.denied.ids = [id]
        case "short id": policy.registration?.rules.denied.ids = [ClientID(id).shortForm.rawValue]
        case "other host": policy.registration?.rules.denied.hosts = [".example.net"]
        case "other scheme": policy.registration?.rules.denied.schemes = ["com.example.app"]
        case "not before": policy.registration?.notBefore = now + 100 * 86_400
        case "no registration": policy.registration = nil
        case "host": policy.registration?.rules.denied.hosts = ["app.example.com"]
        case "scheme": policy.registration?.rules.denied.schemes = ["com.example.app"]
        case "loopback": policy.registration?.rules.denied.loopback = true
        case "name": policy.registration?.rules.denied.names = ["free c?ins", "*COINS"]
        default: break
        }
      }
      let response = try await gateway.post("/authorize", signIn.form, Headers.cookies(signIn.cookies))
      guard entry != "none" else {
        #expect(response.location?.contains("code=") == true, "\(response.text)")
        return
      }
      #expect(response.status == 400, "\(response.text)")
      #expect(response.location == nil)
      #expect(!response.text.contains("code="))
    }
  }

  /// A policy with one resource that registered clients may request.
  private static func policyWithResource() throws -> Policy {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: "https://mail.example.com/")))
    resource.introspection = ResourceServer(id: "mail-api", secret: Secret("mail-secret"))
    return try FixturePolicy.with { [resource] fixture in
      fixture.registration = try? RegisteredClientTests.policy { $0.rules.resources = ["https://mail.example.com/"] }
        .registration
      fixture.upstream.endpoints.introspection = []
      fixture.resources = [resource]
    }
  }

  /// Signs a registered client in and returns its tokens for the resource.
  private func tokens(_ gateway: GatewayFixture, _ id: String) async throws -> (access: String, refresh: String) {
    let code = try await gateway.code(id, RegisteredClientTests.usedURI) {
      $0.append("resource", "https://mail.example.com/")
    }
    let answer = try await gateway.redeem(code, id, RegisteredClientTests.usedURI)
    let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
    return (tokens.accessToken.reveal(), try #require(tokens.refreshToken).reveal())
  }

  private func introspect(_ gateway: GatewayFixture, _ token: String) async throws -> String {
    try await gateway.post(
      "/.proofgate/introspect", ["token": token, "client_id": "mail-api", "client_secret": "mail-secret"]
    ).text
  }

  @Test("An access token of a client that is denied is inactive")
  func deniedIntrospection() async throws {
    try await GatewayFixture.run(try Self.policyWithResource()) { gateway in
      let token = try await tokens(gateway, try await RegisteredClientTests().id(gateway)).access
      #expect(try await introspect(gateway, token).contains("\"active\":true"))
      await gateway.reload { $0.registration?.rules.denied.loopback = true }
      #expect(try await introspect(gateway, token) == "{\"active\":false}")
    }
  }

  @Test(
    "A client that is denied, or whose id has ended, can still end its own sign-in, and no other",
    arguments: ["id", "loopback", "name", "redirects", "scopes", "not before", "key"])
  func revocation(after entry: String) async throws {
    var file = KeyFile.generate(now: 1_700_000_000, withRegistrationKey: true)
    let ring = try #require(file.ring)
    let old = try #require(file.registrationKeys.first).id
    for _ in 0..<2 { _ = file.rotateRegistration(now: 1_700_000_000) }
    let isRetired = file.retire(old)
    #expect(isRetired)
    try await GatewayFixture.run(try Self.policyWithResource(), keyRing: ring) { gateway in
      let members = RegisteredClientTests.refreshing + ",\"scope\":\"mail\",\"client_name\":\"Free Coins\""
      let id = try await RegisteredClientTests().id(gateway, RegisteredClientTests.uri, members)
      let (access, refresh) = try await tokens(gateway, id)
      let other = try await tokens(gateway, try await RegisteredClientTests().id(gateway))
      var changed = FixturePolicy(gateway.policy)
      switch entry {
      case "id": changed.registration?.rules.denied.ids = [id]
      case "loopback": changed.registration?.rules.denied.loopback = true
      case "name": changed.registration?.rules.denied.names = ["*COINS"]
      case "redirects": changed.registration?.rules.redirects.loopback = false
      case "scopes": changed.registration?.rules.scopes = ["openid"]
      case "not before": changed.registration?.notBefore = gateway.clock.now + 100 * 86_400
      default: break
      }
      let ended = entry == "key" ? try #require(file.ring) : ring
      try await gateway.withReplica(keyRing: ended, policy: changed.policy, sharesStore: true) { replica in
        let foreign = try await replica.post("/revoke", ["token": other.refresh, "client_id": id])
        #expect(foreign.status == 400 && foreign.text.contains("the client is not known"), "\(foreign.text)")
        #expect(gateway.upstream.recorder.requests(to: "/revoke").isEmpty)
        let response = try await replica.post("/revoke", ["token": refresh, "client_id": id])
        #expect(response.status == 200, "\(response.text)")
      }
      let sent = gateway.upstream.recorder.requests(to: "/revoke")
      #expect(sent.count == 1)
      #expect(sent.first?.headers.contains("Authorization") == true)
      // Only the replica denies the client.
      #expect(try await introspect(gateway, access) == "{\"active\":false}")
      let form: Form = ["grant_type": "refresh_token", "refresh_token": refresh, "client_id": id]
      try await gateway.post("/token", form).expectTokenError(400, "invalid_grant")
      #expect(try await introspect(gateway, other.access).contains("\"active\":true"))
    }
  }

  @Test(
    "A client whose entry or section the policy lacks can still end its own sign-in, and no other",
    arguments: ["registration", "public", "confidential"])
  func revocationAfterRemoval(of kind: String) async throws {
    try await GatewayFixture.run(try RegisteredClientTests.policy()) { gateway in
      var id = kind == "public" ? "n2" : "w1"
      var uri = kind == "public" ? "com.example.app2:/cb" : "https://web.example.com/cb?x=1"
      if kind == "registration" {
        id = try await RegisteredClientTests().id(gateway, RegisteredClientTests.uri, RegisteredClientTests.refreshing)
        uri = RegisteredClientTests.usedURI
      }
      let answer = try await gateway.redeem(try await gateway.code(id, uri), id, uri) {
        if kind == "confidential" { $0.append("client_secret", "w1secret") }
      }
      let refresh = try #require(NativeApp.tokens(in: answer)?.refreshToken?.reveal(), "\(answer.text)")
      let other = try await gateway.sealedRefreshToken()
      let policy = FixturePolicy(gateway.policy)
      await gateway.reload {
        $0.registration = nil
        $0.remove(id)
      }
      let foreign = try await gateway.post("/revoke", ["token": other, "client_id": id])
      #expect(foreign.status == 400 && foreign.text.contains("the client is not known"), "\(foreign.text)")
      #expect(gateway.upstream.recorder.requests(to: "/revoke").isEmpty)
      _ = try await gateway.post("/revoke", ["token": refresh, "client_id": id])
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").first)
      let body = String(decoding: sent.body, as: UTF8.self)
      // The policy has no secret of the client any more, and the server knows neither its id nor the sealed token.
      #expect(sent.headers["Authorization"] == nil && !body.contains("client_secret"))
      #expect(!body.contains(refresh))
      await gateway.reload { $0 = policy }
      var form: Form = ["grant_type": "refresh_token", "refresh_token": refresh, "client_id": id]
      if kind == "confidential" { form.append("client_secret", "w1secret") }
      try await gateway.post("/token", form).expectTokenError(400, "invalid_grant")
      #expect(gateway.logLines.last?.contains("refresh-token-reused") == true, "\(gateway.logLines.last ?? "")")
    }
  }

  @Test("A denied client with a secret needs it to end its sign-in")
  func revocationWithSecret() async throws {
    try await GatewayFixture.run(try RegisteredClientTests.policy { $0.issuesSecrets = true }) { gateway in
      let members = RegisteredClientTests.refreshing + ",\"token_endpoint_auth_method\":\"client_secret_post\""
      let body = "{\"redirect_uris\":[\"\(RegisteredClientTests.uri)\"],\(members)}"
      let registered = try await gateway.send(
        Request(
          method: "POST", target: "/register", headers: ["Content-Type": "application/json"], body: Array(body.utf8)))
      let client = try JSONDecoder().decode(Credentials.self, from: Data(registered.body))
      let code = try await gateway.code(client.id, RegisteredClientTests.usedURI)
      var form = gateway.tokenForm(code, client.id, RegisteredClientTests.usedURI)
      form.append("client_secret", client.secret)
      let answer = try await gateway.post("/token", form)
      let token = try #require(NativeApp.tokens(in: answer)?.refreshToken?.reveal(), "\(answer.text)")
      await gateway.reload { $0.registration?.rules.denied.loopback = true }
      let revocation: Form = ["token": token, "client_id": client.id]
      #expect(try await gateway.post("/revoke", revocation).status == 401)
      var wrong = revocation
      wrong.append("client_secret", "wrong")
      #expect(try await gateway.post("/revoke", wrong).status == 401)
      #expect(gateway.upstream.recorder.requests(to: "/revoke").isEmpty)
      var right = revocation
      right.append("client_secret", client.secret)
      #expect(try await gateway.post("/revoke", right).status == 200)
      #expect(gateway.upstream.recorder.requests(to: "/revoke").count == 1)
    }
  }

  @Test("The revocation endpoint says that it does not know a client, and that a request names none")
  func revocationByUnknownClient() async throws {
    try await GatewayFixture.run(try Self.policyWithResource()) { gateway in
      let id = try await RegisteredClientTests().id(gateway)
      let token = try await tokens(gateway, id).refresh
      for (form, message) in [
        (["token": token, "client_id": "nobody"], "the client is not known"),
        (["token": token], "client_id is missing"),
      ] as [(Form, String)] {
        let response = try await gateway.post("/revoke", form)
        #expect(response.status == 400 && response.text.contains(message), "\(response.text)")
      }
    }
  }
}

/// The id and the secret in a registration response.
private struct Credentials: Decodable {
  let id: String
  let secret: String

  enum CodingKeys: String, CodingKey {
    case id = "client_id"
    case secret = "client_secret"
  }
}
