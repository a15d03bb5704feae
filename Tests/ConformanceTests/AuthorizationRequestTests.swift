import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time
import VectorsTestSupport

/// RFC 6749, section 3.1, and extensions that could circumvent it.
@Suite("Authorization requests")
struct AuthorizationRequestTests {
  @Test("6749-3.1-get: a GET is accepted")
  func get() async throws {
    try await GatewayFixture.run { gateway in
      try await expectStatus(200, of: gateway.get(gateway.authorizationTarget()))
      let answer = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(answer.location?.contains("/login") == true)
    }
  }

  @Test("6749-3.1-post: a POST is checked like a GET and answered with 303")
  func post() async throws {
    try await GatewayFixture.run { gateway in
      let whole = Form(decoding: gateway.authorizationTarget().split(separator: "?")[1])
      let refused = try await gateway.expectRefused(
        post: "/authorize", whole.without("code_challenge", "code_challenge_method"), status: 303)
      #expect(try refused.expectErrorRedirect(to: "com.example.app:/cb")["error"] == "invalid_request")
      try await expectStatus(200, of: gateway.post("/authorize", whole))
      var browser = gateway.browser(for: "com.example.p1:/cb")
      let stop = try await browser.open(gateway.front.at(gateway.authorizationTarget("p1")))
      guard case .page(let page) = stop else {
        Issue.record("no login page")
        return
      }
      #expect(page.status == 200)
    }
  }

