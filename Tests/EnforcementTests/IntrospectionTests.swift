import OAuth
import Policy
import Testing

@testable import Enforcement

/// The gateway's own introspection endpoint (RFC 7662, section 2.1).
@Suite("Introspection requests")
struct IntrospectionTests {
  private static let policy = Fixture.policy(resources: [Fixture.resource])
  /// `api` and `api-secret`, in HTTP Basic.
  private static let basic = "Basic YXBpOmFwaS1zZWNyZXQ="

  private func decide(
    _ body: String = "token=abc", authorization: [String] = [basic], query: Substring? = nil, method: String = "POST",
    contentType: String = "application/x-www-form-urlencoded"
  ) -> DecisionWithFindings<IntrospectionPermit> {
    let request = TokenRequest(
      method: method, query: query, contentTypes: [contentType], authorization: authorization,
      body: Array(body.utf8), definedParameters: .atIntrospection)
    return Enforcement.decideIntrospection(request, policy: Self.policy)
  }

  @Test("A resource server with the right secret may ask for a token, with either authentication method")
  func permitted() throws {
    for outcome in [decide(), decide("token=abc&client_id=api&client_secret=api-secret", authorization: [])] {
      let permit = try #require(outcome.permit)
      #expect(permit.resource.uri.text == "https://api.example.com/")
      #expect(permit.token.reveal() == "abc")
    }
  }

  @Test("Without the right secret of a resource server, the request is refused")
  func authentication() {
    #expect(decide(authorization: []).rejection == .clientUnauthenticated)
    #expect(decide("token=abc&client_id=api", authorization: []).rejection == .clientUnauthenticated)
    let wrong = "token=abc&client_secret=wrong&client_id="
    #expect(decide(wrong + "api", authorization: []).rejection == .clientAuthenticationFailed)
    // The id and the secret of a client.
    #expect(
      decide("token=abc&client_id=w1&client_secret=w1secret", authorization: []).rejection
        == .clientAuthenticationFailed)
  }

  @Test("Two authentication methods, and a header that cannot be parsed, are refused")
  func oneMethod() {
    #expect(
      decide("token=abc&client_id=api&client_secret=api-secret").rejection == .multipleAuthenticationMethods)
    #expect(decide(authorization: [Self.basic, Self.basic]).rejection != nil)
    #expect(decide(authorization: ["Basic %%%"]).rejection == .clientAuthenticationMalformed)
  }

  @Test("A request without a token is refused")
  func tokenMissing() {
    #expect(decide("token_type_hint=access_token").rejection == .introspectionTokenMissing)
    #expect(decide("token=").rejection == .introspectionTokenMissing)
  }

  @Test("A request that can be read in two ways is refused, also from a resource server")
  func oneReading() {
    #expect(decide(method: "GET").rejection == .methodNotAllowed)
    #expect(decide(query: "token=other").rejection == .tokenParametersInQuery)
    #expect(decide(contentType: "application/json").rejection == .bodyNotForm)
    #expect(decide("token=abc&token=other").rejection == .parameterRepeated)
    #expect(decide("token=abc&token_type_hint=%zz").rejection == .parameterMalformed)
    #expect(decide("token=abc&Token=other").rejection == .parameterSpelling)
  }
}
