import OAuth
import Policy
import Testing

@testable import Enforcement

/// Pushed authorization requests (RFC 9126).
@Suite("Pushed requests")
struct PushedTests {
  private func push(
    _ changes: [String: String?] = [:], mode: PushedAuthorizationPolicy = .optional
  ) -> DecisionWithFindings<PushedPermit> {
    let policy = Fixture.policy { $0.pushedAuthorization = mode }
    let request = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"],
      body: Array(Fixture.query(changes).utf8), definedParameters: .atPushed)
    return Enforcement.decidePushed(request, policy: policy, stateIsSealed: false)
  }

  @Test("9126-6: a client that has to push its requests gets no answer to another request")
  func required() {
    let policy = Fixture.policy { $0.pushedAuthorization = .required }
    #expect(Fixture.authorize(policy: policy).rejection == .pushedRequired)
    #expect(push(mode: .required).permit != nil)
    #expect(Fixture.authorize(policy: Fixture.policy { $0.pushedAuthorization = .optional }).permit != nil)
  }

  @Test("A client pushes only if the policy lets it, and if the gateway can verify its credentials")
  func mayPush() {
    #expect(push().permit != nil)
    #expect(push(mode: .off).rejection == .pushedNotAllowed)
    // Only the upstream can verify the secret of this client.
    let unverified = push([
      "client_id": "w3", "client_secret": "x", "redirect_uri": "https://web3.example.com/cb",
    ])
    #expect(unverified.rejection == .pushedNotAllowed)
  }

  @Test("9126-2.1-no-request-uri: a pushed request may not refer to another one")
  func nested() {
    let reference = "urn:ietf:params:oauth:request_uri:x"
    #expect(push(["request_uri": reference]).rejection == .pushedWithRequestURI)
  }
}
