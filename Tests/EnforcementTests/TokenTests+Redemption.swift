import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

extension TokenTests {
  @Test(
    "7636-4.1-length, 7636-4.1-charset: a malformed verifier is invalid_request",
    arguments: [
      "short", String(repeating: "a", count: 129), Fixture.verifier + "=", String(Fixture.verifier.dropLast()) + "+",
    ])
  func malformedVerifier(verifier: String) {
    let outcome = decide(["code_verifier": verifier])
    #expect(outcome.rejection == .verifierMalformed)
    #expect(outcome.refusal?.errorCode == .invalidRequest)
  }

  @Test("Lenient syntax accepts a padded verifier and compares it with its padding")
  func lenientVerifier() {
    let lenient = Fixture.policy { $0.pkceSyntax = .lenient }
    #expect(Fixture.redeem(["code_verifier": Fixture.verifier + "="], policy: lenient)?.rejection == .verifierMismatch)
  }

  @Test(
    "I-token, 7636-4.5-missing-verifier: a code that is bound to a challenge is refused without a verifier",
    arguments: [nil, ""] as [String?])
  func missingVerifier(verifier: String?) {
    let outcome = Fixture.redeem(["code_verifier": verifier])
    #expect(outcome?.rejection == .verifierMissing)
    #expect(outcome?.refusal?.errorCode == .invalidRequest)
  }

  @Test(
    "I-token, 7636-4.6-mismatch, 7636-7.2-no-fallback: a wrong verifier is invalid_grant",
    arguments: ["dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl", Fixture.challenge])
  func wrongVerifier(verifier: String) {
    let outcome = Fixture.redeem(["code_verifier": verifier, "code_challenge_method": "plain"])
    #expect(outcome?.rejection == .verifierMismatch)
    #expect(outcome?.refusal?.errorCode == .invalidGrant)
  }

  @Test("7636-4.6-plain: a plain challenge matches only the equal verifier")
  func plain() {
    var code = Fixture.code
    code.challenge = CodeChallenge(text: Fixture.verifier, method: .plain)
    #expect(Fixture.redeem(code: code)?.permit != nil)
    #expect(Fixture.redeem(["code_verifier": Fixture.challenge], code: code)?.rejection == .verifierMismatch)
  }

  @Test("I-token, 9700-4.8.2-downgrade: a verifier for a code without a challenge is refused")
  func surplusVerifier() {
    var code = Fixture.code
    code.challenge = nil
    let outcome = Fixture.redeem(code: code)
    #expect(outcome?.rejection == .unexpectedVerifier)
    #expect(outcome?.refusal?.errorCode == .invalidRequest)
  }

  @Test("9700-2.1.1-enforce-any: a confidential client that sent a challenge must send the verifier too")
  func confidentialVerifier() {
    var code = Fixture.code
    code.clientID = ClientID("w1")
    code.upstreamClientID = ClientID("legacy-w1")
    code.redirectURI = Fixture.uri("https://web.example.com/cb?x=1")
    let changes: [String: String?] = [
      "client_id": "w1", "client_secret": "w1secret", "redirect_uri": "https://web.example.com/cb?x=1",
      "code_verifier": nil,
    ]
    #expect(Fixture.redeem(changes, code: code)?.rejection == .verifierMissing)
    code.challenge = nil
    #expect(Fixture.redeem(changes, code: code)?.permit?.upstream.authorization != nil)
  }

  @Test("6749-4.1.3-client-binding, 7636-4.6-continue: only the client that a code was issued to can redeem it")
  func clientBinding() {
    let outcome = Fixture.redeem(["client_id": "n2"])
    #expect(outcome?.rejection == .codeIssuedToOtherClient)
    #expect(outcome?.refusal?.errorCode == .invalidGrant)
  }

  @Test(
    "6749-4.1.3-redirect-equal: redirect_uri must be repeated exactly, including the port",
    arguments: ["http://127.0.0.1/cb", "http://127.0.0.1:51005/cb", nil, ""] as [String?])
  func redirectURI(uri: String?) {
    var code = Fixture.code
    code.redirectURI = Fixture.uri("http://127.0.0.1:51004/cb")
    #expect(Fixture.redeem(["redirect_uri": uri], code: code)?.rejection == .codeRedirectURIMismatch)
    #expect(Fixture.redeem(["redirect_uri": "http://127.0.0.1:51004/cb"], code: code)?.permit != nil)
  }

