import ByteText
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Policies that enforce some clients and observe others. Observed clients must not open a way around enforced ones.
@Suite("I-observe with enforced clients")
struct MixedObserveTests {
  /// n1 is enforced as `legacy-native`; `watched` and unknown clients are observed.
  static func mixed(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    let uris = ["com.example.watched:/cb", "http://127.0.0.1/watched", "http://127.0.0.1/cb"]
    let redirectURIs = try uris.map { try RedirectURI(parsing: $0) }
    return try FixturePolicy.with { policy in
      policy.unknownClients = .observe
      let id = ClientID("watched")
      policy.clients[id] = ClientSettings(
        id: id, kind: .public, application: .native, redirectURIs: redirectURIs, mode: .observe, consent: .upstream,
        upstream: UpstreamClient(clientID: id, authentication: .none, redirectURI: .requested))
      adjust(&policy)
    }
  }

  /// Makes the upstream answer an authorization request with a raw code at its redirect URI.
  private static func minting(_ gateway: GatewayFixture) {
    gateway.upstream.script { request in
      let form = Form(decoding: request.query ?? "")
      guard request.path == "/authorize", let redirectURI = form["redirect_uri"] else { return nil }
      let location = redirectURI + "?code=rawcode0123456&state=" + (form["state"] ?? "")
      return Response(status: 302, headers: ["Location": location])
    }
  }

