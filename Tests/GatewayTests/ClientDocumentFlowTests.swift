import Demo
import Gateway
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Proxy
import Synchronization
import TLSTestSupport
import Testing
import Time

/// Clients whose `client_id` is the URL of a metadata document, from the authorization request to the refresh.
struct ClientDocumentFlowTests {
  /// A server of documents, and the gateway that permits them.
  struct Bench {
    let gateway: GatewayFixture
    let documents: FixtureUpstream
    let id: String

    /// The number of documents that were fetched.
    var fetches: Int { documents.recorder.count }
  }

  static let redirectURI = "http://localhost:53682/callback"

  static func document(_ id: String, _ members: String = "") -> String {
    """
    {"client_id":"\(id)","client_name":"Example Tool","grant_types":["authorization_code","refresh_token"],\
    "redirect_uris":["http://localhost/callback","http://127.0.0.1/callback","https://elsewhere.example/cb"]\
    \(members)}
    """
  }

  static func response(_ text: String, status: Int = 200) -> Response {
    Response(
      status: status, headers: ["Content-Type": "application/json", "Cache-Control": "max-age=3600"],
      body: Array(text.utf8))
  }

  static func run(
    _ answer: @escaping @Sendable (_ id: String) -> Response = { response(document($0)) },
    adjusting adjust: (inout ClientDocumentSettings) -> Void = { _ in },
    policy: @escaping (inout FixturePolicy) -> Void = { _ in }, _ body: (Bench) async throws -> Void
  ) async throws {
    let documents = try await FixtureUpstream(tls: try TestCertificates.server())
    let id = "https://localhost:\(documents.port)/oauth/client.json"
    documents.script { _ in answer(id) }
    var settings = ClientDocumentSettings()
    settings.urls = ["https://localhost:\(documents.port)/oauth/"]
    settings.scopes = ["read", "openid"]
    settings.redirects.loopback = true
    settings.upstream = UpstreamClient(
      clientID: ClientID("legacy-native"), clientSecret: Secret(FixturePolicy.nativeSecret), authentication: .basic,
      redirectURI: .callback)
    settings.authorities = try TestCertificates.chain("server-ca")
    settings.permitsLoopback = true
    adjust(&settings)
    let result: Result<Void, any Error>
    do {
      let fixture = try FixturePolicy.onLoopback { fixture in
        fixture.clientDocuments = settings
        policy(&fixture)
      }
      try await GatewayFixture.run(fixture) { gateway in
        try await body(Bench(gateway: gateway, documents: documents, id: id))
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await documents.stop()
    try result.get()
  }

  @Test("The URL of a document as client_id works from consent to refresh, with one fetch")
  func wholeFlow() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let code = try await gateway.code(bench.id, Self.redirectURI) { $0.append("scope", "read") }
      let tokens = try await gateway.redeem(code, bench.id, Self.redirectURI)
      #expect(tokens.status == 200, "\(tokens.text)")
      let refreshToken = try #require(NativeApp.tokens(in: tokens)?.refreshToken?.reveal())
      let refreshed = try await gateway.post(
        "/token", ["grant_type": "refresh_token", "client_id": bench.id, "refresh_token": refreshToken])
      #expect(refreshed.status == 200, "\(refreshed.text)")
      #expect(bench.fetches == 1)
      // The code is bound to its client and is used once, as that of every client.
      let replay = try await gateway.redeem(code, bench.id, Self.redirectURI)
      replay.expectTokenError(400, "invalid_grant")
    }
  }

  @Test(
    "The consent page of a program on this device names the host of its redirect URI and of its document, as no proof",
    arguments: [(redirectURI, "localhost"), ("http://127.0.0.1:4711/callback", "127.0.0.1")])
  func consentPage(redirectURI: String, host: String) async throws {
    try await Self.run { bench in
      let page = try await bench.gateway.get(bench.gateway.authorizationTarget(bench.id, redirectURI))
      #expect(page.status == 200)
      #expect(page.text.contains("a program on this device that calls itself “<bdi>Example Tool</bdi>”"))
      #expect(page.text.contains("<title>Allow a program on this device?</title>"))
      #expect(page.text.contains("a program on this computer <code>\(host)</code>"))
      let document = "<code>localhost:\(bench.documents.port)</code>"
      #expect(page.text.contains("<dd>\(document), which proves nothing about this program</dd>"), "\(page.text)")
      #expect(page.text.contains("unverified"))
    }
  }

