import GatewayTestSupport
import HTTP
import LegacyServer
import Policy
import Testing
import Time

@Suite("I-path")
struct PathTests {
  static let spellings = [
    "/Authorize", "/AUTHORIZE", "/%61uthorize", "/%2561uthorize", "//authorize", "/authorize/", "/./authorize",
    "/x/../authorize", "/x/..%2fauthorize", "/x/%2e%2e/authorize", "/authorize;a=b", "/authorize;/x",
    "/x/..;/authorize",
    "/authorize%3bx", "/x%5c..%5cauthorize", "/authorize.json", "/authorize.php", "/authorize%20", "/authorize%00",
    "/authorize%00.css", "/authorize%3fx=1", "/index.php/authorize", "/authorize/.", "/authorize%2f",
    "/%e0%81%a1uthorize",
    "/authorize.",
  ]

  @Test("I-path: an authorization endpoint in any other spelling is refused", arguments: spellings)
  func authorization(path: String) async throws {
    try await GatewayFixture.run { gateway in
      let query = gateway.authorizationTarget("p1").split(separator: "?")[1]
      let response = try await gateway.expectRefused(get: "\(path)?\(query)", status: 400)
      #expect(response.location == nil)
      try await gateway.expectRefused(post: path, Form(decoding: query), status: 400)
      #expect(gateway.logLines.contains { $0.contains("path-ambiguous") })
    }
  }

  @Test("I-path: a token endpoint in any other spelling is refused", arguments: spellings)
  func token(path: String) async throws {
    try await GatewayFixture.run { gateway in
      let path = path.replacing("Authorize", with: "Token").replacing("AUTHORIZE", with: "TOKEN")
        .replacing("authorize", with: "token").replacing("61uthorize", with: "74oken")
        .replacing("%e0%81%a1uthorize", with: "%e0%81%b4oken")
      try await gateway.expectRefused(post: path, gateway.tokenForm("rawcode0123456"), status: 400)
    }
  }