  @Test("I-observe: an observed client passes while others are enforced")
  func observed() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      Self.minting(gateway)
      let response = try await gateway.get(gateway.authorizationTarget("watched") { $0.remove("code_challenge") })
      #expect(response.location == "com.example.watched:/cb?code=rawcode0123456&state=s1")
      #expect(response.ownCookie == nil)
      try await gateway.expectRefused(get: gateway.authorizationTarget("n1") { $0.remove("code_challenge") })
    }
  }

  @Test(
    "I-observe: an id that a server may treat as an enforced client's id is not observed",
    arguments: [
      "N1", "n1 ", " n1", "n 1", "n1\u{a0}", "\u{ff4e}1", "legacy-native", "LEGACY-NATIVE", "legacy-native ",
      "legacy-p1", "Legacy-W1", "w3 ", "n%31", "%6e1", "%256E1", "n%u0031", "n1+", "n1%00", "legacy%2Dnative",
      "n1%C3%A9",
    ])
  func lookAlikes(id: String) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      Self.minting(gateway)
      for target in [
        gateway.authorizationTarget(id, "com.example.app:/cb"),
        gateway.authorizationTarget(id, "https://stranger.example/cb"),
      ] {
        let response = try await gateway.expectRefused(get: target, status: 400)
        #expect(response.location == nil)
      }
      try await gateway.expectRefused(post: "/token", gateway.tokenForm("rawcode0123456", id))
    }
  }

  @Test("I-observe: an enforced client's upstream id is not observed, even if the gateway holds no secret for it")
  func upstreamIDWithoutSecret() async throws {
    let policy = try Self.mixed { policy in
      policy.edit("p1") { client in
        client.upstream = UpstreamClient(
          clientID: ClientID("legacy-cal"), authentication: .none, redirectURI: .requested)
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      Self.minting(gateway)
      try await gateway.expectRefused(get: gateway.authorizationTarget("legacy-cal", "com.example.p1:/cb"), status: 400)
      try await gateway.expectRefused(post: "/token", gateway.tokenForm("rawcode0123456", "legacy-cal"), status: 400)
    }
  }

  @Test("I-observe: the upstream id of a resource is not observed, and its complete redirect URI is protected")
  func upstreamIDOfResource() async throws {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: "https://mail.example.com/")))
    resource.upstream.client = UpstreamClient(
      clientID: ClientID("mail-app"), authentication: .none, redirectURI: .fixed("com.example.mail:/cb"))
    let policy = try Self.mixed { [resource] in $0.resources = [resource] }
    try await GatewayFixture.run(policy) { gateway in
      Self.minting(gateway)
      for (id, uri) in [("mail-app", "com.example.mail:/cb"), ("MAIL-APP", "https://x.example/cb")] {
        try await gateway.expectRefused(get: gateway.authorizationTarget(id, uri), status: 400)
      }
      let form = gateway.tokenForm("rawcode0123456", "mail-app", "com.example.mail:/cb")
      let token = try await gateway.post("/token", form)
      #expect(token.status == 400, "\(token.text)")
      #expect(gateway.upstream.recorder.requests(to: "/token").isEmpty)
      let stranger = try await gateway.get(gateway.authorizationTarget("stranger", "https://x.example/cb"))
      #expect(stranger.location?.hasPrefix("https://x.example/cb?code=") == true)
    }
  }

  @Test(
    "I-observe: a request with a redirect URI of an enforced client, or with the callback, is refused",
    arguments: [
      "com.example.app:/cb", "com.example.app:/other", "COM.EXAMPLE.APP:/cb", "https://app.example.com/cb",
      "https://APP.example.com:443/c%62", "https://gw.example/.proofgate/callback", "http://127.0.0.1:50000/cb",
      "http://127.0.0.1/cb", "com.example.app%3A/cb",
    ])
  func redirectURI(uri: String) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      Self.minting(gateway)
      let hidden = gateway.authorizationTarget("stranger", "https://x.example/") { $0.append("next", uri) }
      for target in [gateway.authorizationTarget("stranger", uri), hidden] {
        let response = try await gateway.expectRefused(get: target, status: 400)
        #expect(response.text.contains("redirect-uri-enforced"))
      }
      try await gateway.expectRefused(post: "/token", gateway.tokenForm("rawcode0123456", "stranger", uri), status: 400)
    }
  }

  @Test(
    "I-observe: a response to a redirect URI of an enforced client, or to the callback, gives 502",
    arguments: [
      "com.example.app:/cb?code=c", "https://app.example.com/cb?code=c", "/.proofgate/callback?code=c",
      "http://127.0.0.1:5000/x?code=c", "https://app.example.com/cb#access_token=t",
    ])
  func answer(location: String) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      for field in ["Location", "Content-Location", "Refresh"] {
        let value = field == "Refresh" ? "0; url=\(location)" : location
        gateway.upstream.script { _ in Response(status: 302, headers: Headers([.init(name: field, value: value)])) }
        let response = try await gateway.get(gateway.authorizationTarget("stranger", "https://x.example/cb"))
        #expect(response.status == 502)
        #expect(response.location == nil)
        #expect(response.text.contains("answer-to-enforced"))
        #expect(gateway.logLines.last?.contains("\"rule\":\"answer-to-enforced\"") == true)
      }
    }
  }

  @Test("I-observe: a listed observed client keeps a redirect URI that it shares with an enforced client")
  func sharedRedirectURI() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      Self.minting(gateway)
      for uri in ["http://127.0.0.1:50000/cb", "http://127.0.0.1:50000/watched"] {
        let response = try await gateway.get(gateway.authorizationTarget("watched", uri))
        #expect(response.location == uri + "?code=rawcode0123456&state=s1")
      }
      try await gateway.expectRefused(get: gateway.authorizationTarget("watched", "http://[::1]:50000/cb"), status: 400)
    }
  }

  @Test("I-observe: a client that is also an enforced client's upstream client keeps no shared redirect URI")
  func sharedUpstream() async throws {
    let policy = try Self.mixed { policy in
      policy.edit("n4") { $0.upstream.clientID = ClientID("watched") }
    }
    try await GatewayFixture.run(policy) { gateway in
      Self.minting(gateway)
      try await gateway.expectRefused(
        get: gateway.authorizationTarget("watched", "http://127.0.0.1:50000/cb"), status: 400)
      let own = try await gateway.get(gateway.authorizationTarget("watched"))
      #expect(own.location?.hasPrefix("com.example.watched:/cb?code=") == true)
    }
  }

  @Test(
    "I-observe: while a client is enforced, a request without one unambiguous client is refused",
    arguments: [
      "client_id=watched&client_id=watched", "client_id=watched&client_id=n1", "client_id=watched&Client_Id=n1", "",
      "client_id=watched&%ff=1", "client_id[]=watched",
    ])
  func untold(parameters: String) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      let query = "response_type=code&redirect_uri=com.example.watched:/cb&" + parameters
      try await gateway.expectRefused(get: "/authorize?" + query, status: 400)
      let form = "grant_type=password&username=u&password=p&" + parameters
      let request = Request(
        method: "POST", target: "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
        body: Array(form.utf8))
      try await gateway.expectRefused(request)
    }
  }

  @Test(
    "I-observe: while a client is enforced, a token request must be one plain form of one client",
    arguments: [
      "application/json", "multipart/form-data; boundary=x", "gzip",
      "application/x-www-form-urlencoded; charset=utf-16", "basic", "query",
    ])
  func unread(kind: String) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      var request = Request(
        method: "POST", target: "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
        body: Array("grant_type=password&client_id=watched&username=u&password=p".utf8))
      switch kind {
      case "gzip": request.headers.append("Content-Encoding", "gzip")
      case "basic": request.headers.append("Authorization", "Basic bjE6eA==")
      case "query": request.target = "/token?client_id=n1"
      default: request.headers.set("Content-Type", kind)
      }
      try await gateway.expectRefused(request)
    }
  }

  @Test("I-observe: an assertion of another client, or without claims, is refused", arguments: ["n1", nil])
  func assertion(subject: String?) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      func send(_ payload: String) async throws -> Response {
        try await gateway.post(
          "/token",
          [
            "grant_type": "client_credentials", "client_id": "watched",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": "e30.\(Base64URL.encode(Array(payload.utf8))).c2ln",
          ])
      }
      let before = gateway.upstream.recorder.count
      let payload = subject.map { "{\"iss\":\"watched\",\"sub\":\"\($0)\"}" } ?? "{}"
      #expect(try await send(payload).status >= 400)
      #expect(gateway.upstream.recorder.count == before)
      _ = try await send("{\"iss\": \"watched\", \"sub\" : \"watched\"}")
      #expect(gateway.upstream.recorder.count == before + 1)
    }
  }

  @Test("I-observe: a request with a sealed state is a re-entry, whichever client it names")
  func sealedState() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      let begun = try await gateway.begin()
      let target = gateway.authorizationTarget("watched") { $0.set("state", begun.state) }
      try await gateway.expectRefused(get: target, status: 400)
      try await gateway.expectRefused(get: target, Headers.cookies([begun.cookie]), status: 400)
    }
  }

  @Test("I-observe: a login form of an observed app passes without a transaction, and its response is guarded")
  func loginForm() async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/authorize" else { return nil }
        let isGood = String(decoding: request.body, as: UTF8.self).contains("good")
        let uri = isGood ? "https://stranger.example/cb" : "com.example.app:/cb"
        return Response(status: 302, headers: ["Location": uri + "?code=rawcode0123456"])
      }
      #expect(try await gateway.post("/authorize", ["username": "good"]).location != nil)
      #expect(gateway.logLines.last?.contains("would-reject:form-without-transaction") == true)
      #expect(try await gateway.post("/authorize", ["username": "other"]).status == 502)
      let json = Request(
        method: "POST", target: "/authorize", headers: ["Content-Type": "application/json"], body: Array("{}".utf8))
      try await gateway.expectRefused(json, status: 400)
    }
    try await GatewayFixture.run { gateway in
      try await gateway.expectRefused(post: "/authorize", ["username": "good"], status: 400)
    }
  }

  @Test(
    "I-observe: other spellings of an endpoint stay refused while a client is enforced",
    arguments: ["/%61uthorize", "/Token", "/authorize/"])
  func paths(path: String) async throws {
    try await GatewayFixture.run(try Self.mixed()) { gateway in
      try await gateway.expectRefused(get: path, status: 400)
    }
  }
}
