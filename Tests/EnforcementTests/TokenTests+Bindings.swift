import OAuth
import Policy
import Testing

@testable import Enforcement

extension TokenTests {
  private func request(_ form: String, hasDPoPProof: Bool = false, hasCertificate: Bool = false) -> TokenRequest {
    TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], body: Array(form.utf8),
      hasDPoPProof: hasDPoPProof, hasClientCertificate: hasCertificate)
  }

  private static let refresh = "grant_type=refresh_token&client_id=n1&refresh_token=x"

  @Test("9449-5: a token request with a DPoP proof is refused and gets no bearer token")
  func dpop() {
    let policy = Fixture.policy()
    let outcome = Enforcement.decideToken(request(Self.refresh, hasDPoPProof: true), policy: policy)
    #expect(outcome.rejection == .dpopUnsupported)
    #expect(outcome.refusal?.errorCode == .invalidRequest)
    #expect(Enforcement.decideToken(request(Self.refresh), policy: policy).findings.isEmpty)
  }

  @Test("9449-10.1: a pushed request with a DPoP proof is refused")
  func pushedProof() {
    let policy = Fixture.policy { $0.pushedAuthorization = .optional }
    let form = Fixture.query()
    for hasProof in [true, false] {
      let request = TokenRequest(
        method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], body: Array(form.utf8),
        definedParameters: .atPushed, hasDPoPProof: hasProof)
      let outcome = Enforcement.decidePushed(request, policy: policy, stateIsSealed: false)
      #expect((outcome.rejection == .dpopUnsupported) == hasProof)
    }
  }

  @Test("8705-3: a client certificate that does not go upstream is a finding")
  func certificate() {
    let outcome = Enforcement.decideToken(request(Self.refresh, hasCertificate: true), policy: Fixture.policy())
    #expect(outcome.permit != nil)
    #expect(outcome.findings == [.note(.clientCertificateDropped)])
  }

  @Test("8707-2, 9396-6: parameters that do not go upstream are findings at both endpoints")
  func droppedParameters() {
    let form = Self.refresh + "&resource=https%3A%2F%2Fapi.example.com&authorization_details=%5B%5D"
    let changes = ["resource": "https://api.example.com", "authorization_details": "[]"]
    let dropped: [Finding] = [.note(.resourceDropped), .note(.authorizationDetailsDropped)]
    #expect(Enforcement.decideToken(request(form), policy: Fixture.policy()).findings == dropped)
    #expect(Fixture.authorize(changes).findings == dropped)
    let forwarding = Fixture.policy(parameters: ["resource", "authorization_details"])
    #expect(Enforcement.decideToken(request(form), policy: forwarding).findings.isEmpty)
    #expect(Fixture.authorize(changes, policy: forwarding).findings.isEmpty)
  }
}
