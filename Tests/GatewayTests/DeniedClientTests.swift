import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
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

  @Test("An access token of a client that is denied is inactive")
  func deniedIntrospection() async throws {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: "https://mail.example.com/")))
    resource.introspection = ResourceServer(id: "mail-api", secret: Secret("mail-secret"))
    let policy = try FixturePolicy.with { [resource] fixture in
      fixture.registration = try? RegisteredClientTests.policy { $0.rules.resources = ["https://mail.example.com/"] }
        .registration
      fixture.upstream.endpoints.introspection = []
      fixture.resources = [resource]
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await RegisteredClientTests().id(gateway)
      let code = try await gateway.code(id, RegisteredClientTests.usedURI) {
        $0.append("resource", "https://mail.example.com/")
      }
      let answer = try await gateway.redeem(code, id, RegisteredClientTests.usedURI)
      let token = try #require(NativeApp.tokens(in: answer)?.accessToken.reveal(), "\(answer.text)")
      let form: Form = ["token": token, "client_id": "mail-api", "client_secret": "mail-secret"]
      #expect(try await gateway.post("/.proofgate/introspect", form).text.contains("\"active\":true"))
      await gateway.reload { $0.registration?.rules.denied.loopback = true }
      #expect(try await gateway.post("/.proofgate/introspect", form).text == "{\"active\":false}")
    }
  }
}