  @Test("A redirect_uri that the authorization request omitted may be absent, but is compared if it is present")
  func redirectURINotSent() {
    var code = Fixture.code
    code.redirectURIWasSent = false
    #expect(Fixture.redeem(["redirect_uri": nil], code: code)?.permit != nil)
    #expect(Fixture.redeem(code: code)?.permit != nil)
    #expect(Fixture.redeem(["redirect_uri": "com.example.app:/x"], code: code)?.rejection == .codeRedirectURIMismatch)
  }

  @Test("6749-4.1.2-lifetime: a code is invalid_grant from the second in which it expires")
  func expiry() {
    #expect(Fixture.redeem(now: Fixture.now + 59)?.permit != nil)
    #expect(Fixture.redeem(now: Fixture.code.expiry)?.rejection == .codeExpired)
  }

  @Test("7636-4.4-unbound-code: an unsealed code is refused, and a code under an unknown key is answered with 503")
  func unsealed() {
    #expect(Fixture.redeem(opened: .invalid)?.refusal?.errorCode == .invalidGrant)
    let unknownKey = Fixture.redeem(opened: .keyUnknown)
    #expect(unknownKey?.rejection?.status == 503)
    #expect(unknownKey?.refusal?.errorCode == .temporarilyUnavailable)
  }

  @Test("A token that looks sealed under an unknown key goes upstream if the gateway seals no tokens for the client")
  func unknownKey() {
    #expect(refresh(["client_id": "w3", "client_secret": "own"], opened: .keyUnknown)?.permit?.grant == nil)
    #expect(refresh(["client_id": "w3", "client_secret": "own"], opened: .keyUnknown)?.permit != nil)
  }

  @Test("7009-2.2: a revocation request for a token that the gateway cannot open passes")
  func foreignRevocation() {
    for opened in [Opened<RefreshGrant>.invalid] {
      let request = Fixture.tokenRequest(["token": "AQforeign"])
      #expect(Enforcement.decideRevocation(request, opened: opened, policy: Fixture.policy()).isPassed)
    }
  }

  @Test("A code is refused if the client's upstream id has changed since")
  func outdated() {
    let policy = Fixture.policy { $0.upstream.clientID = ClientID("other") }
    #expect(Fixture.redeem(policy: policy)?.rejection == .codeOutdated)
  }

  @Test("I-observe: in observe mode a token request passes in any form, and each refusal is a finding")
  func observeMode() {
    let observe = Fixture.policy(mode: .observe)
    #expect(decide(policy: observe).isPassed)
    let password = decide(["grant_type": "password"], policy: observe)
    #expect(password.isPassed)
    #expect(password.findings == [.wouldReject(.passwordGrant)])
    let repeated = decide(adding: "&code=x", policy: observe)
    #expect(repeated.isPassed)
    #expect(repeated.findings.contains(.wouldReject(.parameterRepeated)))
    #expect(decide(["client_id": nil], policy: observe).isPassed)
  }

  @Test("I-observe: a request with a value that the gateway sealed is enforced in every mode")
  func sealedValueInObserveMode() {
    let observe = Fixture.policy(mode: .observe)
    func decideSealed(
      _ changes: [String: String?] = [:], adding: String = ""
    ) -> DecisionWithFindings<CheckedTokenRequest> {
      Enforcement.decideToken(
        Fixture.tokenRequest(changes, adding: adding), policy: observe, holdsSealedValue: true)
    }
    #expect(decideSealed(adding: "&code=x").rejection == .parameterRepeated)
    #expect(decideSealed(["client_id": "nobody"]).rejection == .clientNotKnownAtToken)
    guard case .redeem(let intent) = decideSealed(["code_verifier": Fixture.challenge]).permit else {
      Issue.record("no redemption")
      return
    }
    let outcome = Enforcement.decideRedemption(
      intent, opened: .value(Fixture.code), policy: observe, now: Fixture.now)
    #expect(outcome.rejection == .verifierMismatch)
  }

  @Test("I-credentials: a request without a proof of the client gets no held credentials")
  func unproven() throws {
    var code = Fixture.code
    code.challenge = nil
    #expect(Fixture.redeem(["code_verifier": nil], code: code)?.rejection == .clientUnauthenticated)
    let policy = Fixture.policy { $0.pkce = .optional }
    let unproven = try #require(Fixture.redeem(["code_verifier": nil], code: code, policy: policy)?.permit)
    #expect(unproven.upstream.authorization == nil)
    #expect(body(unproven.upstream)["client_id"] == "legacy-n1")
  }

