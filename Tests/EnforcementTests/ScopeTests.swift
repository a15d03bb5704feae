import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

/// `scopes: { drop, default }`, RFC 6749, section 3.3.
@Suite("Scopes that the upstream does not know")
struct ScopeTests {
  private static func policy(
    _ server: ScopeRules? = ScopeRules(drop: ["openid", "offline_access"]), client: ScopeRules? = nil
  ) -> Policy {
    Fixture.policy(scopes: server) { $0.upstream.scopes = client }
  }

  private func sent(_ scope: String?, _ policy: Policy) throws -> String? {
    let permit = try #require(Fixture.authorize(["scope": scope], policy: policy).permit)
    return permit.parameters.first { $0.parameter == .scope }?.value
  }

  @Test(
    "A dropped scope does not go upstream, and the others keep the app's order",
    arguments: [
      ("openid", nil), ("openid offline_access", nil), ("read openid write", "read write"),
      ("write read", "write read"),
      ("openidx read", "openidx read"), (nil, nil),
      // Spare spaces are no part of a scope.
      (" read  write ", "read write"), ("read ", "read"), ("openid  read", "read"), (" openid ", nil),
    ] as [(String?, String?)])
  func drop(asked: String?, expected: String?) throws {
    #expect(try sent(asked, Self.policy()) == expected)
  }

  @Test(
    "The default goes upstream if the app sends no scope or if all its scopes are dropped",
    arguments: [(nil, "basic mail"), ("openid", "basic mail"), ("openid read", "read")] as [(String?, String)])
  func defaultScope(asked: String?, expected: String) throws {
    let policy = Self.policy(ScopeRules(drop: ["openid"], default: ["basic", "mail"]))
    #expect(try sent(asked, policy) == expected)
  }

  @Test("A dropped scope does not go upstream as a default either")
  func droppedDefault() throws {
    let policy = Self.policy(
      ScopeRules(drop: ["offline_access"]), client: ScopeRules(default: ["read", "offline_access"]))
    #expect(try sent(nil, policy) == "read")
    #expect(try sent("offline_access", policy) == "read")
  }

