import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing
import Time

@Suite("I-browser")
struct BrowserTests {
  private func attributes(_ response: Response) throws -> [String] {
    let field = try #require(response.headers.all("Set-Cookie").first { $0.contains("proofgate=") })
    return field.split(separator: ";").dropFirst().map { String($0.drop { $0 == " " }).lowercased() }.sorted()
  }

  @Test("I-browser: over https the cookie is a __Host- cookie with Secure and HttpOnly")
  func attributesOverTLS() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      #expect(begun.cookie.hasPrefix("__Host-proofgate="))
      #expect(try attributes(begun.response) == ["httponly", "path=/", "samesite=lax", "secure"])
    }
  }

  @Test("I-browser: on a loopback origin the cookie has neither the __Host- prefix nor Secure")
  func attributesOnLoopback() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      let begun = try await gateway.begin()
      #expect(begun.cookie.hasPrefix("proofgate="))
      #expect(try attributes(begun.response) == ["httponly", "path=/", "samesite=lax"])
    }
  }

  @Test("I-browser: with a callback over the network the cookie is SameSite=None, so a cross-site POST carries it")
  func attributesForNetwork() async throws {
    let policy = try FixturePolicy.with { $0.upstream.callback = .atCallback }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin()
      #expect(try attributes(begun.response) == ["httponly", "path=/", "samesite=none", "secure"])
    }
  }

  @Test("I-browser: a form of another site gets no new cookie, and is repeated as a link, which carries the cookie")
  func crossSiteForm() async throws {
    try await GatewayFixture.run { gateway in
      let running = try await gateway.begin()
      let target = gateway.authorizationTarget("p1")
      let form = Form(decoding: target.split(separator: "?", maxSplits: 1).last ?? "")
      // Browsers attach no `SameSite=Lax` cookie to this form.
      let answer = try await gateway.post("/authorize", form, ["Sec-Fetch-Site": "cross-site"])
      #expect(answer.status == 303 && answer.ownCookie == nil)
      let link = try #require(answer.location)
      #expect(link == target)
      let repeated = try await gateway.get(link, ["Cookie": running.cookie, "Sec-Fetch-Site": "cross-site"])
      let cookie = try #require(repeated.ownCookie)
      // The sign-in that was running ends in this browser.
      let done = try await gateway.allow(running, cookies: [cookie, try await gateway.legacySession()])
      #expect(done.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      // A form that is too long for a link is refused, and changes no cookie either.
      var long = form
      long.append("login_hint", String(repeating: "a", count: gateway.policy.gateway.limits.targetLength))
      let refused = try await gateway.post("/authorize", long, ["Sec-Fetch-Site": "cross-site"])
      #expect(refused.status == 400 && refused.ownCookie == nil && refused.text.contains("target_length"))
      // Other forms begin a sign-in directly.
      for headers: Headers in [["Sec-Fetch-Site": "same-origin"], [:]] {
        #expect(try await gateway.post("/authorize", form, headers).ownCookie != nil)
      }
    }
  }

  @Test("I-browser: the cookie never goes upstream, on any path and in any spelling")
  func strippedUpstream() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let cookies = [
        "a=1; \(begun.cookie); b=2", "\(begun.cookie)", "a=1;\(begun.cookie)", " \(begun.cookie) ; c=3",
        // Marks that Swift joins with the semicolon next to them into one character, and other servers do not.
        "a=\u{600};\(begun.cookie)", "a=1;\(begun.cookie);\u{301}b=2",
      ]
      for cookie in cookies {
        for target in ["/", "/login", begun.target, "/api/me"] {
          _ = try await gateway.get(target, ["Cookie": cookie])
        }
        _ = try await gateway.redeem("x", "p1", headers: ["Cookie": cookie])
      }
      let secret = try #require(begun.cookie.split(separator: "=").last)
      for request in gateway.upstream.recorder.requests {
        for field in request.headers.fields { #expect(!field.value.contains(secret), "\(request.target)") }
        #expect(!request.headers.all("Cookie").contains { $0.contains("proofgate") })
      }
      #expect(gateway.upstream.recorder.requests.contains { $0.headers["Cookie"] == "a=1; b=2" })
    }
  }

  @Test("I-browser: the upstream cannot set the cookie, on any path")
  func upstreamCannotSet() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      gateway.upstream.script { request in
        var headers: Headers = ["Set-Cookie": "__Host-proofgate=fixed; Path=/; Secure"]
        headers.append("Set-Cookie", "__HOST-PROOFGATE=fixed; Path=/; Secure")
        headers.append("Set-Cookie", "=__Host-proofgate=fixed; Path=/; Secure")
        headers.append("Set-Cookie", "SESSION=1; Path=/")
        switch request.path {
        case "/authorize" where request.query?.contains("mode=redirect") ?? false:
          headers.append("Location", "/login")
          return Response(status: 302, headers: headers)
        default: return Response(status: 200, headers: headers, body: Array("page".utf8))
        }
      }
      let cookie = Headers.cookies([begun.cookie])
      let responses = [
        try await gateway.get("/"), try await gateway.get("/", cookie), try await gateway.get(begun.target, cookie),
        try await gateway.get(begun.target { $0.append("mode", "redirect") }, cookie),
        try await gateway.get(gateway.authorizationTarget("p1")),
      ]
      for response in responses {
        let fields = response.headers.all("Set-Cookie")
        #expect(!fields.contains { $0.contains("fixed") })
        #expect(fields.contains { $0.hasPrefix("SESSION=1") })
      }
    }
  }

  @Test("I-browser: two tabs at once share the browser's secret, and both get a code")
  func twoTabs() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let first = try await gateway.begin(cookies: [session])
      let second = try await gateway.begin(cookies: [session, first.cookie]) { $0.set("state", "s2") }
      let hashes = [try gateway.transaction(of: first), try gateway.transaction(of: second)].map(\.browserSecretHash)
      #expect(hashes[0] == hashes[1])
      // The browser keeps the newer cookie, and the older tab continues with it.
      for (begun, state) in [(first, "s1"), (second, "s2")] {
        let response = try await gateway.allow(begun, cookies: [session, second.cookie])
        let answer = response.answer
        #expect(answer["state"] == state)
        let code = try #require(answer["code"])
        #expect(try await gateway.redeem(code, "p1").status == 200)
      }
    }
  }

  @Test("I-browser: a flow that changes the browser gets a page that offers to start again, and never a redirect")
  func otherBrowser() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      let stranger = try await gateway.begin()
      for cookies in [[session], [session, stranger.cookie], [session, begun.cookie, stranger.cookie]] {
        let before = gateway.upstream.recorder.count
        let response = try await gateway.allow(begun, cookies: cookies)
        #expect(response.status == 400)
        #expect(response.location == nil)
        #expect(gateway.upstream.recorder.count == before)
        #expect(response.text.contains("Start again"))
        #expect(response.text.contains("browser-unbound"))
        // The page must not reveal the app's request to a browser that has only the sealed state.
        let challenge = GatewayFixture.challenge
        for text in ["client_id=p1", "legacy-p1", begun.state, "state=s1", challenge, "com.example.p1"] {
          #expect(!response.text.contains(text), "\(text)")
        }
      }
    }
  }

  /// The target of the link on a page that offers to start again.
  private func link(_ page: Response) throws -> String {
    let link = try #require(page.text.firstMatch(of: /href="(\/\.proofgate\/start\?ticket=[^"]*)"/)?.output.1)
    return String(link).replacing("&amp;", with: "&")
  }

  @Test("I-browser: the link of that page applies every rule of the policy that is in force when it is opened")
  func startAgain() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin { $0.append("scope", "read") }
      let page = try await gateway.get(begun.target)
      let target = try link(page)
      let again = try await gateway.get(target)
      #expect(again.status == 302)
      let sent = Form(decoding: gateway.upstream.recorder.requests(to: "/authorize").last?.query ?? "")
      let transaction = try gateway.transaction(in: try #require(sent["state"]))
      let original = try gateway.transaction(of: begun)
      #expect(transaction.state == original.state)
      #expect(transaction.challenge == original.challenge)
      #expect(transaction.scope == original.scope)
      #expect(transaction.redirectURI == original.redirectURI)
      #expect(transaction.id != original.id)
      // A policy that no longer knows the client applies too.
      await gateway.reload { $0.remove("p1") }
      try await gateway.expectRefused(get: target, status: 400)
    }
  }

  @Test("I-browser: the link keeps the resource of the request, and parameters for the display need not be kept")
  func startForResource() async throws {
    let mail = try #require(ResourceURI(parsing: "https://mail.example.com/"))
    let policy = try FixturePolicy.with { fixture in
      var resource = ResourceSettings(uri: mail)
      resource.upstream.audience = "mail-audience"
      fixture.resources = [resource]
    }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin { form in
        form.append("resource", mail.text)
        form.append("ui_locales", "de")
      }
      #expect(try gateway.transaction(of: begun).resource == mail.text)
      #expect(try await gateway.get(try link(try await gateway.get(begun.target))).status == 302)
      #expect(try gateway.transaction(in: try #require(sentState(gateway))).resource == mail.text)
    }
  }

  @Test(
    "I-browser: without a parameter that the gateway does not keep, the app must start again: the page has no link",
    arguments: [
      ("nonce", "n1"), ("prompt", "login"), ("max_age", "60"), ("acr_values", "high"), ("claims", "{}"),
      ("id_token_hint", "x"), ("login_hint", "alice"), ("tenant", "acme"), ("resource", "https://mail.example.com/"),
    ])
  func noLink(name: String, value: String) async throws {
    let policy = try FixturePolicy.with { $0.upstream.parameters = ["tenant", "resource"] }
    try await GatewayFixture.run(policy) { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session]) { $0.append(name, value) }
      for page in [
        try await gateway.get(begun.target), try await gateway.allow(begun, cookies: [session]),
      ] {
        #expect(page.status == 400 && page.text.contains("browser-unbound"), "\(page.text)")
        #expect(page.text.contains("Go back to the app and sign in again."))
        #expect(!page.text.contains("/.proofgate/start"))
      }
    }
  }

  @Test("I-browser: the link works for 15 minutes, with GET only, and in no other spelling")
  func startTicket() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let target = try link(try await gateway.get(begun.target))
      try await gateway.expectRefused(post: target, [:], status: 405)
      try await gateway.expectRefused(get: target + "A", status: 400)
      try await gateway.expectRefused(get: "/.proofgate/start", status: 400)
      try await gateway.expectRefused(get: "/.proofgate/start?ticket=\(begun.state)", status: 400)
      let ticket = try #require(target.split(separator: "=").last)
      let asState = gateway.authorizationTarget("p1") { $0.set("state", String(ticket)) }
      #expect(try await gateway.get(asState).status == 302)
      #expect(try gateway.transaction(in: try #require(sentState(gateway))).state == String(ticket))
      gateway.clock.advance(by: 899)
      #expect(try await gateway.get(target).status == 302)
      gateway.clock.advance(by: 2)
      let late = try await gateway.expectRefused(get: target, status: 400)
      #expect(late.text.contains("transaction-expired"))
    }
  }

  private func sentState(_ gateway: GatewayFixture) -> String? {
    Form(decoding: gateway.upstream.recorder.requests(to: "/authorize").last?.query ?? "")["state"]
  }

  @Test("I-browser: a new start uses the authorization path of the first start and shows the consent page")
  func startPath() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.endpoints.authorization = ["/authorize", "/v2/authorize"]
      policy.edit("p1") { $0.consent = .gateway }
    }
    try await GatewayFixture.run(policy) { gateway in
      await gateway.reload { policy in policy.edit("p1") { $0.consent = .upstream } }
      let first = try await gateway.get(
        gateway.authorizationTarget("p1").replacing("/authorize", with: "/v2/authorize"))
      #expect(first.status == 302 || first.status == 200)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/v2/authorize").last?.query)
      let target = try link(try await gateway.get("/v2/authorize?\(sent)"))
      await gateway.reload { policy in policy.edit("p1") { $0.consent = .gateway } }
      let page = try await gateway.expectRefused(get: target, status: 200)
      let token = try #require(page.text.firstMatch(of: /name="consent_token" value="([^"]+)"/)?.1)
      let cookies = Headers.cookies([try #require(page.ownCookie)])
      func press(_ decision: String) async throws -> Response {
        try await gateway.post("/.proofgate/consent", ["consent_token": String(token), "decision": decision], cookies)
      }
      // A redirect would give the app's state to the holder of the link.
      let denied = try await press("deny")
      #expect(denied.status == 403 && denied.location == nil)
      #expect(denied.text.contains("consent-denied") && !denied.text.contains(/\bs1\b/))
      #expect(try await press("approve").location?.hasPrefix("/v2/authorize?") == true)
    }
  }

  @Test("I-browser: a refused new start is a page, although the app's own request would get a redirect")
  func startRefused() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      let target = try link(try await gateway.get(begun.target))
      await gateway.reload { policy in policy.edit("p1") { $0.grants = [.refreshToken] } }
      let app = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(app.location?.hasPrefix("com.example.p1:/cb?error=") == true)
      let again = try await gateway.expectRefused(get: target, status: 400)
      #expect(again.location == nil && !again.text.contains("com.example.p1"))
    }
  }

  @Test("I-browser: an expired transaction gets a page that offers to start again")
  func expired() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      var transaction = try gateway.transaction(of: begun)
      transaction.expiry = 1_000_000_000
      let target = begun.target { $0.set("state", gateway.sealer.seal(transaction)) }
      let response = try await gateway.expectRefused(get: target, Headers.cookies([begun.cookie]), status: 400)
      #expect(response.text.contains("transaction-expired"))
      #expect(response.text.contains("Start again"))
    }
  }
}