  private func refresh(
    _ changes: [String: String?] = [:], grant: RefreshGrant? = nil, opened: Opened<RefreshGrant>? = nil,
    policy: Policy = Fixture.policy(), now: UnixTime = 0
  ) -> DecisionWithFindings<RefreshPermit>? {
    var all: [String: String?] = [
      "grant_type": "refresh_token", "refresh_token": "sealed", "code": nil, "redirect_uri": nil, "code_verifier": nil,
    ]
    for (name, value) in changes { all[name] = value }
    guard case .refresh(let intent) = decide(all, policy: policy).permit else { return nil }
    let standard = RefreshGrant(
      family: Fixture.transactionID, generation: 0, epoch: .none,
      binding: ClientBinding(
        clientID: ClientID("n1"), scope: Scope(parsing: "read write"), upstreamClientID: ClientID("legacy-n1")),
      upstreamRefreshToken: Secret("upstream-refresh"), issuedAt: 0)
    return Enforcement.decideRefresh(
      intent, opened: opened ?? .value(grant ?? standard), policy: policy, now: now)
  }

  @Test("6749-6-refresh-binding: a refresh token works only for its client, and its scope can only narrow")
  func refreshBinding() throws {
    let permit = try #require(refresh(["scope": "read"])?.permit)
    #expect(
      body(permit.upstream) == ["grant_type": "refresh_token", "refresh_token": "upstream-refresh", "scope": "read"])
    #expect(permit.upstream.authorization != nil)
    #expect(refresh(["client_id": "n2"])?.rejection == .refreshTokenIssuedToOtherClient)
    #expect(refresh(["scope": "read admin"])?.rejection == .refreshScopeWider)
    #expect(refresh(["scope": "read admin"])?.refusal?.errorCode == .invalidScope)
    #expect(
      refresh(policy: Fixture.policy { $0.upstream.clientID = ClientID("x") })?.rejection == .refreshTokenOutdated)
  }

  @Test("9700-4.14.2-idle: a refresh token expires if it is not used for `refresh_idle`")
  func refreshIdle() throws {
    let policy = Fixture.policy { $0.refreshIdle = 3_600 }
    #expect(refresh(policy: policy, now: 3_599)?.permit != nil)
    #expect(refresh(policy: policy, now: 3_600)?.rejection == .refreshTokenExpired)
    #expect(Rejection.refreshTokenExpired.errorCode == .invalidGrant)
  }

  @Test("9700-2.2.2-refresh-rotation: refresh tokens of public clients rotate, those of confidential clients do not")
  func rotation() throws {
    #expect(try #require(refresh()?.permit).rotates)
    let web = try #require(refresh(["client_id": "w3", "client_secret": "own"], opened: .invalid)?.permit)
    #expect(!web.rotates)
    let form = try #require(refresh()?.permit).revocation(of: Secret("upstream-access"), hint: .accessToken)
    #expect(body(form) == ["token": "upstream-access", "token_type_hint": "access_token"])
    #expect(form.usesGatewayCredentials)
  }

  @Test("I-credentials: a raw refresh token gets held credentials only until a date, and if the app sends none")
  func rawRefresh() throws {
    #expect(refresh(opened: .invalid)?.rejection == .refreshTokenNotSealed)
    let elsewhere = Fixture.policy { $0.rawRefreshUntil = 1_000 }
    #expect(refresh(opened: .invalid, policy: elsewhere)?.rejection == .refreshTokenNotSealed)
    let itself = Fixture.policy { client in
      client.upstream.clientID = client.id
      client.rawRefreshUntil = 1_000
    }
    #expect(refresh(opened: .invalid, policy: itself, now: 1_000)?.rejection == .refreshTokenNotSealed)
    let permit = try #require(refresh(opened: .invalid, policy: itself, now: 999)?.permit)
    #expect(permit.upstream.usesGatewayCredentials)
    let own = try #require(
      refresh(["client_secret": "in-the-app"], opened: .invalid, policy: itself, now: 999)?.permit)
    #expect(!own.upstream.usesGatewayCredentials && body(own.upstream)["client_secret"] == "in-the-app")
    #expect(permit.isAdopted)
    #expect(body(permit.upstream)["refresh_token"] == "sealed")
    #expect(permit.sealsRefreshToken)
    let web = try #require(refresh(["client_id": "w3", "client_secret": "own"], opened: .invalid)?.permit)
    #expect(body(web.upstream)["client_secret"] == "own")
    #expect(refresh(opened: .keyUnknown)?.rejection?.status == 503)
  }

  @Test("An explanation of a token request names the rule that refused it")
  func explanation() {
    let explained = Enforcement.explainToken(Fixture.tokenRequest(["code": nil]), policy: Fixture.policy())
    #expect(explained.trace.last?.rule == "the parameter that the grant requires is present")
  }
}