  @Test(
    "A request that the other rules refuse causes no fetch",
    arguments: [
      ("code_challenge", ""), ("response_type", "token"), ("scope", "admin"),
      ("redirect_uri", "https://elsewhere.example/cb"), ("redirect_uri", "com.example.app:/cb"),
      ("request_uri", "urn:x"),
    ])
  func noFetch(_ name: String, _ value: String) async throws {
    try await Self.run { bench in
      try await bench.gateway.expectRefused(
        get: bench.gateway.authorizationTarget(bench.id, Self.redirectURI) { form in
          form.remove(name)
          if !value.isEmpty { form.append(name, value) }
        }, status: 400)
      #expect(bench.fetches == 0)
    }
  }

  @Test(
    "A request that opens no page causes no fetch",
    arguments: [("Sec-Fetch-Dest", "image"), ("Sec-Fetch-Dest", "iframe"), ("Sec-Purpose", "prefetch;prerender")])
  func noPage(_ name: String, _ value: String) async throws {
    try await Self.run { bench in
      let target = bench.gateway.authorizationTarget(bench.id, Self.redirectURI)
      try await bench.gateway.expectRefused(get: target, Headers([.init(name: name, value: value)]), status: 503)
      #expect(bench.fetches == 0)
      #expect(try await bench.gateway.get(target, ["Sec-Fetch-Dest": "document"]).status == 200)
      #expect(bench.fetches == 1)
    }
  }

