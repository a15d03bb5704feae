import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Tests with a policy that observes every client.
@Suite("I-observe")
struct ObserveTests {
  static func observing(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.mode = .observe
      policy.unknownClients = .observe
      policy.editAll { $0.mode = .observe }
      adjust(&policy)
    }
  }

  /// Fields whose order and spelling survive only if the gateway copies them.
  private static let fields: Headers = [
    "x-First": "1", "accept": "*/*", "Accept-Language": "de;q=0.5,  en", "If-None-Match": "\"a\"", "Range": "bytes=0-1",
    "X-HTTP-Method-Override": "PUT", "X-Twice": "a", "x-twice": "b", "Cookie": "a=1;b=2",
    "referer": "https://x.example/",
  ]

  @Test(
    "I-observe: a request reaches the upstream with the same bytes as any request that passes",
    arguments: [
      "GET /authorize?client_id=p1&redirect_uri=com.evil:/cb&response_type=token&state=s%31&state=2",
      "GET /authorize?%63lient_id=p1&Client_Id=n1&client_id=n2", "GET /authorize", "HEAD /authorize?client_id=nobody",
      "POST /authorize username=u&password=p", "POST /token grant_type=password&username=u&password=p",
      "POST /token {\"client_id\":\"p1\"}", "POST /token?client_id=p1 code=a&code=b",
      "POST /revoke token=t&client_id=w1&client_secret=w1secret", "GET /token?code=x", "PUT /token x=y",
      "GET /authorize/", "GET /%61uthorize?client_id=p1", "GET /register", "POST /device", "POST /par client_id=p1",
    ])
  func sameBytes(request: String) async throws {
    let parts = request.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let (method, target, body) = (parts[0], parts[1], parts.count > 2 ? parts[2] : "")
    let policy = try Self.observing { policy in
      policy.upstream.endpoints.closed = ["/register"]
      policy.upstream.endpoints.deviceAuthorization = ["/device"]
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
    }
    try await GatewayFixture.run(before: .bytes(Self.answer), policy) { gateway, raw in
      var headers = Self.fields
      headers.append("content-TYPE", "application/x-www-form-urlencoded")
      headers.append("Authorization", "Basic dzE6dzFzZWNyZXQ=")
      func send(_ target: String) async throws -> Response {
        try await gateway.send(Request(method: method, target: target, headers: headers, body: Array(body.utf8)))
      }
      let observed = try await send(target)
      let passed = try await send("/elsewhere")
      let requests = raw.requests
      try #require(requests.count == 2)
      #expect(requests[0] == requests[1].replacing("/elsewhere", with: target))
      #expect(requests[0].contains("x-First: 1\r\naccept: */*\r\nAccept-Language: de;q=0.5,  en\r\n"))
      #expect(observed.status == passed.status)
      #expect(observed.headers == passed.headers)
      #expect(observed.body == passed.body)
      #expect(observed.headers["X-Answer"] == "as it is")
      #expect(observed.headers.all("set-cookie") == ["s=1; Path=/"])
    }
  }

  /// Announces the end of the connection, so that the gateway does not send the next request on a connection that ends.
  private static let answer = """
    HTTP/1.1 403 Not Today\r
    Connection: close\r
    X-Answer: as it is\r
    set-cookie: s=1; Path=/\r
    Access-Control-Allow-Origin: *\r
    Content-Security-Policy: form-action 'self'\r
    Location: com.example.p1:/cb?code=rawcode0123456&state=s1\r
    Date: Mon, 01 Jan 2024 00:00:00 GMT\r
    Content-Length: 2\r
    \r
    ok
    """

  @Test("I-observe: the reason phrase of the upstream's response is returned unchanged")
  func reason() async throws {
    try await GatewayFixture.run(before: .bytes(Self.answer), try Self.observing()) { gateway, _ in
      let request =
        "GET \(gateway.authorizationTarget("p1")) HTTP/1.1\r\nHost: gw.example\r\nX-Forwarded-Proto: https\r\n"
        + "Connection: close\r\n\r\n"
      let answer = String(
        decoding: try await ClientLoop.sendRaw(Array(request.utf8), toPort: gateway.port), as: UTF8.self)
      #expect(answer.hasPrefix("HTTP/1.1 403 Not Today\r\n"), "\(answer)")
    }
  }

  @Test("I-observe: an app without PKCE and with its own secret signs in and refreshes as without the gateway")
  func legacyApp() async throws {
    let policy = try Self.observing { policy in
      policy.edit("p1") { client in
        client.upstream = UpstreamClient(
          clientID: ClientID("p1"), clientSecret: Secret("p1secret"), authentication: .basic, redirectURI: .requested)
        client.consent = .gateway
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let delivery = try await gateway.walk("p1") { form in
        form.remove("code_challenge")
        form.remove("code_challenge_method")
      }
      let code = try #require(delivery.parameters["code"])
      let answer = try await gateway.redeem(code, "p1") { form in
        form.remove("code_verifier")
        form.append("client_secret", "p1secret")
      }
      let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
      let refreshToken = try #require(tokens.refreshToken).reveal()
      let refresh: Form = [
        "grant_type": "refresh_token", "client_id": "p1", "client_secret": "p1secret", "refresh_token": refreshToken,
      ]
      for _ in 0..<3 { #expect(try await gateway.post("/token", refresh).status == 200) }
      let line = try #require(gateway.logLines.first { $0.contains("\"endpoint\":\"authorization\"") })
      #expect(line.contains("would-reject:pkce-required"))
      #expect(line.contains("\"mode\":\"observe\""))
      #expect(line.contains("\"decision\":\"would_reject\""))
      #expect(gateway.metricsText.contains("rule=\"pkce-required\",decision=\"would_reject\""))
    }
  }

  @Test("I-observe: every rule is evaluated, and each refusal is a finding")
  func findings() async throws {
    try await GatewayFixture.run(try Self.observing()) { gateway in
      let target = gateway.authorizationTarget("p1", "com.evil:/cb") { form in
        form.set("response_type", "token")
        form.set("scope", "a\"b")
        form.remove("code_challenge")
      }
      _ = try await gateway.get(target)
      let line = try #require(gateway.logLines.last)
      for rule in ["redirect-uri-mismatch", "response-type-for-native", "pkce-required", "scope-malformed"] {
        #expect(line.contains("would-reject:\(rule)"), "\(line)")
      }
    }
  }

  /// Sends a GET whose target has these bytes, and returns the response as text.
  private static func get(_ gateway: GatewayFixture, _ target: [UInt8]) async throws -> String {
    let fields = "Host: gw.example\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
    let request = Array("GET ".utf8) + target + Array(" HTTP/1.1\r\n\(fields)".utf8)
    return String(decoding: try await ClientLoop.sendRaw(request, toPort: gateway.port), as: UTF8.self)
  }

  @Test(
    "I-observe: an address with bytes that must be percent-encoded passes unchanged with a finding, and is refused in enforce mode",
    arguments: [Array("/a\"b".utf8), Array("/?q=<b>".utf8), Array("/authorize?state=\"x\"".utf8), [0x2f, 0xe9, 0x80]])
  func unencoded(target: [UInt8]) async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    try await GatewayFixture.run(before: .bytes(answer), try Self.observing()) { gateway, upstream in
      let response = try await Self.get(gateway, target)
      #expect(response.hasSuffix("ok"))
      #expect(gateway.logLines.last?.contains("would-reject:target-unencoded") == true)
      #expect(upstream.requests.first?.hasPrefix("GET \(String(decoding: target, as: UTF8.self)) HTTP/1.1\r\n") == true)
      // The gateway's own pages are never passed.
      let own = try await Self.get(gateway, Array("/.proofgate/callback?code=<".utf8))
      #expect(own.hasPrefix("HTTP/1.1 400 "))
      #expect(upstream.requests.count == 1)
    }
    try await GatewayFixture.run { gateway in
      let response = try await Self.get(gateway, target)
      #expect(response.hasPrefix("HTTP/1.1 400 "))
      #expect(response.contains("target-unencoded"))
      #expect(!response.contains("sign-in link"))
      #expect(gateway.logLines.last?.contains(#""rule":"target-unencoded""#) == true)
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("I-observe: the line of an unknown client has the mode `observe`")
  func unknownMode() async throws {
    try await GatewayFixture.run(try Self.observing()) { gateway in
      _ = try await gateway.get(gateway.authorizationTarget("stranger", "https://stranger.example/cb"))
      let line = try #require(gateway.logLines.last)
      #expect(line.contains("\"mode\":\"observe\""))
      #expect(line.contains("would-reject:client-unknown"))
    }
  }

  // MARK: Sealed values are enforced in every mode

  @Test("I-observe: a sealed code is redeemed under every rule after its client became observed")
  func sealedCode() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      await gateway.reload { policy in policy.editAll { $0.mode = .observe } }
      let wrong = gateway.tokenForm(code, "p1") { $0.set("code_verifier", String(repeating: "a", count: 43)) }
      try await gateway.expectRefused(post: "/token", wrong).expectTokenError(400, "invalid_grant")
      try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "w3")).expectTokenError(
        401, "invalid_client")
      #expect(try await gateway.redeem(code, "p1").status == 200)
      let redeemed = gateway.upstream.recorder.requests(to: "/token").count
      try await gateway.post("/token", gateway.tokenForm(code, "p1")).expectTokenError(400, "invalid_grant")
      #expect(gateway.upstream.recorder.requests(to: "/token").count == redeemed)
    }
  }

  @Test("I-observe: a refresh after the client became observed returns the upstream's own token, which then works")
  func unwinding() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("p1") { client in
        client.upstream = UpstreamClient(
          clientID: ClientID("p1"), clientSecret: Secret("p1secret"), authentication: .basic, redirectURI: .requested)
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let code = try await gateway.code("p1")
      let first = try #require(NativeApp.tokens(in: try await gateway.redeem(code, "p1")))
      let sealed = try #require(first.refreshToken).reveal()
      await gateway.reload { policy in policy.editAll { $0.mode = .observe } }
      func refresh(_ token: String) async throws -> Response {
        try await gateway.post(
          "/token",
          [
            "grant_type": "refresh_token", "client_id": "p1", "client_secret": "p1secret", "refresh_token": token,
          ])
      }
      let second = try #require(NativeApp.tokens(in: try await refresh(sealed)))
      let raw = try #require(second.refreshToken).reveal()
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").last)
      #expect(!String(decoding: sent.body, as: UTF8.self).contains(sealed))
      #expect(try await refresh(raw).status == 200)
      let passed = try #require(gateway.upstream.recorder.requests(to: "/token").last)
      #expect(String(decoding: passed.body, as: UTF8.self).contains("refresh_token=\(raw)"))
      // A second use of the sealed token is a reuse in every mode.
      try await refresh(sealed).expectTokenError(400, "invalid_grant")
    }
  }

  @Test("I-observe: an observed client's token stays sealed if only the gateway has credentials for the upstream")
  func staysSealed() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      let first = try #require(NativeApp.tokens(in: try await gateway.redeem(code, "p1")))
      await gateway.reload { policy in policy.editAll { $0.mode = .observe } }
      var token = try #require(first.refreshToken).reveal()
      for _ in 0..<2 {
        let answer = try await gateway.post(
          "/token", ["grant_type": "refresh_token", "client_id": "p1", "refresh_token": token])
        let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
        token = try #require(tokens.refreshToken).reveal()
      }
    }
  }

  @Test("I-observe: a running transaction continues under every rule after its client became observed")
  func runningTransaction() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      await gateway.reload { policy in policy.editAll { $0.mode = .observe } }
      try await gateway.expectRefused(
        get: begun.target { $0.set("redirect_uri", "com.evil:/cb") }, Headers.cookies([begun.cookie]), status: 400)
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session])
      #expect(response.location?.hasPrefix("com.example.p1:/cb?") == true)
      #expect(gateway.logLines.allSatisfy { !$0.contains("rawcode") })
    }
  }
}
