import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("Scopes that the upstream does not know, in complete flows")
struct ScopeFlowTests {
  /// A server that refuses every scope that it does not know, as many legacy servers do.
  private static func strict(_ known: Set<String>) -> FixtureUpstream.Script {
    { request in
      let form = Form(decoding: request.query ?? "")
      let body = Form(decoding: String(decoding: request.body, as: UTF8.self))
      let asked = form["scope"] ?? body["scope"] ?? ""
      guard !Set(asked.split(separator: " ").map(String.init)).isSubset(of: known) else { return nil }
      guard request.path == "/authorize" else {
        return Response(
          status: 400, headers: ["Content-Type": "application/json"], body: Array(#"{"error":"invalid_scope"}"#.utf8))
      }
      let answer: Form = ["error": "invalid_scope", "state": form["state"] ?? ""]
      return Response(status: 302, headers: ["Location": answer.added(to: form["redirect_uri"] ?? "/")])
    }
  }

  @Test("An app whose library adds `openid` signs in and refreshes, and the log reports the dropped scopes")
  func drops() async throws {
    let policy = try FixturePolicy.with { $0.upstream.scopes = ScopeRules(drop: ["openid", "offline_access"]) }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script(Self.strict(["read", "write"]))
      let asked = "openid read offline_access"
      var browser = gateway.browser(for: "com.example.app:/cb")
      let page = try await browser.open(gateway.front.at(gateway.authorizationTarget { $0.append("scope", asked) }))
      guard case .page(let consent) = page else {
        Issue.record("the gateway did not ask")
        return
      }
      #expect(consent.scopes == ["read"])
      let code = try await gateway.code { $0.append("scope", asked) }
      let answer = try await gateway.redeem(code)
      let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
      // The upstream itself reports the granted scope.
      #expect(tokens.scope == "read")
      let token = try #require(tokens.refreshToken).reveal()
      let refreshed = try await gateway.post(
        "/token", ["grant_type": "refresh_token", "client_id": "n1", "refresh_token": token, "scope": asked])
      #expect(refreshed.status == 200, "\(refreshed.text)")
      let lines = gateway.logLines.filter { $0.contains("\"scope-dropped\"") }
      #expect(lines.contains { $0.contains("\"endpoint\":\"authorization\"") })
      #expect(lines.contains { $0.contains("\"endpoint\":\"token\"") })
    }
  }

  @Test(
    "The consent page shows the scope that the server gets, with its default and the tokens of the resource",
    arguments: ["read offline_access", "offline_access", nil], [nil, "https://mail.example.com/"])
  func page(requested: String?, resource: String?) async throws {
    var mail = ResourceSettings(uri: try #require(ResourceURI(parsing: "https://mail.example.com/")))
    mail.upstream.scope = Scope(parsing: "mail.write")
    let listed = mail
    let registration = try RegisteredClientTests.policy { settings in
      settings.rules.scopes = ["read", "offline_access"]
      settings.rules.resources = ["https://mail.example.com/"]
    }.registration
    let policy = try FixturePolicy.with { fixture in
      fixture.upstream.scopes = ScopeRules(drop: ["offline_access"], default: ["basic"])
      fixture.resources = [listed]
      fixture.registration = registration
    }
    try await GatewayFixture.run(policy) { gateway in
      let registered = try await RegisteredClientTests().id(gateway)
      for (client, uri) in [("n1", "com.example.app:/cb"), (registered, RegisteredClientTests.usedURI)] {
        func addParameters(_ form: inout Form) {
          if let requested { form.append("scope", requested) }
          if let resource { form.append("resource", resource) }
        }
        var browser = gateway.browser(for: uri)
        let target = gateway.authorizationTarget(client, uri, adjusting: addParameters)
        guard case .page(let consent) = try await browser.open(gateway.front.at(target)) else {
          Issue.record("the gateway did not ask")
          return
        }
        _ = try await gateway.walk(client, uri, adjusting: addParameters)
        let sent = try #require(gateway.upstreamScope)
        #expect(consent.scopes == sent.split(separator: " ").map(String.init))
        #expect(sent.contains("mail.write") == (resource != nil))
      }
    }
  }

  @Test("A client's own list replaces the server's list")
  func client() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.scopes = ScopeRules(drop: ["openid"], default: ["basic"])
      $0.edit("p1") { $0.upstream.scopes = ScopeRules(drop: []) }
    }
    try await GatewayFixture.run(policy) { gateway in
      let own = try await gateway.begin { $0.append("scope", "openid") }
      #expect(own.query["scope"] == "openid")
      let unasked = try await gateway.begin()
      #expect(unasked.query["scope"] == "basic")
    }
  }
}

extension DemoBrowser.Page {
  /// The scope tokens in the list on a consent page of the gateway.
  fileprivate var scopes: [String] {
    html.split(separator: "<li>").dropFirst().compactMap { item in
      guard let code = item.firstRange(of: "<code") else { return nil }
      return String(item[code.upperBound...].drop { $0 != ">" }.dropFirst().prefix { $0 != "<" })
    }
  }
}

extension GatewayFixture {
  /// The scope of the last authorization request that the gateway sent upstream.
  fileprivate var upstreamScope: String? {
    upstream.recorder.requests(to: "/authorize").last { $0.query?.contains("state=") == true }
      .flatMap { Form(decoding: $0.query ?? "")["scope"] }
  }
}