  @Test("6749-3.1-split-params: a request with parameters in both query and body is refused")
  func split() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(
        post: "/authorize?redirect_uri=com.example.app%3A%2Fcb", ["redirect_uri": "https://evil.example"], status: 400)
      response.expectPage()
      let whole = Form(decoding: gateway.authorizationTarget().split(separator: "?")[1])
      try await gateway.expectRefused(post: gateway.authorizationTarget(), whole, status: 400).expectPage()
    }
  }

  @Test(
    "6749-3.1-dup-page: a second client_id or redirect_uri, in any spelling, is refused on a page",
    arguments: [
      "&redirect%5Furi=https%3A%2F%2Fevil.example", "&redirect_uri=com.example.app%3A%2Fcb", "&client_id=n1",
      "&client%5fid=n2", "&client_id=", "&redirect_uri=",
    ])
  func duplicatePage(addition: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget() + addition)
    }
  }

  @Test(
    "6749-3.1-dup-redirect: any other repeated parameter is refused by redirect",
    arguments: [
      "&code_challenge=X", "&scope=a&scope=a", "&response_type=code", "&code_challenge_method=S256",
      "&code%5Fchallenge=X",
      "&response_mode=query&response_mode=query", "&nonce=1&nonce=1",
    ])
  func duplicateRedirect(addition: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(gateway.authorizationTarget() + addition, error: "invalid_request")
    }
  }

  @Test("6749-3.1-dup-redirect: a repeated state is not returned")
  func duplicateState() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget() + "&state=s2", error: "invalid_request", state: nil)
    }
  }

  @Test("6749-3.1-dup-redirect: resource may repeat")
  func resource() async throws {
    try await GatewayFixture.run { gateway in
      let target = gateway.authorizationTarget() + "&resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example"
      try await expectStatus(200, of: gateway.get(target))
    }
  }

  @Test("6749-3.1-unknown: unknown parameters have no effect")
  func unknown() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk { $0.append("foo", "1") }
      #expect(delivery.parameters["code"] != nil)
    }
  }

  @Test("6749-3.1.1-missing: a missing response_type is invalid_request", arguments: [nil, ""])
  func responseTypeMissing(value: String?) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget {
          $0.remove("response_type")
          if let value { $0.append("response_type", value) }
        }, error: "invalid_request")
    }
  }

  @Test("6749-3.1.1-unknown: an unknown response_type is unsupported, and the order of its values does not matter")
  func responseTypeUnknown() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.set("response_type", "foo") }, error: "unsupported_response_type")
      let one = try await gateway.expectRefused(
        get: gateway.authorizationTarget { $0.set("response_type", "code token") })
      let other = try await gateway.expectRefused(
        get: gateway.authorizationTarget { $0.set("response_type", "token code") })
      // The id of the request in `error_uri` is the only difference.
      let ids = try [one, other].map { try #require($0.headers["X-Request-ID"]) }
      #expect(one.location?.replacing(ids[0], with: "ID") == other.location?.replacing(ids[1], with: "ID"))
      #expect(one.location?.contains("error=") == true)
    }
  }

  @Test(
    "8252-8.2-implicit: a native app gets no access token from the authorization endpoint",
    arguments: ["token", "id_token token", "token id_token"])
  func implicitNative(type: String) async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(get: gateway.authorizationTarget { $0.set("response_type", type) })
      let location = try #require(response.location)
      try #require(location.hasPrefix("com.example.app:/cb#"))
      let form = Form(decoding: location.split(separator: "#")[1])
      #expect(form["error"] == "unauthorized_client")
      #expect(form["state"] == "s1")
    }
  }

  @Test("9700-2.1.2-implicit: a web client gets no access token from the authorization endpoint")
  func implicitWeb() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(
        get: gateway.authorizationTarget("w1") { $0.set("response_type", "token") })
      let location = try #require(response.location)
      try #require(location.hasPrefix("https://web.example.com/cb?x=1#"))
      #expect(Form(decoding: location.split(separator: "#")[1])["error"] == "unsupported_response_type")
    }
  }

  @Test(
    "9101-7-request-not-supported, 9101-7-request-uri-not-supported, 9101-5-both, 9101-5-never-forward: request objects are refused and never forwarded",
    arguments: [
      ("&request=eyJhbGciOiJub25lIn0.e30.", "request_not_supported"),
      ("&request_uri=https%3A%2F%2Fevil.example%2Fro", "request_uri_not_supported"),
      ("&request=x&request_uri=y", "invalid_request"),
      ("&registration=%7B%7D", "registration_not_supported"),
    ])
  func requestObjects(addition: String, error: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(gateway.authorizationTarget() + addition, error: error)
    }
  }

  @Test("9101-7-request-not-supported: a request whose redirect URI is only in the object is refused on a page")
  func requestObjectAlone() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage("/authorize?client_id=n1&request=eyJhbGciOiJub25lIn0.e30.")
    }
  }

  @Test(
    "9101-10.4-no-fetch, 9126-2-no-bypass: the gateway fetches no request_uri and accepts only its own",
    arguments: ["http://169.254.169.254/", "urn:ietf:params:oauth:request_uri:foreign"])
  func foreignRequestURI(value: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.append("request_uri", value) }, error: "request_uri_not_supported")
    }
  }

  @Test("9101-10.4-no-fetch: the gateway does not contact the address in request_uri")
  func notContacted() async throws {
    try await GatewayFixture.run { gateway in
      // The recording upstream represents any other address: it would record the request.
      let address = "http://127.0.0.1:\(gateway.upstream.port)/object"
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.append("request_uri", address) }, error: "request_uri_not_supported")
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("9126-2-no-bypass: the upstream's own PAR endpoint is closed")
  func pushed() async throws {
    let policy = try FixturePolicy.with { $0.upstream.endpoints.closed = ["/par", "/as/par"] }
    try await GatewayFixture.run(policy) { gateway in
      for path in ["/par", "/as/par"] {
        try await gateway.expectRefused(post: path, ["client_id": "n1"], status: 404)
      }
    }
  }

  @Test("6749-B-utf8: malformed UTF-8 is refused: by redirect, or on a page for client_id and redirect_uri")
  func encoding() async throws {
    try await GatewayFixture.run { gateway in
      let bare = gateway.authorizationTarget { $0.remove("state") }
      try await gateway.expectErrorRedirect(bare + "&state=%FF", error: "invalid_request", state: nil)
      try await gateway.expectErrorRedirect(bare + "&state=%C3%28", error: "invalid_request", state: nil)
      try await gateway.expectErrorRedirect(gateway.authorizationTarget() + "&scope=%ZZ", error: "invalid_request")
      try await gateway.expectErrorPage(gateway.authorizationTarget { $0.remove("client_id") } + "&client_id=%ZZ")
      try await gateway.expectErrorPage(gateway.authorizationTarget { $0.remove("client_id") } + "&client_id=%FF")
      try await gateway.expectErrorPage(gateway.authorizationTarget { $0.remove("redirect_uri") } + "&redirect_uri=%FF")
    }
  }

  @Test(
    "rm-2.1-unsupported, 9700-4.17-postmessage: a response mode that is not enabled is refused in the query",
    arguments: ["fragment", "form_post", "web_message", "jwt", "query.jwt", "xyz"])
  func responseModes(mode: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.append("response_mode", mode) }, error: "invalid_request")
    }
  }

  @Test("rm-2.1-unsupported: response modes are enabled for each client")
  func fragmentOn() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.responseModes = [.query, .fragment] } }) {
      gateway in
      let delivery = try await gateway.walk { $0.append("response_mode", "fragment") }
      #expect(delivery.address.hasPrefix("com.example.app:/cb#"))
      #expect(delivery.parameters["code"] != nil)
      #expect(try await gateway.walk { $0.append("response_mode", "query") }.address.hasPrefix("com.example.app:/cb?"))
    }
  }

  @Test("rm-form-post: form_post works for sites and never for a private-use scheme")
  func formPost() async throws {
    let policy = try FixturePolicy.with { policy in
      for id in ["n2", "w1"] { policy.edit(id) { $0.responseModes = [.query, .formPost] } }
    }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("n2") { $0.append("response_mode", "form_post") }, to: "com.example.app2:/cb",
        error: "invalid_request")
      var browser = gateway.browser(for: "https://web.example.com/cb?x=1")
      let delivery = try await gateway.walk(&browser, "w1") {
        $0.append("response_mode", "form_post")
        $0.set("state", "a\"><script>")
      }
      #expect(delivery.address == "https://web.example.com/cb?x=1")
      #expect(delivery.parameters["code"] != nil)
      #expect(delivery.parameters["state"] == "a\"><script>")
    }
  }

  @Test("rm-form-post: values are escaped in the form")
  func formPostEscapes() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("w1") { $0.responseModes = [.query, .formPost] } }) {
      gateway in
      let response = try await gateway.expectRefused(
        get: gateway.authorizationTarget("w1") {
          $0.append("response_mode", "form_post")
          $0.set("state", "\"><script>x")
          $0.set("scope", "\"")
        }, status: 200)
      #expect(!response.text.contains("<script>x"))
      #expect(response.text.contains("action=\"https://web.example.com/cb?x=1\""))
    }
  }

  @Test(
    "8252-6-unknown-ua, 8252-8.12-in-app-tabs: a request without a user agent or with an unknown one is accepted",
    arguments: [nil, "FooBrowser/1.0", ""])
  func anyAgent(agent: String?) async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.embeddedUserAgents = .block } }) { gateway in
      var headers = Headers()
      if let agent { headers.append("User-Agent", agent) }
      try await expectStatus(200, of: gateway.get(gateway.authorizationTarget(), headers))
    }
  }

  @Test(
    "8252-8.12-block, 8252-8.12-in-app-tabs: `block` refuses embedded user agents, but no in-app tabs",
    arguments: Vectors.all.userAgents.vectors)
  func agents(agent: Vectors.Agent) async throws {
    let broker = try RedirectURI(parsing: "msapp://s-1-15-2-1111-2222-3333")
    let policy = try FixturePolicy.with {
      $0.editAll { $0.embeddedUserAgents = .block }
      if agent.label.contains("msapp://") { $0.edit("n1") { $0.redirectURIs = [broker] } }
    }
    try await GatewayFixture.run(policy) { gateway in
      let response = try await gateway.get(gateway.authorizationTarget(), ["User-Agent": agent.userAgent])
      #expect(response.status == (agent.expectedEmbedded ? 403 : 200))
      #expect(gateway.upstream.recorder.count == 0)
      if agent.expectedEmbedded { response.expectPage() }
      if !agent.distinguishableByUa { #expect(response.status != 403) }
    }
  }

  @Test("8252-8.12-every-step: with `block` an embedded user agent cannot sign in through a login page on another path")
  func everyStep() async throws {
    let agent = "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36"
    let policy = try FixturePolicy.with { $0.edit("p1") { $0.embeddedUserAgents = .block } }
    try await GatewayFixture.run(policy) { gateway in
      let cookie = try await gateway.transactionCookie()
      let form: Form = ["username": "alice", "password": "wonderland"]
      for path in ["/login", "/login?next=%2F", "/style.css"] {
        try await gateway.expectErrorPage(path, status: 403, ["Cookie": cookie, "User-Agent": agent])
      }
      try await gateway.expectRefused(post: "/login", form, ["Cookie": cookie, "User-Agent": agent], status: 403)
      try await gateway.expectRefused(post: "/authorize", form, ["Cookie": cookie, "User-Agent": agent], status: 403)
      #expect(gateway.logLines.contains { $0.contains("user-agent-embedded") && $0.contains("\"path\"") })
      // The check is advisory and applies only during a sign-in: plain browsers, in-app tabs and browsers without a
      // transaction pass.
      try await expectStatus(200, of: gateway.get("/login", ["Cookie": cookie, "User-Agent": "FooBrowser/1.0"]))
      try await expectStatus(200, of: gateway.get("/login", ["Cookie": cookie]))
      try await expectStatus(200, of: gateway.get("/login", ["User-Agent": agent]))
      gateway.clock.advance(by: 900)
      try await expectStatus(200, of: gateway.get("/login", ["Cookie": cookie, "User-Agent": agent]))
    }
  }

  @Test("With `block` for clients that the policy does not list, the pages between the steps are checked too")
  func everyStepOfUnlisted() async throws {
    let agent = Vectors.all.userAgents.vectors.first { $0.expectedEmbedded }?.userAgent ?? ""
    let policy = try GatewayFixture.registering {
      $0.rules.enforcement.embeddedUserAgents = .block
    } policy: {
      $0.clients = [:]
    }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await gateway.registeredID(["com.example.app:/cb"])
      var browser = gateway.browser(for: "com.example.app:/cb")
      let page = try await browser.page(at: gateway.front.at(gateway.authorizationTarget(id, "com.example.app:/cb")))
      let consent = try #require(page.forms.first)
      let allow = consent.buttons.first { $0.value == "approve" }
      _ = try await browser.submit(consent, on: page, button: allow)
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      try await gateway.expectErrorPage("/login", status: 403, ["Cookie": cookie, "User-Agent": agent])
      try await expectStatus(200, of: gateway.get("/login", ["Cookie": cookie, "User-Agent": "FooBrowser/1.0"]))
    }
  }

  @Test("8252-8.12-every-step: without `block` an embedded user agent gets the pages between the steps")
  func everyStepReported() async throws {
    let agent = Vectors.all.userAgents.vectors.first { $0.expectedEmbedded }?.userAgent ?? ""
    let policy = try FixturePolicy.with { $0.edit("n1") { $0.embeddedUserAgents = .block } }
    try await GatewayFixture.run(policy) { gateway in
      let cookie = try await gateway.transactionCookie()
      try await expectStatus(200, of: gateway.get("/login", ["Cookie": cookie, "User-Agent": agent]))
    }
  }

  @Test("8252-8.12-block: with `report` an embedded user agent is accepted, and the log has a finding")
  func reported() async throws {
    let instagram = Vectors.all.userAgents.vectors.first { $0.expectedEmbedded }
    try await GatewayFixture.run { gateway in
      let response = try await gateway.get(gateway.authorizationTarget(), ["User-Agent": instagram?.userAgent ?? ""])
      #expect(response.status == 200)
      #expect(gateway.logLines.contains { $0.contains("user-agent-embedded") })
    }
  }

  @Test("8252-B.3-wab-sso: the Windows broker counts as external only with its own redirect URI")
  func broker() async throws {
    let uri = try RedirectURI(parsing: "msapp://s-1-15-2-1111-2222-3333")
    let https = try RedirectURI(parsing: "https://app.example.com/cb")
    let policy = try FixturePolicy.with {
      $0.edit("n1") {
        $0.redirectURIs = [uri, https]
        $0.embeddedUserAgents = .block
      }
    }
    let agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; Trident/7.0; MSAuthHost/1.0) like Gecko"
    try await GatewayFixture.run(policy) { gateway in
      try await expectStatus(200, of: gateway.get(gateway.authorizationTarget("n1", uri.text), ["User-Agent": agent]))
      try await gateway.expectErrorPage(
        gateway.authorizationTarget("n1", https.text), status: 403, ["User-Agent": agent])
    }
  }
}