  @Test(
    "I-path: an absolute target with another spelling, and a target with a fragment, are refused",
    arguments: [
      "http://gw.example/%61uthorize?x", "https://gw.example//authorize?x", "/authorize#x?y",
    ])
  func targets(target: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectRefused(get: target, status: 400)
    }
  }

  @Test("I-path: an endpoint may have several paths, and the upstream gets the path of the request")
  func aliases() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.endpoints.authorization = ["/authorize", "/v2/authorize"]
      policy.upstream.endpoints.token = ["/token", "/v2/token"]
    }
    try await GatewayFixture.run(policy) { gateway in
      let legacy = gateway.upstream.legacy
      gateway.upstream.script { request in
        guard request.target.hasPrefix("/v2/") else { return nil }
        var request = request
        request.target = String(request.target.dropFirst(3))
        return legacy.respond(to: request, now: 1_700_000_000)
      }
      let response = try await gateway.get("/v2" + gateway.authorizationTarget("p1"))
      #expect(response.status == 302)
      #expect(gateway.upstream.recorder.requests.last?.path == "/v2/authorize")
      let code = try await gateway.code("p1")
      let tokens = try await gateway.post("/v2/token", gateway.tokenForm(code, "p1"))
      #expect(gateway.upstream.recorder.requests.last?.path == "/v2/token")
      #expect([200, 400].contains(tokens.status))
      try await gateway.expectRefused(post: "/v2/Token", gateway.tokenForm(code, "p1"), status: 400)
    }
  }

  @Test("I-path: endpoints that the policy closes are refused")
  func closed() async throws {
    let policy = try FixturePolicy.with { $0.upstream.endpoints.closed = ["/par", "/register"] }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectRefused(post: "/par", ["client_id": "n1"], status: 404)
      try await gateway.expectRefused(post: "/register", [:], status: 404)
      try await gateway.expectRefused(post: "/PAR", ["client_id": "n1"], status: 400)
      try await gateway.expectRefused(get: "/.proofgate/nothing", status: 404)
    }
  }

  @Test("I-path: with `pass` every other path is 404")
  func passed() async throws {
    let policy = try FixturePolicy.with { $0.upstream.passPrefixes = ["/login"] }
    try await GatewayFixture.run(policy) { gateway in
      #expect(try await gateway.get("/login").status == 200)
      for target in ["/", "/api/me", "/loginx", "/login/../api/me", "/login/%2e%2e/api/me"] {
        try await gateway.expectRefused(get: target, status: 404)
      }
      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
    }
  }

  @Test("I-path: an empty `pass` forwards no path, and `/` forwards all")
  func emptyPass() async throws {
    let policy = try FixturePolicy.with { $0.upstream.passPrefixes = [] }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectRefused(get: "/login", status: 404)
      await gateway.reload { $0.upstream.passPrefixes = UpstreamSettings.everyPath }
      #expect(try await gateway.get("/login").status == 200)
    }
  }

  @Test("I-path: while every client is observed, the log names each path that `pass` would close")
  func notPassedObserved() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.passPrefixes = ["/login"]
      policy.editAll { $0.mode = .observe }
    }
    try await GatewayFixture.run(policy) { gateway in
      let response = try await gateway.get("/api/me")
      #expect(response.status != 404)
      #expect(
        gateway.logLines.contains {
          $0.contains("would-reject:path-not-passed") && $0.contains(#""path":"/api/me""#)
        })
    }
  }

  @Test(
    "I-path: a path that begins like an endpoint is refused, logged as an entry to list, and passes once it is listed")
  func resembling() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectRefused(post: "/tokenx", gateway.tokenForm("rawcode0123456"), status: 400)
      let response = try await gateway.expectRefused(get: "/authorize/s3cr3tv4lu3", status: 400)
      #expect(response.text.contains("path-resembles-endpoint"))
      #expect(
        gateway.logLines.contains {
          $0.contains(#""rule":"path-resembles-endpoint""#) && $0.contains(#""path":"/tokenx""#)
        })
      #expect(gateway.logLines.contains { $0.contains(#""path":"/authorize/*""#) })
      #expect(!gateway.logLines.contains { $0.contains("s3cr3tv4lu3") })
    }
    let policy = try FixturePolicy.with { $0.upstream.notEndpoints = ["/tokenx"] }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { Response(status: 200, body: Array($0.target.utf8)) }
      #expect(try await gateway.get("/tokenx").text == "/tokenx")
      try await gateway.expectRefused(get: "/tokeny", status: 400)
    }
  }

  private static let multipart =
    "--b\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\npassword\r\n--b--\r\n"
  private static let form = "application/x-www-form-urlencoded"

  @Test(
    "I-path: an authorization or token request on an unlisted path is refused and logged, and reaches no server",
    arguments: [
      ("GET", "/oauth2/v1/authorize?response_type=code&client_id=n1", "", ""),
      ("GET", "/api/v2/token?grant_type=password&username=u&password=p", "", ""),
      ("POST", "/api/v2/token", form, "grant_type=password&username=u&password=p"),
      ("POST", "/api/v2/token", form + "; charset=utf-8", "username=u&grant%5Ftype=password"),
      ("POST", "/api/v2/authorize", form, "client_id=n1&response_type=code"),
      ("POST", "/api/v2/authorize?response_type=code", form, "client_id=n1"),
      ("POST", "/api/v2/token", "Multipart/Form-Data; boundary=b", multipart),
      ("PUT", "/api/v2/token", form, "grant_type=password"), ("PATCH", "/api/v2/token", form, "grant_type=password"),
      ("POST", "/api/v2/token", "", "grant_type=password"),
      ("POST", "/api/v2/token", "text/plain", "grant_type=password"),
      ("POST", "/api/v2/token", "application/json", #"{"grant_type":"password"}"#),
      ("PUT", "/api/v2/token", "application/vnd.api+json", #"{"username":"u","grant_type":"password"}"#),
      ("GET", "/api/v2/authorize?client_id=n1&redirect_uri=https%3A%2F%2Fapp.example%2Fcb", "", ""),
      ("GET", "/api/v2/authorize?client_id=n1&request_uri=urn%3Aa", "", ""),
      ("POST", "/api/v2/token", form, "x=" + String(repeating: "y", count: 50_000) + "&grant_type=password"),
    ])
  func unlisted(method: String, target: String, type: String, body: String) async throws {
    let request = {
      var headers: Headers = [:]
      if !type.isEmpty { headers.set("Content-Type", type) }
      return Request(method: method, target: target, headers: headers, body: Array(body.utf8))
    }()
    try await GatewayFixture.run { gateway in
      let response = try await gateway.send(request)
      #expect(response.status == 400)
      #expect(gateway.upstream.recorder.requests.isEmpty)
      #expect(
        gateway.logLines.contains { $0.contains(#""rule":"unlisted-oauth""#) && $0.contains(#""decision":"reject""#) })
    }
    let observing = try FixturePolicy.with { $0.unlistedOAuth = .observe }
    try await GatewayFixture.run(observing) { gateway in
      gateway.upstream.script { Response(status: 200, body: $0.body) }
      let response = try await gateway.send(request)
      #expect(response.status == 200)
      #expect(response.body == Array(body.utf8))
      #expect(gateway.logLines.contains { $0.contains("would-reject:unlisted-oauth") && $0.contains(#""path":"/"#) })
    }
  }

  @Test("I-path: a listed login page that gets the parameters has the rules of the authorization endpoint")
  func loginPage() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { $0.path == "/login" ? Response(status: 200, body: Array("page".utf8)) : nil }
      let begun = try await gateway.begin()
      let other = try await gateway.begin()
      let cookies = Headers.cookies([begun.cookie])
      let page = begun.query.added(to: "/login")
      let answer = try await gateway.get(page, Headers.cookies([begun.cookie, "scope=admin"]))
      #expect(answer.status == 200)
      let shown = try #require(gateway.upstream.recorder.requests(to: "/login").last)
      #expect(shown.query.map(String.init) == begun.query.encoded)
      #expect(!shown.headers.all("Cookie").contains { $0.contains("admin") })
      let posted = try await gateway.post(page, ["username": "alice", "password": "p"], cookies)
      #expect(posted.status == 200)
      var hidden = begun.query
      hidden.append("password", "p")
      let hiddenFields = try await gateway.post("/login", hidden, cookies)
      #expect(hiddenFields.status == 200)
      #expect(gateway.upstream.recorder.requests(to: "/login").count == 3)
      var changes: [Form] = []
      for (name, value) in [("redirect_uri", "https://a.example/"), ("client_id", "n2")] {
        var form = begun.query
        form.set(name, value)
        changes.append(form)
      }
      var extended = begun.query
      extended.append("code_challenge", "x")
      var token = begun.query
      token.append("grant_type", "refresh_token")
      for query in changes + [extended, token] {
        try await gateway.expectRefused(get: query.added(to: "/login"), cookies, status: 400)
        try await gateway.expectRefused(post: "/login", query, cookies, status: 400)
      }
      for path in ["/signin", "/login/x", "/Login"] {
        try await gateway.expectRefused(get: begun.query.added(to: path), cookies, status: 400)
      }
      try await gateway.expectRefused(get: page)
      try await gateway.expectRefused(get: page, Headers.cookies([other.cookie]))
    }
  }

  @Test("I-path: a listed login page passes the parameters of an observed client")
  func loginPageOfObservedClient() async throws {
    let policy = try FixturePolicy.with { $0.edit("n2") { $0.enforcement.mode = .observe } }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { $0.path == "/login" ? Response(status: 200, body: Array("page".utf8)) : nil }
      let query: Form = [
        "client_id": "n2", "response_type": "code", "redirect_uri": "com.example.n2:/cb", "state": "s",
      ]
      let page = try await gateway.get(query.added(to: "/login"))
      #expect(page.status == 200)
      let posted = try await gateway.post("/login", query)
      #expect(posted.status == 200)
    }
  }

  @Test("I-path: other forms pass byte for byte, whatever their length")
  func otherForms() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { Response(status: 200, body: $0.body) }
      for count in [0, 1, 100, 16_000, 16_384, 40_000, 200_000] {
        let body = Array(("user=a&x=" + String(repeating: "y", count: count)).utf8)
        let response = try await gateway.send(
          Request(method: "POST", target: "/login", headers: ["Content-Type": Self.form], body: body))
        #expect(response.status == 200)
        #expect(response.body == body)
      }
      for (method, type, body) in [
        ("POST", "application/json", #"{"client_id":"a","redirect_uri":"b","grant_types":["password"]}"#),
        ("POST", Self.form, "client_id=a&redirect_uri=b&username=c&password=d"),
        ("PUT", "application/octet-stream", "grant_type=a"), ("POST", "text/plain", "grant_types=a"),
      ] {
        let response = try await gateway.send(
          Request(method: method, target: "/login", headers: ["Content-Type": type], body: Array(body.utf8)))
        #expect(response.status == 200 && response.body == Array(body.utf8), "\(method) \(type)")
      }
    }
  }

  @Test(
    "I-path: a redirect of an unlisted path that carries a code or token to a guarded address gives 502",
    arguments: [
      "https://gw.example/.proofgate/callback?code=rawcode0123456&state=x", "/.proofgate/callback?code=rawcode0123456",
      "com.example.app:/cb?code=rawcode0123456", "https://app.example.com/cb?state=x&code=rawcode0123456",
      "http://127.0.0.1:4711/cb?code=rawcode0123456", "http://localhost:4711/?code=rawcode0123456",
      "https://web.example.com/cb?x=1&code=rawcode0123456", "https://app.example.com/cb#access_token=rawcode0123456",
      "https://web3.example.com/cb?id_token=rawcode0123456", "//gw.example/.proofgate/callback?code=rawcode0123456",
      "https://gw.example:443/.proofgate/callback?code=rawcode0123456",
      "HTTPS://GW.Example/.proofgate/callback?code=rawcode0123456",
      "https://x:y@gw.example/.proofgate/callback?code=rawcode0123456", "\\.proofgate\\callback?code=rawcode0123456",
      "https:\\\\gw.example/.proofgate/callback?code=rawcode0123456", "COM.example.app:/cb?code=rawcode0123456",
      "/\\gw.example/.proofgate/callback?code=rawcode0123456",
      "HTTP://127.1.example@127.0.0.1:4711/cb?code=rawcode0123456",
      "http://2130706433:9/?code=rawcode0123456", "http://0x7f.1:9/?code=rawcode0123456",
      "http://017700000001/?code=rawcode0123456", "http://127.1/?code=rawcode0123456",
      "http://0:9/?code=rawcode0123456",
      "http://[::]:9/?code=rawcode0123456", "http://[0::1]:9/?code=rawcode0123456",
      "http://[0:0:0:0:0:ffff:7f00:1]/?code=rawcode0123456", "http://[::ffff:127.0.0.1]/?code=rawcode0123456",
      "http://[::127.0.0.1]/?code=rawcode0123456", "http://%30x7f000001/?code=rawcode0123456",
      "com.example.app:/cb?Code=rawcode0123456", "com.example.app:/cb?%2563ode=rawcode0123456",
      "com.example.app:/cb?%25252563ode=rawcode0123456", "com.example.app:/cb?CO%44E%3Drawcode0123456",
      "intent://cb?code=rawcode0123456#Intent;scheme=com.example.app;end",
      "INTENT:cb?code=rawcode0123456#Intent;scheme=com.example.app;end",
      "android-app://com.example/com.example.app/cb?code=rawcode0123456",
    ])
  func answersElsewhere(location: String) async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": location], body: Array(location.utf8))
      }
      let begun = try await gateway.post("/oauth2/v1/authorise", [:])
      let got = try await gateway.get("/sso?x=1", ["Cookie": "__Host-proofgate=x"])
      for response in [begun, got] {
        #expect(response.status == 502)
        #expect(response.location == nil)
        #expect(!response.text.contains("rawcode"))
      }
    }
  }

  @Test(
    "I-path: other redirects of unlisted paths pass",
    arguments: [
      "/home?x=1", "https://elsewhere.example/?code=1", "http://128.1/?code=1", "http://2130706433.example/?code=1",
      "http://[2001:db8::7f00:1]/?code=1", "http://126.255.255.255/?code=1", "http://256.0.0.1.example/?code=1",
      "/login?next=%2Fauthorize%3Fcode%3D1",
      "https://app.example.com/cb",
    ])
  func otherRedirects(location: String) async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in Response(status: 302, headers: ["Location": location]) }
      let response = try await gateway.get("/sso")
      #expect(response.location == location)
    }
  }
}
