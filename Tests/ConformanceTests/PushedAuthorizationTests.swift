import Demo
import Enforcement
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Telemetry
import Testing
import Time
import VectorsTestSupport

/// RFC 9126: the gateway's own endpoint for pushed authorization requests.
@Suite("Pushed authorization requests")
struct PushedAuthorizationTests {
  private static let prefix = "urn:ietf:params:oauth:request_uri:"

  /// n1, n2, p1, w1 and w3 may push requests, n4 must.
  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
      for id in ["n1", "n2", "p1", "w1", "w3"] { policy.edit(id) { $0.pushedAuthorization = .optional } }
      policy.edit("n4") { $0.pushedAuthorization = .required }
      adjust(&policy)
    }
  }

  // MARK: Pushing

  @Test("9126-2.2-response: a request is answered with 201, a random request_uri and its lifetime")
  func response() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let first = try await gateway.expectRefused(post: "/par", gateway.par(), status: 201)
      #expect(first.headers["Content-Type"] == "application/json")
      #expect(first.headers["Cache-Control"] == "no-store")
      let uri = try first.requestURI()
      #expect(uri.hasPrefix(Self.prefix))
      #expect(uri.utf8.count >= Self.prefix.utf8.count + 43)
      #expect(first.text.contains("\"expires_in\":90"))
      #expect(try await gateway.push() != uri)
    }
  }

  @Test(
    "9126-2.1-same-checks: errors of the browser's request are reported at the push, as JSON",
    arguments: [
      ("code_challenge", nil, "invalid_request"), ("code_challenge", "short", "invalid_request"),
      ("code_challenge_method", "plain", "invalid_request"), ("response_type", nil, "invalid_request"),
      ("response_type", "token", "unauthorized_client"), ("response_type", "code id_token", "unauthorized_client"),
      ("response_mode", "web_message", "invalid_request"), ("scope", "a\u{e9}", "invalid_scope"),
      ("request", "eyJhbGciOiJub25lIn0.e30.", "request_not_supported"), ("prompt", "none login", "invalid_request"),
      ("client%5Fid", "n2", "invalid_request"), ("Redirect_Uri", "com.example.other:/cb", "invalid_request"),
      ("client_id", "nobody", "invalid_client"), ("client_id", "legacy-native", "invalid_client"),
    ] as [(String, String?, String)])
  func sameChecks(name: String, value: String?, error: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var form = gateway.par()
      if name != "client%5Fid" { form.remove(name) }
      if let value { form.append(name, value) }
      let response = try await gateway.expectRefused(post: "/par", form)
      #expect([400, 401].contains(response.status))
      #expect(NativeApp.error(in: response) == error, "\(response.text)")
      #expect(response.location == nil)
    }
  }

  @Test("The push of an observed client goes to the upstream's endpoint, and so does its request_uri")
  func observed() async throws {
    try await GatewayFixture.run(try Self.policy { $0.editAll { $0.mode = .observe } }) { gateway in
      let form = gateway.par().without("code_challenge")
      _ = try await gateway.post("/par", form)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/par").last)
      #expect(String(decoding: sent.body, as: UTF8.self) == form.encoded)
      let target = gateway.reference(Self.prefix + "of-the-server")
      _ = try await gateway.get(target)
      #expect(gateway.upstream.recorder.requests.last?.target == target)
    }
  }

  @Test("A request_uri of the gateway is accepted after its client became observed")
  func sealedReference() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let uri = try await gateway.push()
      await gateway.reload { policy in policy.editAll { $0.mode = .observe } }
      try await expectStatus(200, of: gateway.get(gateway.reference(uri)))
      #expect(gateway.upstream.recorder.requests.allSatisfy { !$0.target.contains(uri) })
    }
  }

  @Test("9126-2.1-same-checks: a state that the gateway sealed is refused")
  func sealedState() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let begun = try await gateway.begin()
      let before = gateway.upstream.recorder.count
      let response = try await gateway.post("/par", gateway.par { $0.set("state", begun.state) })
      response.expectTokenError(400, "invalid_request")
      #expect(gateway.upstream.recorder.count == before)
    }
  }

  @Test(
    "9126-2.1-same-checks: only a form in the body of a POST is accepted",
    arguments: ["GET", "PUT", "JSON", "query", "repeated"])
  func form(kind: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let form = gateway.par()
      switch kind {
      case "JSON":
        try await gateway.expectRefused(post: "/par", form, ["Content-Type": "application/json"], status: 400)
      case "query": try await gateway.expectRefused(post: "/par?scope=admin", form, status: 400)
      case "repeated":
        var twice = form
        twice.append("redirect_uri", "com.example.app:/cb")
        try await gateway.expectRefused(post: "/par", twice, status: 400)
      default:
        let response = try await gateway.expectRefused(Request(method: kind, target: "/par"), status: 405)
        #expect(response.headers["Allow"] == "POST")
      }
    }
  }

  @Test("9126-2.1-same-checks: a confidential client authenticates as at the token endpoint")
  func authentication() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let form = gateway.par("w1")
      try await gateway.expectRefused(post: "/par", form).expectTokenError(401, "invalid_client")
      var wrong = form
      wrong.append("client_secret", "guess")
      try await gateway.expectRefused(post: "/par", wrong).expectTokenError(401, "invalid_client")
      try await gateway.expectRefused(
        post: "/par", form.without("client_id"), ["Authorization": "Basic dzE6dzFzZWNyZXQ="], status: 201)
      // Only the upstream knows the secret of w3, and pushed requests never go upstream.
      var unknown = gateway.par("w3")
      unknown.append("client_secret", "w3secret")
      try await gateway.expectRefused(post: "/par", unknown).expectTokenError(400, "unauthorized_client")
    }
  }

  @Test("9126-2.1-same-checks: a client that may not push gets unauthorized_client")
  func notAllowed() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      try await gateway.expectRefused(post: "/par", gateway.par("n3")).expectTokenError(400, "unauthorized_client")
      #expect(gateway.logLines.contains { $0.contains("pushed-not-allowed") && $0.contains("pushed_authorization") })
    }
  }

  @Test(
    "9126-2.1-no-request-uri: a pushed request with a request_uri is refused",
    arguments: ["urn:x", "https://evil.example/", " "])
  func noReference(value: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let response = try await gateway.expectRefused(
        post: "/par",
        gateway.par {
          $0.append("request_uri", value)
        }, status: 400)
      response.expectTokenError(400, "invalid_request")
    }
  }

  @Test(
    "9126-2.4-public-redirect: an unregistered redirect URI is refused",
    arguments: [
      "com.example.other:/cb", "https://evil.example/cb", "com.example.app2:/cb", "http://127.0.0.1:80/other",
    ])
  func publicRedirect(uri: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let response = try await gateway.expectRefused(post: "/par", gateway.par { $0.set("redirect_uri", uri) })
      response.expectTokenError(400, "invalid_request")
      #expect(response.location == nil)
    }
  }

  // MARK: Use of the request_uri

  @Test("9126-4-single-use: only the parameters of the pushed request count, and a request_uri works once")
  func singleUse() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let uri = try await gateway.push("p1") { $0.append("login_hint", "alice") }
      let target = gateway.reference(uri, "p1") + "&redirect_uri=https%3A%2F%2Fevil.example&scope=admin&state=evil"
      var browser = gateway.browser(for: "com.example.p1:/cb")
      let stop = try await DemoUser().signIn(in: &browser, from: gateway.front.at(target))
      guard case .app(let delivery) = stop else {
        Issue.record("stranded")
        return
      }
      #expect(delivery.address.hasPrefix("com.example.p1:/cb?"))
      #expect(delivery.parameters["state"] == "s1")
      let code = try #require(delivery.parameters["code"])
      try await expectStatus(200, of: gateway.redeem(code, "p1"))

      let sent = try #require(gateway.upstreamAuthorizationForms.first)
      #expect(sent["request_uri"] == nil)
      #expect(sent["scope"] == nil)
      #expect(sent["login_hint"] == "alice")
      #expect(sent["redirect_uri"] == gateway.policy.callback)
      #expect(gateway.upstream.recorder.requests(to: "/par").isEmpty)
      try await gateway.expectErrorPage(target)
    }
  }

  @Test("9126-4-single-use: a request_uri works with the gateway's consent page, and only once")
  func consent() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let uri = try await gateway.push("n4")
      var browser = gateway.browser(for: "http://127.0.0.1/cb")
      let stop = try await DemoUser().signIn(in: &browser, from: gateway.front.at(gateway.reference(uri, "n4")))
      guard case .app(let delivery) = stop else {
        Issue.record("stranded")
        return
      }
      try await expectStatus(200, of: gateway.redeem(try #require(delivery.parameters["code"]), "n4"))
      try await gateway.expectErrorPage(gateway.reference(uri, "n4"))
    }
  }

  @Test(
    "9126-4-single-use: the browser that used a request_uri first may repeat it, and no other one",
    arguments: ["n1", "n4"])
  func repeated(client: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let target = gateway.reference(try await gateway.push(client), client)
      let other = try await gateway.get(gateway.authorizationTarget("n2")).headers["Set-Cookie"] ?? ""
      gateway.clock.advance(by: 60)
      let first = try await gateway.get(target)
      #expect(first.status == 200)
      let cookie = try #require(first.headers["Set-Cookie"]?.split(separator: ";").first.map(String.init))
      gateway.clock.advance(by: 80)
      for _ in 0..<3 {
        try await gateway.expectErrorPage(target)
        try await gateway.expectErrorPage(target, Headers.cookies([String(other.prefix { $0 != ";" })]))
        let again = try await gateway.get(target, Headers.cookies([cookie]))
        #expect(again.status == first.status)
      }
      gateway.clock.advance(by: 10)
      try await gateway.expectErrorPage(target, Headers.cookies([cookie]))
    }
  }

  @Test("9126-4-single-use: HEAD neither uses a request_uri up nor begins a sign-in")
  func head() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let target = gateway.reference(try await gateway.push())
      let looked = try await gateway.send(Request(method: "HEAD", target: target, headers: Headers()))
      #expect(looked.status == 200 && looked.headers["Set-Cookie"] == nil && looked.location == nil)
      #expect(gateway.upstream.recorder.requests.isEmpty)
      try await expectStatus(200, of: gateway.get(target))
    }
  }

  @Test("9126-4-single-use: an expired request_uri is refused on a page")
  func expired() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let uri = try await gateway.push()
      gateway.clock.advance(by: 90)
      try await gateway.expectErrorPage(gateway.reference(uri))
    }
  }

  @Test(
    "9126-2.2-response: a request_uri works only for its client, and an attempt of another client does not use it up")
  func boundToClient() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let uri = try await gateway.push()
      try await gateway.expectErrorPage(gateway.reference(uri, "n2"))
      try await gateway.expectErrorPage("/authorize?request_uri=\(uri)")
      try await gateway.expectErrorPage(gateway.reference(uri) + "&client_id=n1")
      try await gateway.expectErrorPage(gateway.reference(uri) + "&request_uri=x")
      try await gateway.expectErrorPage(gateway.reference(uri) + "&client%5Fid=n2")
      try await gateway.expectErrorPage(gateway.reference("\(uri)x"))
      try await expectStatus(200, of: gateway.get(gateway.reference(uri)))
    }
  }

  @Test("9126-4-single-use: a browser that is refused does not use the request_uri up")
  func embedded() async throws {
    let agent = Vectors.all.userAgents.vectors.first { $0.expectedEmbedded }?.userAgent ?? ""
    try await GatewayFixture.run(try Self.policy { $0.editAll { $0.embeddedUserAgents = .block } }) { gateway in
      let uri = try await gateway.push()
      try await gateway.expectErrorPage(gateway.reference(uri), status: 403, ["User-Agent": agent])
      try await expectStatus(200, of: gateway.get(gateway.reference(uri)))
    }
  }

  @Test("9126-4-single-use: of two concurrent browsers one continues")
  func concurrent() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let target = gateway.reference(try await gateway.push())
      async let first = gateway.get(target)
      async let second = gateway.get(target)
      #expect(try await [first.status, second.status].sorted() == [200, 400])
    }
  }

  @Test("9126-2-no-bypass: with pushed requests, other request_uri values and request objects are still refused")
  func noBypass() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      try await gateway.expectErrorPage(
        gateway.authorizationTarget { $0.append("request_uri", Self.prefix + "foreign") })
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.append("request_uri", "https://evil.example/ro") },
        error: "request_uri_not_supported")
      let uri = try await gateway.push()
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget {
          $0.append("request_uri", uri)
          $0.append("request", "x")
        }, error: "invalid_request")
      for path in ["/par/", "/PAR", "//par", "/par.json", "/%70ar"] {
        try await gateway.expectRefused(post: path, gateway.par(), status: 400)
      }
    }
  }

  @Test("9126-2-no-bypass: if no client may push, the path is closed")
  func closed() async throws {
    let policy = try FixturePolicy.with { $0.upstream.endpoints.pushedAuthorization = ["/par"] }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectRefused(post: "/par", gateway.par(), status: 404)
    }
  }

  @Test("A client that must push is refused by redirect if it does not, and in observe mode this is a finding")
  func required() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget("n4"), to: "http://127.0.0.1/cb", error: "invalid_request")
    }
    try await GatewayFixture.run(try Self.policy { $0.edit("n4") { $0.mode = .observe } }) { gateway in
      _ = try await gateway.get(gateway.authorizationTarget("n4", "http://127.0.0.1/n4"))
      #expect(gateway.logLines.contains { $0.contains("would-reject:pushed-required") })
    }
  }

  // MARK: Store

  @Test("A store that is full or unavailable gives 503, at the push and at the use of the request_uri")
  func away() async throws {
    let store = BrittleStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let uri = try await gateway.push()
      store.isAway = true
      let refused = try await gateway.expectRefused(post: "/par", gateway.par(), status: 503)
      #expect(NativeApp.error(in: refused) == "temporarily_unavailable")
      #expect(refused.headers["Retry-After"] != nil)
      try await gateway.expectErrorPage(gateway.reference(uri), status: 503)
      store.isAway = false
      try await expectStatus(200, of: gateway.get(gateway.reference(uri)))
    }
  }

  @Test("6819-4.4.1.11-exhaustion: a flood from one address evicts only the oldest requests of that address")
  func flood() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.pushed: 60])
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      func push(_ address: String) async throws -> String {
        try await gateway.post("/par", gateway.par(), ["X-Forwarded-For": address]).requestURI()
      }
      let other = try await push("198.51.100.1")
      let first = try await push("192.0.2.1")
      for _ in 0..<200 { _ = try await push("192.0.2.2") }
      try await gateway.expectErrorPage(gateway.reference(first), status: 400)
      try await expectStatus(200, of: gateway.get(gateway.reference(other)))
    }
  }

  @Test("6819-4.4.1.11-exhaustion: a client without authentication may push 512 bytes, an authenticated client more")
  func unproven() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let hint = String(repeating: "x", count: 400)
      let response = try await gateway.expectRefused(
        post: "/par", gateway.par { $0.append("login_hint", hint) }, status: 413)
      #expect(NativeApp.error(in: response) == "invalid_request")
      let proven = gateway.par("w1") {
        $0.append("login_hint", hint)
        $0.append("client_secret", "w1secret")
      }
      try await expectStatus(201, of: gateway.post("/par", proven))
    }
  }

  @Test("The store contains neither the request_uri nor the request in plain text")
  func atRest() async throws {
    let store = SpyStore()
    try await GatewayFixture.run(try Self.policy(), store: store) { gateway in
      let uri = try await gateway.push { $0.append("login_hint", "alice@example.com") }
      let random = uri.dropFirst(Self.prefix.utf8.count)
      for bytes in store.dump {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains(random) && !text.contains("alice") && !text.contains("com.example.app"))
      }
      #expect(!store.dump.isEmpty)
    }
  }

  @Test("A pushed request that is too long gets 413, and one whose state is too long gets 400")
  func tooLong() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let long = gateway.par { $0.append("claims", String(repeating: "x", count: 20_000)) }
      try await gateway.expectRefused(post: "/par", long, status: 413)
      let state = gateway.par { $0.set("state", String(repeating: "x", count: 3_000)) }
      try await gateway.expectRefused(post: "/par", state, status: 400)
    }
  }
}

extension GatewayFixture {
  /// The body of a pushed authorization request (AZ), with changes.
  fileprivate func par(_ client: String = "n1", adjusting adjust: (inout Form) -> Void = { _ in }) -> Form {
    Form(decoding: authorizationTarget(client, adjusting: adjust).split(separator: "?", maxSplits: 1)[1])
  }

  /// Pushes an authorization request (AZ) and returns its `request_uri`.
  fileprivate func push(
    _ client: String = "n1", adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws -> String {
    try await post("/par", par(client, adjusting: adjust)).requestURI()
  }

  /// The target that the app opens.
  fileprivate func reference(_ uri: String, _ client: String = "n1") -> String {
    (["client_id": client, "request_uri": uri] as Form).added(to: "/authorize")
  }
}

extension Response {
  fileprivate func requestURI() throws -> String {
    try #require(status == 201, "\(text)")
    let rest = try #require(text.split(separator: "\"request_uri\":\"", maxSplits: 1).last)
    return String(rest.prefix { $0 != "\"" })
  }
}
