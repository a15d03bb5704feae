import Enforcement
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

@testable import Gateway

/// The findings of observed requests that depend on other requests of the same flow, and their log lines.
@Suite("I-observe: findings")
struct ObserveFindingsTests {
  private static func run(_ body: (GatewayFixture) async throws -> Void) async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      gateway.upstream.script { request in
        let body = String(decoding: request.body, as: UTF8.self)
        let text = request.path == "/token" ? body : String(request.query ?? "")
        let form = Form(decoding: text)
        switch request.path {
        case "/token":
          let successor = "after-" + (form["refresh_token"] ?? "")
          let members = #"{"access_token":"a","token_type":"Bearer","refresh_token":"\#(successor)"}"#
          return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(members.utf8))
        case "/authorize" where form["scope"] == "later": return Response(status: 200)
        case "/authorize", "/login":
          let code = form["code"] ?? "rawcode0123456"
          let redirectURI = form["redirect_uri"] ?? ""
          let separator = redirectURI.contains("?") ? "&" : "?"
          let location = redirectURI + "\(separator)code=\(code)&state=" + (form["state"] ?? "")
          return Response(status: 302, headers: ["Location": location])
        default: return nil
        }
      }
      try await body(gateway)
    }
  }

  /// The findings of the last line.
  private static func findings(_ gateway: GatewayFixture) throws -> String {
    let line = try #require(gateway.logLines.last)
    return String(line.split(separator: "\"findings\":").dropFirst().first?.prefix { $0 != "]" } ?? "")
  }

  @Test(
    "I-observe: a redemption that would be refused has the rules as findings",
    arguments: [
      ("", []), ("verifier", ["pkce-verifier-mismatch"]), ("no verifier", ["pkce-verifier-required"]),
      ("client", ["code-foreign"]), ("redirect", ["code-redirect-uri"]), ("no redirect", ["code-redirect-uri"]),
      ("twice", ["code-used"]), ("late", ["code-expired"]),
    ] as [(String, [String])])
  func redemption(change: String, rules: [String]) async throws {
    try await Self.run { gateway in
      _ = try await gateway.get(gateway.authorizationTarget("p1"))
      if change == "late" { gateway.clock.advance(by: 61) }
      if change == "twice" { _ = try await gateway.redeem("rawcode0123456", "p1") }
      let before = gateway.upstream.recorder.count
      let response = try await gateway.redeem("rawcode0123456", "p1") { form in
        switch change {
        case "verifier": form.set("code_verifier", String(repeating: "a", count: 43))
        case "no verifier": form.remove("code_verifier")
        case "client": form.set("client_id", "n2")
        case "redirect": form.set("redirect_uri", "com.example.p1:/other")
        case "no redirect": form.remove("redirect_uri")
        default: break
        }
      }
      #expect(response.status == 200)
      #expect(gateway.upstream.recorder.count == before + 1)
      let found = try Self.findings(gateway)
      let known = [
        "pkce-verifier-mismatch", "pkce-verifier-required", "code-foreign", "code-redirect-uri", "code-used",
        "code-expired",
      ]
      for rule in known {
        #expect(found.contains("would-reject:\(rule)") == rules.contains(rule), "\(found)")
      }
      let decision = rules.isEmpty ? "forward" : "would_reject"
      #expect(gateway.logLines.last?.contains("\"decision\":\"\(decision)\"") == true)
      #expect(gateway.logLines.last?.contains("\"linked\":true") == true)
    }
  }

  @Test("I-observe: a verifier without a challenge is a finding")
  func surplus() async throws {
    try await Self.run { gateway in
      _ = try await gateway.get(gateway.authorizationTarget("p1") { $0.remove("code_challenge") })
      _ = try await gateway.redeem("rawcode0123456", "p1")
      #expect(try Self.findings(gateway).contains("would-reject:pkce-downgrade"))
    }
  }

  @Test(
    "I-observe: at the revocation endpoint each refusal is a finding, and the request passes",
    arguments: [
      ("token=t&token=u&client_id=n1", ["parameter-repeated"]), ("token=t&client_id=nobody", ["client-not-known"]),
      ("token=t&client_id=w1&client_secret=guess", ["client-authentication-failed"]),
      ("token=t&token=u&client_id=w1&client_secret=guess", ["parameter-repeated", "client-authentication-failed"]),
      ("token=t&client_id=legacy-native", ["client-is-upstream", "client-not-known"]), ("token=t&client_id=n1", []),
    ] as [(String, [String])])
  func revocation(body: String, rules: [String]) async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      let before = gateway.upstream.recorder.count
      _ = try await gateway.post("/revoke", Form(decoding: body))
      #expect(gateway.upstream.recorder.count == before + 1)
      let line = try #require(gateway.logLines.last)
      #expect(line.contains(#""endpoint":"revocation""#))
      let found = try Self.findings(gateway).split(separator: "would-reject:").dropFirst().map { part in
        String(part.prefix { $0 != "\"" })
      }
      #expect(found == rules, "\(line)")
      let decision = rules.isEmpty ? "forward" : "would_reject"
      #expect(line.contains("\"decision\":\"\(decision)\""))
    }
  }

  @Test("I-observe: an introspection request with a held upstream id passes unchanged, with a finding")
  func introspection() async throws {
    try await GatewayFixture.run(try ObserveTests.observing()) { gateway in
      for id in ["legacy-native", "LEGACY-NATIVE", "resource-server"] {
        let before = gateway.upstream.recorder.count
        _ = try await gateway.post("/introspect", ["token": "t", "client_id": id, "client_secret": "guess"])
        #expect(gateway.upstream.recorder.count == before + 1)
        let line = try #require(gateway.logLines.last)
        #expect(line.contains(#""endpoint":"introspection""#) && line.contains(#""mode":"observe""#))
        #expect(line.contains("would-reject:client-is-upstream") == (id != "resource-server"), "\(line)")
      }
    }
  }

  @Test(
    "I-observe: introspection by an unlisted resource server passes unchanged, even if unknown clients are rejected")
  func unlistedResourceServer() async throws {
    let policy = try ObserveTests.observing { $0.unknownClients = .reject }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { _ in
        Response(status: 200, headers: ["X-Own": "1", "Cache-Control": "max-age=5"], body: Array("{}".utf8))
      }
      let answer = try await gateway.post("/introspect", ["token": "t", "client_id": "resource-server"])
      #expect(answer.headers["Cache-Control"] == "max-age=5")
    }
  }

  @Test("I-observe: a code from an unknown request is not observable and is counted separately")
  func unlinked() async throws {
    try await Self.run { gateway in
      _ = try await gateway.redeem("rawcode0123456", "p1") { $0.remove("code_verifier") }
      let line = try #require(gateway.logLines.last)
      #expect(line.contains("\"decision\":\"not_observable\""))
      #expect(line.contains("\"linked\":false"))
      #expect(!line.contains("would-reject"))
      #expect(gateway.metricsText.contains("decision=\"not_observable\"} 1"))
    }
  }

  @Test("I-observe: a code that several requests may have caused is not observable")
  func ambiguous() async throws {
    try await Self.run { gateway in
      for challenge in [GatewayFixture.challenge, String(GatewayFixture.challenge.reversed())] {
        _ = try await gateway.get(
          gateway.authorizationTarget("p1") { form in
            form.set("code_challenge", challenge)
            form.set("scope", "later")
          })
      }
      _ = try await gateway.get("/login?redirect_uri=com.example.p1:/cb&state=s1")
      _ = try await gateway.redeem("rawcode0123456", "p1")
      #expect(try Self.findings(gateway).contains("not-observable"))
    }
  }

  @Test("I-observe: a response on another path than the authorization endpoint is linked to its request")
  func otherPath() async throws {
    try await Self.run { gateway in
      _ = try await gateway.get(gateway.authorizationTarget("p1") { $0.set("scope", "later") })
      let answer = try await gateway.get("/login?redirect_uri=com.example.p1:/cb&state=s1")
      #expect(answer.location == "com.example.p1:/cb?code=rawcode0123456&state=s1")
      let lines = gateway.logLines
      let flow = try #require(lines.first?.member("flow"))
      #expect(lines.last?.member("flow") == flow)
      let code = try #require(lines.last?.member("code"))
      _ = try await gateway.redeem("rawcode0123456", "p1") { $0.remove("code_verifier") }
      #expect(gateway.logLines.last?.member("code") == code)
      #expect(try Self.findings(gateway).contains("would-reject:pkce-verifier-required"))
    }
  }

  @Test("I-observe: a refresh token that was already used, or that belongs to another client, is a finding")
  func refreshReuse() async throws {
    try await Self.run { gateway in
      func refresh(_ token: String, _ client: String = "p1") async throws -> String {
        let form: Form = ["grant_type": "refresh_token", "client_id": client, "refresh_token": token]
        let response = try await gateway.post("/token", form)
        #expect(response.status == 200)
        #expect(response.text.contains("after-\(token)"))
        return try Self.findings(gateway)
      }
      let found = [
        try await refresh("r0"), try await refresh("after-r0"), try await refresh("r0"),
        try await refresh("after-after-r0", "n2"),
      ]
      #expect(!found[0].contains("would-reject"))
      #expect(!found[1].contains("would-reject"))
      #expect(found[2].contains("would-reject:refresh-token-reused"))
      #expect(found[3].contains("would-reject:refresh-token-foreign"))
    }
  }

  @Test("I-observe: a line has the format version and the values for a starter policy, and no code, state or verifier")
  func line() async throws {
    try await Self.run { gateway in
      _ = try await gateway.get(
        gateway.authorizationTarget("stranger", "http://127.0.0.1:50000/cb?x=1") { form in
          form.set("state", "state-of-the-app")
          form.append("scope", "mail offline")
        })
      let begun = try #require(gateway.logLines.last)
      for member in [
        #""v":1"#, #""client":"stranger""#, #""redirect_uri":"http://127.0.0.1/cb""#, #""response_type":"code""#,
        #""pkce":"S256""#, #""scope":"mail offline""#, #""mode":"observe""#, #""redirect":"loopback""#,
      ] {
        #expect(begun.contains(member), "\(begun)")
      }
      let form = gateway.tokenForm("rawcode0123456", "stranger", "http://127.0.0.1:50000/cb?x=1") {
        $0.remove("client_id")
      }
      _ = try await gateway.post("/token", form, ["Authorization": "Basic c3RyYW5nZXI6c2VjcmV0"])
      let redeemed = try #require(gateway.logLines.last)
      for member in [
        #""grant":"authorization_code""#, #""client_authentication":"basic""#, #""pkce":"verifier""#, #""linked":true"#,
      ] {
        #expect(redeemed.contains(member), "\(redeemed)")
      }
      for line in gateway.logLines {
        for secret in ["rawcode", "state-of-the-app", GatewayFixture.verifier, "c3RyYW5n", "x=1"] {
          #expect(!line.contains(secret), "\(line)")
        }
      }
    }
  }

  @Test("I-observe: the tables are bounded, and a new entry evicts the oldest")
  func bounded() {
    var table = BoundedTable<Int>(capacity: 3)
    for number in 0..<10 { table[ShortDigest("\(number)")] = number }
    table[ShortDigest("9")] = 90
    #expect(table.count == 3)
    #expect((0..<10).map { table[ShortDigest("\($0)")] } == [nil, nil, nil, nil, nil, nil, nil, 7, 8, 90])
  }

  @Test("I-observe: the digest of a list depends on the boundaries between its parts")
  func digests() {
    #expect(ShortDigest("a", "b") != ShortDigest("ab"))
    #expect(ShortDigest("a", "b") != ShortDigest("a:b"))
    #expect(ShortDigest("a", "b") == ShortDigest("a", "b"))
    #expect(ShortDigest("").description.utf8.count == 32)
  }
}

extension String {
  /// The text of a member of a log line.
  func member(_ name: String) -> String? {
    split(separator: "\"\(name)\":\"").dropFirst().first.map { String($0.prefix { $0 != "\"" }) }
  }
}
