import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

extension HTTPTests {
  // MARK: Fields

  @Test("9110-7.6.1-connection: fields named in Connection are dropped, and naming a protected field is refused")
  func connection() async throws {
    try await GatewayFixture.run(before: Self.page) { gateway, raw in
      let passed = try await Self.raw(
        gateway, "GET /login HTTP/1.1\r\n\(Self.common)Connection: close, X-Foo\r\nX-Foo: 1\r\nX-Bar: 2\r\n\r\n")
      #expect(Self.status(passed) == 200, "\(passed)")
      let seen = try #require(raw.requests.last).lowercased()
      #expect(!seen.contains("x-foo"))
      #expect(seen.contains("\r\nx-bar: 2\r\n"))
      for name in ["Authorization", "Host", "Content-Length", "Cookie"] {
        let before = raw.requests.count
        let answer = try await Self.raw(
          gateway,
          "GET /login HTTP/1.1\r\n\(Self.common)Connection: close, \(name)\r\n\(name == "Host" || name == "Content-Length" ? "" : "\(name): x\r\n")\r\n"
        )
        #expect(Self.status(answer) == 400, "\(name): \(answer)")
        #expect(raw.requests.count == before)
      }
    }
  }

  @Test("9110-7.6.1-hop-fields: no hop-by-hop field and no upgrade passes in either direction")
  func hopFields() async throws {
    let answer =
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n\r\nok"
    try await GatewayFixture.run(before: .bytes(answer)) { gateway, raw in
      let answer = try await Self.raw(
        gateway,
        "GET /login HTTP/1.1\r\n\(Self.common)Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nKeep-Alive: 5\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nTrailer: X\r\n\r\n"
      )
      #expect(Self.status(answer) == 200, "\(answer)")
      let seen = try #require(raw.requests.last).lowercased()
      for name in ["upgrade", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer"] {
        #expect(!seen.contains("\r\n\(name):"), "\(name)")
      }
      let lower = answer.lowercased()
      for name in ["keep-alive", "proxy-connection", "upgrade", "x-hop"] {
        #expect(!lower.contains("\r\n\(name):"), "\(name)")
      }
    }
  }

  @Test(
    "9110-7.6.3-via: each request upstream has the gateway's name in Via, and a request that already has it is refused")
  func via() async throws {
    try await GatewayFixture.run(before: Self.page) { gateway, raw in
      _ = try await gateway.get("/login", ["Via": "1.0 other"])
      _ = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(raw.requests.count == 2)
      #expect(raw.requests.allSatisfy { $0.contains("\r\nVia: ") && $0.contains("1.1 gw.example\r\n") })
      try await gateway.expectRefused(get: "/login", ["Via": "1.1 gw.example"], status: 508)
      try await gateway.expectRefused(
        get: gateway.authorizationTarget("p1"), ["Via": "1.0 a, 1.1 gw.example"], status: 508)
      #expect(raw.requests.count == 2)
    }
  }

  @Test(
    "9700-4.13-sanitise: fields that the upstream trusts come only from the gateway or a trusted proxy",
    arguments: ["/login", nil])
  func sanitised(path: String?) async throws {
    // The client is not a trusted proxy.
    let policy = try FixturePolicy.with {
      $0.gateway.trustedProxies = [AddressRange(network: [UInt8](repeating: 1, count: 16), prefixLength: 128)]
    }
    try await GatewayFixture.run(before: Self.page, policy) { gateway, raw in
      let response = try await gateway.get(
        path ?? gateway.authorizationTarget("p1"),
        [
          "X-Remote-User": "admin", "x_forwarded_for": "1.1.1.1", "Client-Cert": ":AA==:",
          "Client-Cert-Chain": ":AA==:",
          "X-Real-IP": "1.1.1.1", "X-Forwarded-Port": "1", "REMOTE_USER": "admin", "X-Forwarded-User": "admin",
        ])
      #expect(response.status < 400)
      let seen = try #require(raw.requests.last)
      #expect(!seen.contains("admin") && !seen.contains("1.1.1.1") && !seen.contains("AA=="), "\(seen)")
      #expect(seen.contains("\r\nX-Forwarded-For: 127.0.0.1\r\n"))
    }
  }

