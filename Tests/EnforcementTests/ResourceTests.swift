import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

/// `resource` (RFC 8707), and the limits of a client that the policy does not list.
@Suite("Requested resources and scopes")
struct ResourceTests {
  private static let listed = "https://api.example.com/"
  private static let policy = Fixture.policy(resources: [Fixture.resource])

  private func token(_ form: String, policy: Policy = policy, unlisted: Client? = nil) -> Rejection? {
    let request = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], body: Array(form.utf8))
    return Enforcement.decideToken(request, policy: policy, unlisted: unlisted).rejection
  }

  private static let refresh = "grant_type=refresh_token&client_id=n1&refresh_token=x"

  @Test("8707-2: an authorization request may name one listed resource, by its identifier or an alias")
  func authorization() {
    #expect(Fixture.authorize(["resource": Self.listed], policy: Self.policy).permit != nil)
    #expect(Fixture.authorize(["resource": "https://api.example.com"], policy: Self.policy).permit != nil)
    #expect(
      Fixture.authorize(["resource": "https://other.example.com/"], policy: Self.policy).rejection == .resourceUnknown)
  }

  @Test(
    "The scheme and the host of a resource may have capital letters, and nothing else of it",
    arguments: [
      ("HTTPS://API.Example.com/", true), ("Https://api.example.com", true), ("https://API.example.com/x", false),
      ("https://API.example.com.attacker.example/", false), ("https://USER@api.example.com/", false),
      ("HTTPS:api.example.com/", false),
    ])
  func capitals(_ name: String, isListed: Bool) {
    let outcome = Fixture.authorize(["resource": name], policy: Self.policy)
    #expect(outcome.rejection == (isListed ? nil : .resourceUnknown))
    #expect(outcome.permit?.resource?.uri.text == (isListed ? Self.listed : nil))
  }

  @Test("8707-2.2: a token request may name one listed resource")
  func tokenRequest() {
    let name = "&resource=https%3A%2F%2Fapi.example.com"
    #expect(token(Self.refresh + name + "%2F") == nil)
    #expect(token(Self.refresh + name + ".attacker.example%2F") == .resourceUnknown)
    #expect(token(Self.refresh + name + "%2F" + name) == nil, "the alias names the same resource")
    #expect(token(Self.refresh + name + "%2F&resource=https%3A%2F%2Fmail.example.com%2F") == .resourceUnknown)
  }

  @Test("I-credentials: no client gets a token for itself with the upstream client of a resource")
  func clientCredentials() {
    var resource = Fixture.resource
    resource.upstream.client = UpstreamClient(
      clientID: ClientID("api-at-upstream"), clientSecret: Secret("held"), authentication: .basic,
      redirectURI: .callback)
    let form = "grant_type=client_credentials&client_id=w3&client_secret=x&resource=https%3A%2F%2Fapi.example.com%2F"
    for (resource, rejection) in [(Fixture.resource, nil), (resource, Rejection.resourceUnknown)] {
      let policy = Fixture.policy(resources: [resource]) { client in
        client.grants.insert(.clientCredentials)
        // The gateway can compare the secret, so that only the rule for this grant can refuse the request.
        if client.id == ClientID("w3") { client.upstream.clientSecret = Secret("x") }
      }
      #expect(token(form, policy: policy) == rejection)
    }
  }

  @Test("The policy's resources determine the audience, and a client that the policy does not list adds no parameters")
  func parameters() throws {
    let adding = "&audience=admin&authorization_details=%5B%5D&tenant=t"
    let names: Set<String> = ["audience", "resource", "authorization_details", "tenant"]
    let limited = Fixture.policy(parameters: names, resources: [Fixture.resource])
    func sent(_ policy: Policy, id: String = "n1", unlisted: Client? = nil) throws -> [String] {
      let query = Fixture.query(["client_id": id], adding: adding)
      let permit = Enforcement.decideAuthorization(
        AuthorizationRequest(method: "GET", query: query[...]), policy: policy, stateIsSealed: false,
        unlisted: unlisted
      ).permit
      return try #require(permit).parameters.map(\.name).filter { names.contains($0) }
    }
    #expect(try sent(Fixture.policy(parameters: names)) == ["audience", "authorization_details", "tenant"])
    #expect(try sent(limited) == ["authorization_details", "tenant"])
    for policy in [limited, Fixture.policy(parameters: names)] {
      #expect(try sent(policy, id: "pg1.registered", unlisted: registered()) == [])
    }
    let form = "grant_type=refresh_token&client_id=pg1.registered&refresh_token=x" + adding
    for (client, expected) in [(try registered(), 0), (try #require(limited.clients[ClientID("n1")]), 2)] {
      #expect(limited.allowListed(try #require(FormParameters(parsing: form)), for: client).count == expected)
    }
  }

  @Test("A scope token that selects a resource is refused unless the request names the resource")
  func scopeOfResource() throws {
    var (api, files) = (Fixture.resource, Fixture.resource)
    files.uri = try #require(ResourceURI(parsing: "https://files.example.com/"))
    files.aliases = []
    api.upstream.scope = Scope(parsing: "api-a shared openid")
    files.upstream.scope = Scope(parsing: "api-b shared")
    let policy = Fixture.policy(resources: [api, files]) { client in
      client.grants.formUnion([.clientCredentials, .deviceCode])
      if client.id == ClientID("w3") { client.upstream.clientSecret = Secret("x") }
    }
    for (resource, scope, isRefused) in [
      (nil, "read openid", false), (nil, "api-b", true), (nil, "read api-a", true), (nil, "shared", true),
      (Self.listed, "read api-a shared", false), (Self.listed, "read api-b", true),
      ("https://api.example.com", "api-a", false), ("https://files.example.com/", "api-b shared", false),
      ("https://files.example.com/", "api-a", true),
    ] {
      let refusal: Rejection? = isRefused ? .scopeOfOtherResource : nil
      let outcome = Fixture.authorize(["resource": resource, "scope": scope], policy: policy)
      #expect(outcome.rejection == refusal, "\(scope)")
      let values = [
        "grant_type": "client_credentials", "client_id": "w3", "client_secret": "x", "scope": scope,
        "resource": resource ?? "",
      ]
      let entries = values.map { FormParameters.Entry($0.key, $0.value) }
      #expect(token(FormEncoding.serialise(entries), policy: policy) == refusal, "\(scope)")
    }
    let device = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"],
      body: Array("client_id=tv1&scope=api-b".utf8), definedParameters: .atDeviceAuthorization)
    #expect(Enforcement.decideDeviceAuthorization(device, policy: policy).rejection == .scopeOfOtherResource)
    // A refresh repeats a granted scope without naming the resource of the grant.
    #expect(token(Self.refresh + "&scope=api-a", policy: policy) == nil)
  }

  @Test("A refresh token of an unlisted client without a recorded scope is refused, whatever scope is requested")
  func unknownScope() throws {
    let client = try registered()
    func refresh(_ granted: String?, _ requested: String, _ client: Client?) throws -> Rejection? {
      let id = client?.id ?? ClientID("n1")
      let request = TokenRequest(
        method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"],
        body: Array("grant_type=refresh_token&refresh_token=x&client_id=\(id.rawValue)\(requested)".utf8))
      let checked = Enforcement.decideToken(request, policy: Self.policy, unlisted: client).permit
      guard case .refresh(let refresh)? = checked else { return .grantNotAllowed }
      let grant = RefreshGrant(
        family: Fixture.transactionID, generation: 0, epoch: .none,
        binding: ClientBinding(
          clientID: id, scope: granted.flatMap { Scope(parsing: $0) },
          upstreamClientID: refresh.client.upstream.clientID),
        upstreamRefreshToken: Secret("upstream-refresh"), issuedAt: Fixture.now)
      return Enforcement.decideRefresh(refresh, opened: .value(grant), policy: Self.policy, now: Fixture.now).rejection
    }
    for requested in ["", "&scope=read"] {
      #expect(try refresh(nil, requested, client) == .refreshTokenOutdated)
      #expect(try refresh("read", requested, client) == nil)
      #expect(try refresh(nil, requested, nil) == nil)
    }
  }

  @Test("8707-2.2: a grant is used only for its resource, and only as long as the policy lists it")
  func grantedResource() throws {
    func redeem(_ granted: String?, _ requested: String?, _ policy: Policy) -> Rejection? {
      var code = Fixture.code
      code.resource = granted
      return Fixture.redeem(["resource": requested ?? ""], code: code, policy: policy)?.rejection
    }
    func refresh(_ granted: String?, _ requested: String?, _ policy: Policy) throws -> Rejection? {
      let request = Fixture.tokenRequest([
        "grant_type": "refresh_token", "refresh_token": "x", "resource": requested ?? "",
      ])
      guard case .refresh(let refresh)? = Enforcement.decideToken(request, policy: policy).permit else {
        return .grantNotAllowed
      }
      let grant = RefreshGrant(
        family: Fixture.transactionID, generation: 0, epoch: .none,
        binding: ClientBinding(
          clientID: ClientID("n1"), scope: nil, upstreamClientID: ClientID("legacy-n1"), resource: granted),
        upstreamRefreshToken: Secret("upstream-refresh"), issuedAt: Fixture.now)
      return Enforcement.decideRefresh(refresh, opened: .value(grant), policy: policy, now: Fixture.now).rejection
    }
    for (granted, requested) in [(nil, nil), (Self.listed, nil), (Self.listed, Self.listed)] as [(String?, String?)] {
      #expect(redeem(granted, requested, Self.policy) == nil)
      #expect(try refresh(granted, requested, Self.policy) == nil)
    }
    #expect(redeem(nil, Self.listed, Self.policy) == .resourceNotGranted)
    #expect(try refresh(nil, Self.listed, Self.policy) == .resourceNotGranted)
    #expect(redeem(Self.listed, nil, Fixture.policy()) == .codeOutdated)
    #expect(try refresh(Self.listed, nil, Fixture.policy()) == .refreshTokenOutdated)
  }

  private func registered(resources: [String] = []) throws -> Client {
    var rules = UnlistedClientRules()
    rules.scopes = ["read"]
    rules.resources = resources
    rules.redirects.anyScheme = true
    let metadata = ClientMetadata(applicationType: .native, redirectURIs: [Fixture.uri("com.example.app:/cb")])
    return try #require(rules.client(ClientID("pg1.registered"), metadata))
  }

  @Test("The record of a token keeps the scope tokens that the policy permits to a client or adds to each request")
  func limitedRecord() throws {
    var resource = Fixture.resource
    resource.upstream.scope = Scope(parsing: "api")
    let policy = Fixture.policy(resources: [resource])
    let (client, other) = (try registered(resources: [Self.listed]), try registered())
    func limited(_ scope: String?, _ client: Client, resource: String? = Self.listed) -> AccessTokenRecord? {
      AccessTokenRecord(
        AccessTokenHolder(clientID: client.id, family: nil), resource: resource,
        scope: scope.flatMap { Scope(parsing: $0) }, issuedAt: Fixture.now, expiry: Fixture.now + Seconds(60)
      ).limited(to: client, policy)
    }
    #expect(limited("admin read api", client)?.scope?.text == "read api")
    #expect(limited("api", client)?.scope?.text == "api")
    #expect(limited("admin", client) == nil)
    #expect(try #require(limited(nil, client)).scope == nil)
    #expect(limited("read", other) == nil, "the policy does not permit the resource to the client")
    #expect(limited("read", client, resource: "https://removed.example.com/") == nil)
    #expect(limited("read api", client, resource: nil)?.scope?.text == "read")
    let native = try #require(policy.clients[ClientID("n1")])
    #expect(limited("admin", native)?.scope?.text == "admin")
  }

  @Test("A client that the policy does not list may request only the scopes and resources of such clients")
  func unlisted() throws {
    let client = try registered()
    let refresh = "grant_type=refresh_token&client_id=pg1.registered&refresh_token=x&scope="
    #expect(token(refresh + "read", unlisted: client) == nil)
    #expect(token(refresh + "read+admin", unlisted: client) == .scopeNotAllowed)
    #expect(
      token(refresh + "read&resource=https%3A%2F%2Fapi.example.com%2F", unlisted: client) == .resourceUnknown)
    for (scope, rejection) in [
      ("read", nil), ("admin", Rejection.scopeNotAllowed), ("read offline_access", nil),
      ("offline_access admin", Rejection.scopeNotAllowed),
    ] {
      let query = Fixture.query(["client_id": "pg1.registered", "scope": scope])
      let outcome = Enforcement.decideAuthorization(
        AuthorizationRequest(method: "GET", query: query[...]), policy: Self.policy, stateIsSealed: false,
        unlisted: client)
      #expect(outcome.rejection == rejection)
    }
  }
  @Test("A client that the policy does not list is refused if none of its scopes is sent upstream")
  func unlistedWithoutScope() throws {
    let client = try registered()
    let query = Fixture.query(["client_id": "pg1.registered", "scope": "read"])
    for (dropped, rejection) in [("read", Rejection.scopeNotAllowed), ("openid", nil)] {
      let outcome = Enforcement.decideAuthorization(
        AuthorizationRequest(method: "GET", query: query[...]),
        policy: Fixture.policy(scopes: ScopeRules(drop: [dropped])), stateIsSealed: false, unlisted: client)
      #expect(outcome.rejection == rejection)
    }
    let listed = Fixture.authorize(["scope": "read"], policy: Fixture.policy(scopes: ScopeRules(drop: ["read"])))
    #expect(listed.permit != nil)
  }
}
