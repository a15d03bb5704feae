import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

extension AuthorizationTests {
  @Test("7636-4.4.1-missing, 9207-2-error: a request without a challenge is refused by redirect, with state and iss")
  func noChallenge() throws {
    let outcome = Fixture.authorize(["code_challenge": nil, "code_challenge_method": nil])
    #expect(outcome.rejection == .challengeMissing)
    #expect(
      outcome.refusal?.response?.location
        == "com.example.app:/cb?error=invalid_request&error_description=code%20challenge%20required"
        + "&error_uri=https%3A%2F%2Fgw.example%2F.proofgate%2Frules%2Fpkce-required&state=s1&iss=https%3A%2F%2Fgw.example"
    )
  }

  @Test(
    "7636-4.3: an empty challenge, or a method without a challenge, counts as no challenge",
    arguments: [["code_challenge": ""], ["code_challenge": nil]] as [[String: String?]])
  func emptyChallenge(changes: [String: String?]) {
    #expect(Fixture.authorize(changes).redirected?["error_description"] == "code challenge required")
  }

  @Test(
    "7636-4.3-default-plain, 7636-4.3-method-case, 7636-7.2-plain-off: methods other than S256 are refused",
    arguments: [nil, "", "plain", "s256", "S512"] as [String?])
  func methodNames(method: String?) {
    let outcome = Fixture.authorize(["code_challenge_method": method])
    #expect(outcome.redirected?["error"] == "invalid_request")
    #expect(outcome.redirected?["error_description"] == "transform algorithm not supported")
  }

  @Test(
    "7636-4.2-challenge-syntax, 7636-4.2-s256-43: a challenge that no S256 verifier can match is refused",
    arguments: [
      "\(Fixture.challenge)=", "\(Fixture.challenge)A", String(Fixture.challenge.dropLast()),
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN",
      "13d31e961a1ad8ec2f16b10c4c982e0876a878ad6df144566ee1894acb70f9c3",
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM",
    ])
  func challengeSyntax(challenge: String) {
    #expect(Fixture.authorize(["code_challenge": challenge]).rejection == .challengeMalformed)
  }

  @Test("Lenient syntax accepts padding, and the permit has the challenge without the padding")
  func lenientChallenge() throws {
    let policy = Fixture.policy { $0.pkceSyntax = .lenient }
    let permit = try #require(Fixture.authorize(["code_challenge": Fixture.challenge + "="], policy: policy).permit)
    #expect(permit.challenge?.text == Fixture.challenge)
  }

  @Test(
    "7636-5-compat, 8252-7.2-type-from-record: a web client may omit the challenge if its policy makes PKCE optional")
  func optionalChallenge() {
    let changes: [String: String?] = [
      "client_id": "w1", "redirect_uri": "https://web.example.com/cb?x=1", "code_challenge": nil,
      "code_challenge_method": nil,
    ]
    #expect(Fixture.authorize(changes).permit != nil)
    #expect(
      Fixture.authorize(["redirect_uri": "https://app.example.com/cb", "code_challenge": nil]).rejection
        == .challengeMissing)
    // A challenge that is sent must be well-formed even if it is optional.
    var broken = changes
    broken["code_challenge"] = "short"
    broken["code_challenge_method"] = "S256"
    #expect(Fixture.authorize(broken).rejection == .challengeMalformed)
  }

  @Test("8252-8.5-secret-not-identity: a native client needs PKCE even if a secret is in the app")
  func secretInTheApp() {
    let outcome = Fixture.authorize([
      "client_id": "n3", "redirect_uri": "com.example.app3:/cb", "code_challenge": nil,
    ])
    #expect(outcome.redirected?["error"] == "invalid_request")
  }

  @Test("7636-4.4.1-redirect-first: client and redirect URI are checked before PKCE")
  func orderOfChecks() {
    #expect(
      Fixture.authorize(["code_challenge": nil, "redirect_uri": "https://evil.example/"]).rejection
        == .redirectURIMismatch)
    #expect(
      Fixture.authorize(["client_id": "nobody", "redirect_uri": "https://evil.example/"]).rejection == .clientUnknown)
  }

  @Test("7636-4.4-strip-upstream: the app's challenge does not go upstream, even if the upstream supports PKCE")
  func pkceUpstream() throws {
    let stripping = try #require(Fixture.authorize().permit)
    #expect(!stripping.upstreamUsesPKCE)
    #expect(!stripping.upstreamQuery(state: "x").contains("code_challenge"))
    let permit = try #require(Fixture.authorize(policy: Fixture.policy(usesPKCE: true)).permit)
    #expect(permit.upstreamUsesPKCE)
    let own = Fixture.verifierOfGateway.challenge
    let query = permit.upstreamQuery(state: "x", challenge: own)
    #expect(query.hasSuffix("&code_challenge=\(own.text)&code_challenge_method=S256&state=x"))
    #expect(!query.contains(Fixture.challenge))
  }

  @Test("The gateway derives its challenge from its verifier as in RFC 7636, section 4.2")
  func ownChallenge() throws {
    let verifier = Fixture.verifierOfGateway
    let parsed = try #require(CodeVerifier(parsing: verifier.secret.reveal()))
    #expect(verifier.challenge.matches(parsed))
    #expect(UpstreamVerifier(bytes: Array(0..<31)) == nil)
  }

  @Test(
    "A response_type that does not match RFC 6749, appendix A.3, is invalid_request",
    arguments: [
      "%20code", "code%20", "+code", "code+", "code++token", "code%20%20token", "+", "c-de",
      "code,token",
    ])
  func responseTypeGrammar(value: String) {
    let outcome = Fixture.authorize(["response_type": nil], adding: "&response_type=" + value)
    #expect(outcome.rejection == .responseTypeMalformed)
    #expect(outcome.redirected?["error"] == "invalid_request")
    #expect(outcome.redirected?["state"] == "s1")
  }

  @Test("A response_type with `code` twice is not `code`")
  func responseTypeTwice() {
    #expect(Fixture.authorize(["response_type": "code code"]).rejection == .responseTypeUnsupported)
  }

  @Test("The policy can forward more parameters, but none that the gateway sets or decides itself")
  func allowList() throws {
    let policy = Fixture.policy(parameters: ["audience", "resource", "response_mode", "request", "state", "client_id"])
    let permit = try #require(
      Fixture.authorize(["audience": "api", "resource": "https://a.example", "unknown": "x"], policy: policy).permit)
    let names = permit.parameters.map(\.name)
    #expect(names == ["response_type", "client_id", "redirect_uri", "audience", "resource"])
  }

  @Test("9101-7, 9101-5-both: request objects are refused by redirect, or on a page if the redirect URI is missing")
  func requestObjects() {
    #expect(Fixture.authorize(["request": "eyJ"]).redirected?["error"] == "request_not_supported")
    #expect(Fixture.authorize(["request_uri": "https://e.example"]).redirected?["error"] == "request_uri_not_supported")
    #expect(Fixture.authorize(["request": "x", "request_uri": "y"]).redirected?["error"] == "invalid_request")
    #expect(Fixture.authorize(["registration": "{}"]).redirected?["error"] == "registration_not_supported")
    #expect(Fixture.authorize(["redirect_uri": nil, "request": "eyJ"]).isPage)
  }

  @Test("8252-8.6-prompt-none: prompt=none is refused if the gateway must ask for consent")
  func promptNone() {
    let changes: [String: String?] = ["client_id": "n2", "redirect_uri": "com.example.app2:/cb", "prompt": "none"]
    #expect(Fixture.authorize(changes).redirected?["error"] == "consent_required")
    #expect(Fixture.authorize(["prompt": "none"]).permit != nil)
    #expect(Fixture.authorize(["prompt": "none login"]).redirected?["error"] == "invalid_request")
    #expect(
      Fixture.authorize(["client_id": "n2", "redirect_uri": "com.example.app2:/cb"]).permit?.needsConsent == true)
  }

  @Test("A malformed scope is refused")
  func scope() {
    #expect(Fixture.authorize(["scope": "\"bad\""]).redirected?["error"] == "invalid_scope")
    #expect(Fixture.authorize(["scope": "   "]).redirected?["error"] == "invalid_scope")
  }

  @Test("8252-8.9-state: a missing state is noted, refused or ignored, as the policy says")
  func state() {
    let noted = Fixture.authorize(["state": nil])
    #expect(noted.permit != nil)
    #expect(noted.findings == [.note(.stateMissing)])
    let required = Fixture.authorize(["state": nil], policy: Fixture.policy { $0.state = .require })
    #expect(required.rejection == .stateMissing)
    #expect(Fixture.authorize(["state": nil], policy: Fixture.policy { $0.state = .off }).findings.isEmpty)
  }

  @Test("6749-4.1.2-state: a refusal returns the decoded state unchanged")
  func stateIsExact() throws {
    let outcome = Fixture.authorize(["state": "a+b &=%", "code_challenge": nil])
    #expect(outcome.redirected?["state"] == "a+b &=%")
    #expect(try #require(outcome.refusal?.response?.location).contains("state=a%2Bb%20%26%3D%25"))
  }

  @Test("6749-3.1-dup-page: a repeated redirect_uri is refused before the client is looked up")
  func redirectURITwice() {
    let outcome = Fixture.authorize(["client_id": "nobody"], adding: "&redirect_uri=com.example.app%3A%2Fcb")
    #expect(outcome.rejection == .redirectURIRepeated)
  }

  @Test("I-request: outside re-entry a state that the gateway sealed is refused on a page")
  func foreignState() {
    let outcome = Fixture.authorize(stateIsSealed: true)
    #expect(outcome.rejection == .stateSealedForOtherRequest)
    #expect(outcome.isPage)
  }

  @Test("8252-8.12-block, 8252-8.12-in-app-tabs: only an embedded user agent is blocked, with a 403 page")
  func embedded() {
    let webView = "Mozilla/5.0 (Linux; Android 10; Pixel; wv) AppleWebKit/537.36 Version/4.0 Chrome/99.0 Mobile"
    let tab =
      "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Mobile Safari/537.36"
    let block = Fixture.policy { $0.embeddedUserAgents = .block }
    let blocked = Fixture.authorize(policy: block, userAgent: webView)
    #expect(blocked.rejection == .userAgentEmbedded)
    #expect(blocked.rejection?.status == 403)
    #expect(blocked.isPage)
    #expect(Fixture.authorize(policy: block, userAgent: tab).permit != nil)
    #expect(Fixture.authorize(userAgent: webView).findings == [.note(.embeddedUserAgent)])
    #expect(
      Fixture.authorize(policy: Fixture.policy { $0.embeddedUserAgents = .off }, userAgent: webView).findings.isEmpty)
    func page(_ agent: String, blocks: Bool) -> RejectionResponse? {
      let userAgentGuard = EmbeddedUserAgentGuard(blocks: blocks)
      return Enforcement.decideInteraction(userAgent: agent, userAgentGuard: userAgentGuard)
    }
    #expect(page(webView, blocks: true)?.rejection == .userAgentEmbedded)
    #expect(page(tab, blocks: true) == nil)
    #expect(page(webView, blocks: false) == nil)
  }

  @Test(
    "8252-6-unknown-ua: a request without a user agent or with an unknown one is accepted",
    arguments: [nil, "FooBrowser/1.0"] as [String?])
  func unknownUserAgent(agent: String?) {
    let block = Fixture.policy { $0.embeddedUserAgents = .block }
    #expect(Fixture.authorize(policy: block, userAgent: agent).permit != nil)
  }

  @Test("8252-B.3-wab-sso: the Windows broker counts as external only with an msapp redirect URI")
  func broker() {
    let agent = "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; MSAuthHost/1.0)"
    let block = Fixture.policy { $0.embeddedUserAgents = .block }
    let changes: [String: String?] = ["client_id": "b1", "redirect_uri": "msapp://s-1-15-2-1111-2222-3333"]
    #expect(Fixture.authorize(changes, policy: block, userAgent: agent).permit != nil)
    #expect(
      Fixture.authorize(["redirect_uri": "https://app.example.com/cb"], policy: block, userAgent: agent).rejection
        == .userAgentEmbedded)
    var noChallenge = changes
    noChallenge["code_challenge"] = .some(nil)
    #expect(Fixture.authorize(noChallenge).rejection == .challengeMissing)
  }

  @Test("9700-4.11.2-untrusted-errors: an error of a client that registered itself is a page and no redirect")
  func untrusted() {
    let changes: [String: String?] = [
      "client_id": "d1", "redirect_uri": "https://dyn.example.net/cb", "scope": "\"",
    ]
    let outcome = Fixture.authorize(changes)
    #expect(outcome.rejection == .scopeMalformed)
    #expect(outcome.isPage)
  }

  @Test("A client without the authorization code grant is refused")
  func grant() {
    let policy = Fixture.policy { $0.grants = [.refreshToken] }
    #expect(Fixture.authorize(policy: policy).redirected?["error"] == "unauthorized_client")
  }

  @Test("I-failure: a failure of the upstream reaches the client by redirect, with its state")
  func upstreamFailure() throws {
    let permit = try #require(Fixture.authorize().permit)
    let refusal = permit.errorResponse(for: .upstreamTimedOut)
    let location = try #require(refusal.response?.location)
    #expect(location.contains("error=temporarily_unavailable"))
    #expect(location.contains("state=s1"))
    #expect(permit.errorResponse(for: .upstreamFailed).response?.location?.contains("error=server_error") == true)
  }

  @Test("I-observe: in observe mode every request passes, and each refusal is a finding")
  func observeMode() throws {
    let observe = Fixture.policy(unknown: .observe, mode: .observe)
    func findings(
      _ changes: [String: String?] = [:], adding: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Finding] {
      let outcome = Fixture.authorize(changes, adding: adding, policy: observe)
      #expect(outcome.isPassed, sourceLocation: sourceLocation)
      return outcome.findings
    }
    #expect(findings() == [])
    #expect(findings(["code_challenge": nil, "code_challenge_method": nil]) == [.wouldReject(.challengeMissing)])
    #expect(findings(["redirect_uri": "https://other.example/"]) == [.wouldReject(.redirectURIMismatch)])
    #expect(findings(["response_type": "token"]) == [.wouldReject(.responseTypeForNative)])
    #expect(findings(adding: "&client_id=n2").contains(.wouldReject(.clientIDRepeated)))
    #expect(findings(adding: "&client_id[]=n2").contains(.wouldReject(.parameterSpelling)))
    #expect(findings(adding: "&scope=a&scope=b").contains(.wouldReject(.parameterRepeated)))
    #expect(findings(["client_id": nil]).contains(.wouldReject(.clientIDMissing)))
    #expect(Fixture.authorize(policy: observe, stateIsSealed: true).rejection == .stateSealedForOtherRequest)
  }

  @Test("An explanation names every rule that ran, with its verdict")
  func explanation() {
    let request = AuthorizationRequest(method: "GET", query: Fixture.query(["code_challenge": nil])[...])
    let explained = Enforcement.explainAuthorization(request, policy: Fixture.policy())
    #expect(explained.trace.first?.rule == "the endpoint accepts the method")
    #expect(explained.trace.last?.rule == "a code challenge is present")
    guard case .refuse(.challengeMissing, _)? = explained.trace.last?.verdict else {
      Issue.record("the last rule should have refused")
      return
    }
  }

  @Test("The transaction contains the redirect URI, scope, upstream client and expiry for the response")
  func transaction() throws {
    let permit = try #require(Fixture.authorize(["redirect_uri": "http://127.0.0.1:51004/cb", "scope": "read"]).permit)
    let transaction = permit.transaction(id: Fixture.transactionID, expiry: 9, browserSecretHash: [1])
    #expect(transaction.redirectURI.text == "http://127.0.0.1:51004/cb")
    #expect(transaction.redirectURIWasSent)
    #expect(transaction.scope?.text == "read")
    #expect(transaction.upstreamClientID.rawValue == "legacy-n1")
    #expect(transaction.upstreamRedirectURI == "https://gw.example/.proofgate/callback")
    #expect(transaction.expiry == 9)
  }
}