  @Test("7239-4-forwarded: the upstream sees only the gateway's own Forwarded")
  func forwarded() async throws {
    try await GatewayFixture.run(before: Self.page) { gateway, raw in
      for target in ["/login", gateway.authorizationTarget("p1")] {
        _ = try await gateway.get(target, ["Forwarded": "for=1.2.3.4", "X-Forwarded-For": "2001:db8::1"])
        let seen = try #require(raw.requests.last)
        let lines = seen.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("forwarded:") }
        #expect(lines == [#"Forwarded: for="[2001:db8::1]";proto=https;host="gw.example""#])
        #expect(!seen.contains("1.2.3.4"))
      }
    }
  }

  @Test("7239-8.1-no-trust: forwarding fields of an untrusted client decide nothing")
  func noTrust() async throws {
    // The only trusted proxy has an address that is not on this machine.
    let policy = try FixturePolicy.with {
      $0.gateway.trustedProxies = [AddressRange(network: [UInt8](repeating: 1, count: 16), prefixLength: 128)]
    }
    try await GatewayFixture.run(before: Self.page, policy) { gateway, raw in
      _ = try await gateway.get("/login", ["X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "evil.example"])
      let seen = try #require(raw.requests.last)
      #expect(!seen.contains("192.0.2.1") && !seen.contains("evil.example"))
      // Changing addresses do not circumvent the rate limit.
      var statuses: Set<Int> = []
      for attempt in 0..<50 {
        let response = try await gateway.post(
          "/token", gateway.tokenForm("x", "w1") { $0.append("client_secret", "wrong") },
          ["X-Forwarded-For": "192.0.2.\(attempt)"])
        statuses.insert(response.status)
      }
      #expect(statuses.contains(429))
    }
  }

  @Test("6749-3.1-tls, 7239-8.1-no-trust: OAuth endpoints refuse plain http from another machine")
  func plaintext() async throws {
    try await GatewayFixture.run { gateway in
      let plain: Headers = ["X-Forwarded-Proto": "http", "X-Forwarded-For": "192.0.2.1"]
      let authorization = try await gateway.expectRefused(get: gateway.authorizationTarget(), plain, status: 403)
      #expect(authorization.location == nil)
      let token = try await gateway.expectRefused(post: "/token", gateway.tokenForm("x"), plain, status: 403)
      #expect(token.location == nil)
      try await gateway.expectRefused(post: "/revoke", ["token": "x"], plain, status: 403)
      try await gateway.expectRefused(post: "/introspect", ["token": "x"], plain, status: 403)
    }
  }

  // MARK: Targets

  @Test(
    "9110-4.2.3-path: a path that another server could map to an endpoint is refused or decided, never passed",
    arguments: [
      "/%61uthorize", "//authorize", "/x/..%2fauthorize", "/authorize;a", "/authorize/", "/AUTHORIZE", "/./authorize",
      "/x/../authorize", "/authorize%2f", "/authorize%00", "\\authorize", "/authorize.json", "/%2561uthorize",
      "/to%6ben", "/token/", "/Token", "//token", "/index.php/token",
    ])
  func paths(path: String) async throws {
    try await GatewayFixture.run { gateway in
      let query = Form(decoding: gateway.authorizationTarget().split(separator: "?")[1]).without("code_challenge")
        .encoded
      let answer = try await Self.raw(
        gateway, "GET \(path)?\(query) HTTP/1.1\r\n\(Self.common)Connection: close\r\n\r\n")
      let status = try #require(Self.status(answer))
      #expect([302, 400, 404, 405].contains(status), "\(answer)")
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  // MARK: Upstream

  @Test("9110-15.6-gateway-errors: an upstream that is unreachable or late gives a page without its name")
  func upstreamErrors() async throws {
    try await GatewayFixture.run { gateway in
      await gateway.reload { $0.upstream.responseTimeout = 50 }
      let gate = Gate()
      gateway.upstream.script { _ in
        await gate.pass()
        return nil
      }
      let late = try await gateway.get("/login", ["Accept": "text/html"])
      #expect(late.status == 504)
      late.expectPage()
      await gate.open()
      try await gateway.withReplica(upstream: .dead) { gateway in
        let gone = try await gateway.get("/login", ["Accept": "text/html"])
        #expect([502, 503].contains(gone.status))
        gone.expectPage()
        #expect(!gone.text.contains("127.0.0.") && !late.text.contains("127.0.0."))
      }
    }
  }

  @Test("9112-5.1-field-syntax, 9110-15.6-gateway-errors: a folded line in a response of the upstream gives 502")
  func foldedAnswer() async throws {
    let folded = "HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\nX-Secret: legacy\r\nContent-Length: 0\r\n\r\n"
    try await GatewayFixture.run(before: .bytes(folded)) { gateway, _ in
      let response = try await gateway.get("/login")
      #expect(response.status == 502)
      #expect(!response.text.contains("legacy"))
    }
  }

  @Test("9110-5.5-ctl: a response of the upstream cannot split the gateway's response")
  func splitAnswer() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        let form = Form(decoding: request.query ?? "")
        let answer: Form = ["code": "abcdefghij", "state": form["state"] ?? "", "scope": "a\r\nX-B: 1"]
        return Response(status: 302, headers: ["Location": answer.added(to: form["redirect_uri"] ?? "")])
      }
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(!response.headers.contains("X-B"))
      #expect(response.location?.contains("\r") != true)
    }
  }
}