  @Test("The tokens of `add` are in each sign-in, behind the scope, and in no other request")
  func added() throws {
    let policy = Fixture.policy(scopes: ScopeRules(drop: ["x"], adding: ["openid", "read"])) {
      $0.grants.insert(.clientCredentials)
      if $0.id == ClientID("w3") { $0.upstream.clientSecret = Secret("x") }
    }
    #expect(try sent("mail", policy) == "mail openid read")
    #expect(try sent("read mail", policy) == "read mail openid")
    #expect(try sent(nil, policy) == "openid read")
    #expect(try sent("x", policy) == "openid read")
    let own = Fixture.policy(scopes: ScopeRules(adding: ["openid"])) { $0.upstream.scopes = ScopeRules(adding: []) }
    #expect(try sent("mail", own) == "mail")
    let permit = try #require(try refresh("mail", granted: "mail", policy).permit)
    #expect(permit.upstream.body.reveal().hasSuffix("scope=mail") && permit.scopeForResponse == nil)
    let request = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], authorization: [],
      body: Array("grant_type=client_credentials&client_id=w3&client_secret=x&scope=mail".utf8))
    guard case .sendUpstream(let form, _, let target) = Enforcement.decideToken(request, policy: policy).permit else {
      throw NotARefresh()
    }
    #expect(!form.body.reveal().contains("openid") && target.scopeForResponse == nil)
    // A form of the server may have the scope that it got.
    #expect(Fixture.authorize(["scope": "mail"], policy: policy).permit?.upstreamScope?.text == "mail openid read")
  }

  @Test("Each list of a client replaces the same list of the server, even if it is empty")
  func client() throws {
    let server = ScopeRules(drop: ["openid"], default: ["basic"])
    #expect(try sent("openid read", Self.policy(server, client: ScopeRules(drop: ["read"]))) == "openid")
    #expect(try sent(nil, Self.policy(server, client: ScopeRules(drop: ["read"]))) == "basic")
    #expect(try sent("openid", Self.policy(server, client: ScopeRules(default: ["own"]))) == "own")
    #expect(try sent("openid", Self.policy(server, client: ScopeRules(drop: []))) == "openid")
    #expect(try sent(nil, Self.policy(server, client: ScopeRules(default: []))) == nil)
    #expect(try sent("read openid", Self.policy(nil, client: ScopeRules(drop: ["openid"]))) == "read")
  }

  @Test("The consent page and sealed values contain the scope that the app sent")
  func sealed() throws {
    let permit = try #require(Fixture.authorize(["scope": "openid read"], policy: Self.policy()).permit)
    #expect(permit.scope?.text == "openid read")
    let transaction = permit.transaction(id: Fixture.transactionID, expiry: 9, browserSecretHash: [1])
    #expect(transaction.scope?.text == "openid read")
  }

  @Test("A dropped scope is a finding, and nothing else is")
  func finding() {
    #expect(Fixture.authorize(["scope": "openid read"], policy: Self.policy()).findings == [.note(.scopeDropped)])
    #expect(Fixture.authorize(["scope": "read"], policy: Self.policy()).findings.isEmpty)
    #expect(Fixture.authorize(policy: Self.policy(ScopeRules(default: ["basic"]))).findings.isEmpty)
    let request = Fixture.tokenRequest([
      "grant_type": "refresh_token", "refresh_token": "sealed", "scope": "read offline_access",
    ])
    #expect(Enforcement.decideToken(request, policy: Self.policy()).findings == [.note(.scopeDropped)])
    let redemption = Fixture.tokenRequest(["scope": "openid"])
    #expect(Enforcement.decideToken(redemption, policy: Self.policy()).findings.isEmpty)
  }

  @Test("A pushed request drops the scopes too")
  func pushed() throws {
    let policy = Fixture.policy(scopes: ScopeRules(drop: ["openid"])) { $0.pushedAuthorization = .optional }
    let body = Fixture.query(["scope": "openid read"])
    let request = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], authorization: [],
      body: Array(body.utf8), definedParameters: .atPushed)
    let permit = try #require(Enforcement.decidePushed(request, policy: policy, stateIsSealed: false).permit)
    #expect(permit.authorization.parameters.first { $0.parameter == .scope }?.value == "read")
  }

  private func refresh(
    _ scope: String?, granted: String?, _ policy: Policy
  ) throws -> DecisionWithFindings<RefreshPermit> {
    let grant = RefreshGrant(
      family: Fixture.transactionID, generation: 0, epoch: .none,
      binding: ClientBinding(
        clientID: ClientID("n1"), scope: granted.flatMap { Scope(parsing: $0) },
        upstreamClientID: ClientID("legacy-n1")),
      upstreamRefreshToken: Secret("upstream-refresh"), issuedAt: Fixture.now)
    let request = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], authorization: [],
      body: Array(
        ("grant_type=refresh_token&client_id=n1&refresh_token=sealed" + (scope.map { "&scope=\($0)" } ?? "")).utf8))
    guard case .refresh(let intent) = Enforcement.decideToken(request, policy: policy).permit else {
      throw NotARefresh()
    }
    return Enforcement.decideRefresh(intent, opened: .value(grant), policy: policy, now: Fixture.now)
  }

  private struct NotARefresh: Error {}

  @Test("A refresh drops the scopes even if the upstream did not grant them, and never sends the default")
  func refresh() throws {
    let policy = Self.policy(ScopeRules(drop: ["openid"], default: ["basic"]))
    func sent(_ scope: String?, granted: String?) throws -> [String] {
      let form = try #require(try refresh(scope, granted: granted, policy).permit).upstream.body.reveal()
      return form.split(separator: "&").map(String.init).filter { $0.hasPrefix("scope") }
    }
    #expect(try sent("openid+read", granted: "read") == ["scope=read"])
    #expect(try sent("openid", granted: "read") == [])
    #expect(try sent(nil, granted: "read") == [])
    #expect(try refresh("openid+admin", granted: "read", policy).rejection == .refreshScopeWider)
  }

  @Test("The token of a refresh has at most the granted scope, also if the request names scopes that are not sent")
  func tokenScope() throws {
    let policy = Self.policy(ScopeRules(drop: ["admin"], default: ["basic"]))
    let cases: [(String?, String?, String?)] = [
      ("read+admin", "read", "read"), ("read+admin", "read admin", "read admin"), (nil, "read admin", "read admin"),
      ("admin", "read", nil), ("admin", nil, nil), ("read+admin", nil, "read"), (nil, nil, nil),
    ]
    for (requested, granted, expected) in cases {
      let permit = try #require(try refresh(requested, granted: granted, policy).permit)
      #expect(permit.tokenScope?.text == expected, "\(requested ?? "-") of \(granted ?? "-")")
    }
  }

  @Test("The response to a refresh names the scope that is left of the requested one, if the policy has changed it")
  func scopeForResponse() throws {
    let policy = Self.policy(ScopeRules(drop: ["openid"], default: ["basic"]))
    let cases: [(String?, String?, String?)] = [
      ("read+openid", "read openid", "read"), ("read", "read openid", nil), (nil, "read openid", nil),
      ("openid", "read openid", "read"), ("openid", nil, "basic"), ("openid", "openid", "basic"),
    ]
    for (requested, granted, expected) in cases {
      let permit = try #require(try refresh(requested, granted: granted, policy).permit)
      #expect(permit.scopeForResponse?.text == expected, "\(requested ?? "-") of \(granted ?? "-")")
    }
  }

  @Test("A token request for the client itself names the scope that is left of the requested one")
  func scopeOfClientCredentials() throws {
    let policy = Fixture.policy(scopes: ScopeRules(drop: ["openid"], default: ["basic"])) {
      $0.grants.insert(.clientCredentials)
    }
    for (requested, expected) in [("read", nil), ("read+openid", "read"), ("openid", "basic")] as [(String, String?)] {
      let request = TokenRequest(
        method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], authorization: [],
        body: Array("grant_type=client_credentials&client_id=w3&client_secret=x&scope=\(requested)".utf8))
      guard case .sendUpstream(_, _, let target) = Enforcement.decideToken(request, policy: policy).permit else {
        throw NotARefresh()
      }
      #expect(target.scopeForResponse?.text == expected)
    }
  }

  @Test("A refresh of an unknown scope may not select the resource of another grant")
  func otherResource() throws {
    var files = Fixture.resource
    files.upstream.scope = Scope(parsing: "files")
    let policy = Fixture.policy(resources: [files])
    #expect(try refresh("files", granted: nil, policy).rejection == .refreshScopeWider)
    #expect(try refresh("read", granted: nil, policy).rejection == nil)
    #expect(try refresh("files", granted: "files", policy).rejection == nil)
  }

  @Test("A client credentials request drops the scopes and gets the default")
  func clientCredentials() throws {
    let policy = Fixture.policy(scopes: ScopeRules(drop: ["openid"], default: ["basic"])) {
      $0.grants.insert(.clientCredentials)
    }
    func body(_ scope: String) throws -> String {
      let request = TokenRequest(
        method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], authorization: [],
        body: Array("grant_type=client_credentials&client_id=w3&client_secret=x&scope=\(scope)".utf8))
      guard case .sendUpstream(let form, _, _) = Enforcement.decideToken(request, policy: policy).permit else {
        throw NotARefresh()
      }
      return form.body.reveal()
    }
    #expect(try body("openid+read").contains("scope=read&"))
    #expect(try body("openid").contains("scope=basic&"))
  }

  @Test(
    "I-reentry: the upstream's form may narrow the scope that went upstream, and may not extend it",
    arguments: [
      ("openid read write", "read", true), ("openid read", "read openid", false), ("openid read", "admin", false),
      ("openid", "anything", true), (nil, "anything", true),
    ] as [(String?, String, Bool)])
  func reentry(asked: String?, form: String, passes: Bool) {
    #expect(reenters(asked, form, Self.policy()) == passes)
  }

  @Test("I-reentry: the form may not exceed the default scope that went upstream")
  func reentryDefault() {
    let policy = Self.policy(ScopeRules(drop: ["openid"], default: ["basic", "mail"]))
    for asked in [nil, "openid"] {
      #expect(reenters(asked, "mail", policy))
      #expect(!reenters(asked, "admin", policy))
    }
  }

  private func reenters(_ asked: String?, _ form: String, _ policy: Policy) -> Bool {
    var transaction = Fixture.transaction
    transaction.scope = asked.flatMap { Scope(parsing: $0) }
    let query = FormEncoding.serialise([FormParameters.Entry("state", "sealed"), FormParameters.Entry("scope", form)])
    let outcome = Enforcement.decideReentry(
      AuthorizationRequest(method: "GET", query: query[...]), sealedState: "sealed", transaction: transaction,
      browserMatches: true, policy: policy, now: Fixture.now)
    return outcome.permit != nil
  }
}
