import OAuth
import Policy
import Testing

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

  @Test("A client that the policy does not list may request only the scopes and resources of such clients")
  func unlisted() throws {
    var rules = UnlistedClientRules()
    rules.scopes = ["read"]
    rules.redirects.anyScheme = true
    let metadata = ClientMetadata(applicationType: .native, redirectURIs: [Fixture.uri("com.example.app:/cb")])
    let client = try #require(rules.client(ClientID("pg1.registered"), metadata))
    let refresh = "grant_type=refresh_token&client_id=pg1.registered&refresh_token=x&scope="
    #expect(token(refresh + "read", unlisted: client) == nil)
    #expect(token(refresh + "read+admin", unlisted: client) == .scopeNotAllowed)
    #expect(
      token(refresh + "read&resource=https%3A%2F%2Fapi.example.com%2F", unlisted: client) == .resourceUnknown)
    for (scope, rejection) in [("read", nil), ("admin", Rejection.scopeNotAllowed)] {
      let query = Fixture.query(["client_id": "pg1.registered", "scope": scope])
      let outcome = Enforcement.decideAuthorization(
        AuthorizationRequest(method: "GET", query: query[...]), policy: Self.policy, stateIsSealed: false,
        unlisted: client)
      #expect(outcome.rejection == rejection)
    }
  }
}