  @Test("A URL that the policy does not list or denies is an unknown client, and nothing is fetched")
  func unlisted() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let other = bench.id.replacing("/oauth/", with: "/users/")
      try await gateway.expectRefused(get: gateway.authorizationTarget(other, Self.redirectURI), status: 400)
      await gateway.reload { $0.clientDocuments?.denied.hosts = ["localhost"] }
      try await gateway.expectRefused(get: gateway.authorizationTarget(bench.id, Self.redirectURI), status: 400)
      #expect(bench.fetches == 0)
    }
  }

  @Test("A failed fetch is temporarily unavailable, a bad document is refused, and neither reaches the upstream")
  func failures() async throws {
    for (answer, status) in [
      (Self.response("", status: 500), 503), (Self.response("", status: 404), 503), (Self.response("{}"), 400),
      (Response(status: 302, headers: ["Location": "/oauth/other.json"], body: []), 400),
      (Response(status: 200, headers: ["Content-Type": "text/html"], body: Array("{}".utf8)), 400),
      (Self.response(String(repeating: " ", count: 6_000)), 400),
    ] {
      try await Self.run { _ in
        answer
      } _: { bench in
        try await bench.gateway.expectRefused(
          get: bench.gateway.authorizationTarget(bench.id, Self.redirectURI), status: status)
        #expect(bench.fetches == 1)
      }
    }
  }

  @Test("A failed fetch is in the log with host and reason, in the metrics with its reason, and in a notice")
  func visibleFailures() async throws {
    for (answer, reason) in [
      (Self.response("", status: 500), "response"), (Self.response("", status: 404), "status"),
      (Self.response("{}"), "invalid"),
    ] {
      try await Self.run { _ in
        answer
      } _: { bench in
        let gateway = bench.gateway
        let target = gateway.authorizationTarget(bench.id, Self.redirectURI)
        _ = try await gateway.get(target)
        let line = try #require(gateway.logLines.last)
        #expect(line.contains("document-failed:localhost:\(bench.documents.port):\(reason)"), "\(line)")
        let metric = #"proofgate_client_document_fetches_total{outcome="\#(reason)"} 1"#
        #expect(gateway.metricsText.contains(metric))
        let notice = try #require(try await gateway.notices(1).first)
        #expect(notice.hasPrefix("a client document of `localhost:\(bench.documents.port)` was not fetched: its "))
        #expect(!notice.contains("client.json"))
      }
    }
    try await Self.run { bench in
      _ = try await bench.gateway.get(bench.gateway.authorizationTarget(bench.id, Self.redirectURI))
      #expect(bench.gateway.metricsText.contains(#"proofgate_client_document_fetches_total{outcome="ok"} 1"#))
      #expect(!bench.gateway.logLines.joined().contains("document-"))
    }
  }

  @Test("A redirect URI that the document does not list is refused, and the upstream is not contacted")
  func foreignRedirect() async throws {
    try await Self.run { bench in
      _ = try await bench.gateway.get(bench.gateway.authorizationTarget(bench.id, Self.redirectURI))
      try await bench.gateway.expectRefused(
        get: bench.gateway.authorizationTarget(bench.id, "http://127.0.0.1:9/other"), status: 400)
    }
  }

  @Test("Approval decides on the document that the user has seen, although its server has another version now")
  func sealedSnapshot() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      var browser = gateway.browser(for: Self.redirectURI)
      let start = gateway.front.at(gateway.authorizationTarget(bench.id, Self.redirectURI))
      guard case .page(let page) = try await browser.open(start), let form = page.forms.first else {
        Issue.record("no consent page")
        return
      }
      bench.documents.script { _ in Self.response("{}") }
      let button = form.buttons.first { $0.value == "approve" }
      let next = try await browser.submit(form, on: page, button: button)
      guard case .page(let login) = next else {
        Issue.record("no login page")
        return
      }
      #expect(login.status == 200)
      #expect(bench.fetches == 1)
    }
  }

  @Test("A sign-in without a secret ends without one, although the document of the client has required a key since")
  func changedMethod() async throws {
    let preferred = #","token_endpoint_auth_method":"private_key_jwt""#
    let supported = #","token_endpoint_auth_methods_supported":["none","private_key_jwt"]"#
    try await Self.run { id in
      Self.response(Self.document(id, preferred + supported))
    } _: { bench in
      let (gateway, id) = (bench.gateway, bench.id)
      let code = try await gateway.code(id, Self.redirectURI)
      bench.documents.script { _ in Self.response(Self.document(id, preferred)) }
      let tokens = try await gateway.redeem(code, id, Self.redirectURI)
      let refreshToken = try #require(NativeApp.tokens(in: tokens)?.refreshToken?.reveal(), "\(tokens.text)")
      let refreshed = try await gateway.post(
        "/token", ["grant_type": "refresh_token", "client_id": id, "refresh_token": refreshToken])
      #expect(refreshed.status == 200, "\(refreshed.text)")
      #expect(bench.fetches == 1)
    }
  }

  @Test("Denial of the host ends the refresh tokens of the client, and another client cannot use its code")
  func denial() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let code = try await gateway.code(bench.id, Self.redirectURI)
      let stolen = try await gateway.redeem(code, "n1", Self.redirectURI)
      stolen.expectTokenError(400, "invalid_grant")
      let tokens = try await gateway.redeem(code, bench.id, Self.redirectURI)
      let refreshToken = try #require(NativeApp.tokens(in: tokens)?.refreshToken?.reveal())
      await gateway.reload { $0.clientDocuments?.denied.loopback = true }
      let refused = try await gateway.post(
        "/token", ["grant_type": "refresh_token", "client_id": bench.id, "refresh_token": refreshToken])
      refused.expectTokenError(400, "invalid_client")
    }
  }

  @Test("A code that the gateway did not issue is invalid_grant for a client with a document, without a fetch")
  func unknownCode() async throws {
    try await Self.run { bench in
      let refused = try await bench.gateway.redeem("not-a-code", bench.id, Self.redirectURI)
      refused.expectTokenError(400, "invalid_grant")
      #expect(bench.fetches == 0)
    }
  }

  @Test(
    "A loopback address is not fetched from without the setting for tests, nor is an untrusted certificate accepted")
  func guardedAddresses() async throws {
    try await expectUnavailable { $0.permitsLoopback = false }
    let stranger = try TestCertificates.chain("client-ca")
    try await expectUnavailable { $0.authorities = stranger }
  }

  private func expectUnavailable(_ adjust: (inout ClientDocumentSettings) -> Void) async throws {
    try await Self.run(
      adjusting: adjust,
      { bench in
        try await bench.gateway.expectRefused(
          get: bench.gateway.authorizationTarget(bench.id, Self.redirectURI), status: 503)
        #expect(bench.fetches == 0)
      })
  }
}
