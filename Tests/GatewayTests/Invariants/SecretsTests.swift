import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing
import Time

@Suite("I-secrets")
struct SecretsTests {
  /// The secrets of a test and the pages that must not contain them.
  private struct Gathered {
    var secrets: Set<String> = []
    var pages: [Response] = []

    mutating func add(_ texts: String?...) {
      for text in texts.compactMap(\.self) where text.utf8.count >= 8 { secrets.insert(text) }
    }

    mutating func add(query: some StringProtocol) {
      let form = Form(decoding: query)
      for name in ["code", "state", "code_challenge", "code_verifier", "refresh_token"] { add(form[name]) }
    }

    mutating func add(cookies response: Response) {
      for field in response.headers.all("Set-Cookie") {
        add(field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).last.map(String.init))
      }
    }
  }

  @Test("I-secrets: after complete flows and all kinds of refusals, log and metrics contain no secret")
  func logsAndMetrics() async throws {
    let keys = KeyFile.generate(now: 1_700_000_000)
    let ring = try #require(keys.ring)
    try await GatewayFixture.run(quirks: .with { $0.rotatesRefreshTokens = true }, keyRing: ring) { gateway in
      var gathered = Gathered()
      for client in gateway.policy.clients.values {
        gathered.add(client.secret?.reveal(), client.upstream.clientSecret?.reveal())
      }
      gathered.add("wonderland", GatewayFixture.verifier, GatewayFixture.challenge, "w1secret")
      gathered.add(keys.render().split(separator: " ").first { $0.utf8.count == 43 }.map(String.init))

      // Successful flows, each in its own browser, which records all traffic.
      for client in ["n1", "p1", "w1"] {
        var browser = gateway.browser()
        browser.keepsLog = true
        let delivery = try await gateway.walk(&browser, client) { $0.set("state", "client-state-of-\(client)") }
        for entry in browser.log {
          gathered.add(cookies: entry.response)
          gathered.add(query: entry.request.query ?? "")
          gathered.add(query: entry.response.location?.drop { $0 != "?" }.dropFirst() ?? "")
        }
        let code = try #require(delivery.parameters["code"])
        gathered.add(code, try gateway.sealer.open(IssuedCode.self, from: code).upstreamCode.reveal())
        let response = try await gateway.redeem(code, client) { form in
          if client == "w1" { form.append("client_secret", "w1secret") }
        }
        let tokens = try #require(NativeApp.tokens(in: response))
        let sealed = try #require(tokens.refreshToken).reveal()
        gathered.add(tokens.accessToken.reveal(), sealed)
        gathered.add(try gateway.sealer.open(RefreshGrant.self, from: sealed).upstreamRefreshToken.reveal())
        let refresh: Form = [
          "grant_type": "refresh_token", "refresh_token": sealed, "client_id": client, "client_secret": "w1secret",
        ]
        let second = try await gateway.post("/token", refresh)
        let renewed = try #require(NativeApp.tokens(in: second))
        gathered.add(renewed.accessToken.reveal(), renewed.refreshToken?.reveal())
        _ = try await gateway.get("/api/me", ["Authorization": "Bearer \(tokens.accessToken.reveal())"])
        try await refusals(gateway, code: code, sealed: sealed, &gathered)
      }

      let lines = gateway.logLines
      #expect(lines.count > 40)
      #expect(gathered.secrets.count > 30)
      let said = lines.joined(separator: "\n") + gateway.metricsText
      for secret in gathered.secrets { #expect(!said.contains(secret), "\(secret)") }
      for word in ["wonderland", "Bearer", "Basic", "redirect_uri="] {
        #expect(!said.contains(word), "\(word)")
      }
      // A page may repeat values of the request that it answers, but no secret of another request.
      let others = gathered.secrets.filter { !$0.hasPrefix("client-state") && $0 != GatewayFixture.challenge }
      for page in gathered.pages {
        for secret in others { #expect(!page.text.contains(secret), "\(page.status) \(secret)") }
      }
    }
  }

  /// Sends requests that contain secrets and are refused for many reasons.
  private func refusals(
    _ gateway: GatewayFixture, code: String, sealed: String, _ gathered: inout Gathered
  ) async throws {
    let wrong = "wrongVerifierWrongVerifierWrongVerifierWrong"
    gathered.add(wrong, "wrong-secret-of-someone")
    gathered.add("rawcode0123456")
    for form in [
      gateway.tokenForm(code), gateway.tokenForm(code, "n2"),
      gateway.tokenForm(code) { $0.set("code_verifier", wrong) },
      gateway.tokenForm("rawcode0123456"),
      gateway.tokenForm(code, "w1") { $0.append("client_secret", "wrong-secret-of-someone") },
      ["grant_type": "refresh_token", "refresh_token": sealed, "client_id": "n2"],
      ["grant_type": "password", "client_id": "n1", "username": "alice", "password": "wonderland"],
    ] as [Form] {
      gathered.pages.append(try await gateway.post("/token", form))
    }
    gathered.pages.append(
      try await gateway.post("/token", ["grant_type": "client_credentials"], ["Authorization": "Basic dzE6d3Jvbmc="]))
    let begun = try await gateway.begin()
    gathered.add(begun.state, begun.cookie.split(separator: "=").last.map(String.init))
    for target in [
      begun.target, "/.proofgate/callback?code=\(code)&state=\(begun.state)", gateway.authorizationTarget("nobody"),
      gateway.authorizationTarget("n1", "com.evil:/cb"), "/%61uthorize?code=\(code)",
      "/authorize?client_id=n1&code=\(code)&code=\(code)",
      begun.target { $0.set("client_id", "p1") },
    ] {
      gathered.pages.append(try await gateway.get(target, ["Referer": "https://gw.example/authorize?code=\(code)"]))
    }
    gathered.pages.append(try await gateway.post("/.proofgate/consent", ["consent_token": begun.state]))
    try await gateway.withReplica(upstream: .dead) { dead in
      gathered.pages.append(try await dead.get(begun.target, Headers.cookies([begun.cookie])))
      _ = try await dead.redeem(code)
      for secret in [code, begun.state] {
        #expect(!(dead.logLines.joined() + dead.metricsText).contains(secret))
      }
    }
  }

  @Test("I-secrets: the log lines of a flow share a transaction id, which is not accepted as a code")
  func transactionID() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      _ = try await gateway.redeem(code)
      let id = try gateway.sealer.open(IssuedCode.self, from: code).transactionID.description
      let lines = gateway.logLines.filter { $0.contains("\"transaction\":\"\(id)\"") }
      #expect(lines.contains { $0.contains("\"endpoint\":\"authorization\"") })
      #expect(lines.contains { $0.contains("\"endpoint\":\"token\"") })
      try await gateway.expectRefused(post: "/token", gateway.tokenForm(id), status: 400)
    }
  }

  @Test("I-secrets: responses to intercepted requests are never cached")
  func noStore() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      let responses = [
        begun.response, try await gateway.allow(begun, cookies: [begun.cookie, session]),
        try await gateway.get(gateway.authorizationTarget("n1")),
        try await gateway.get(gateway.authorizationTarget("nobody")), try await gateway.redeem("x"),
      ]
      for response in responses {
        #expect(response.headers["Cache-Control"].map { $0.contains("no-store") } == true, "\(response.status)")
      }
    }
  }

  @Test("I-secrets: secret values print as asterisks")
  func printing() throws {
    let secret = Secret("hush-hush")
    #expect("\(secret)" == "***")
    #expect(String(reflecting: secret) == "***")
    var dumped = ""
    dump(secret, to: &dumped)
    dump(try FixturePolicy.with().clients, to: &dumped)
    #expect(!dumped.contains("hush"))
    #expect(!dumped.contains(FixturePolicy.nativeSecret))
    #expect(!dumped.contains("w1secret"))
  }
}
