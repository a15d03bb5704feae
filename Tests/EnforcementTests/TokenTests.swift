import OAuth
import Policy
import Testing

@testable import Enforcement

@Suite("Token requests")
struct TokenTests {
  static let basicW1 = "Basic " + Base64.encode(Array("w1:w1secret".utf8))

  private func decide(
    _ changes: [String: String?] = [:], adding: String = "", authorization: [String] = [],
    policy: Policy = Fixture.policy()
  ) -> Outcome<TokenIntent> {
    Enforcement.decideToken(
      Fixture.tokenRequest(changes, adding: adding, authorization: authorization), policy: policy)
  }

  private func body(_ request: UpstreamTokenRequest?) -> [String: String] {
    let entries = FormParameters(parsing: request?.body.reveal() ?? "")?.entries ?? []
    return Dictionary(entries.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }

  @Test("8252-8.5-no-secret, I-credentials: a public client redeems with the gateway's credentials")
  func publicClient() throws {
    let permit = try #require(Fixture.redeem()?.permit)
    let body = body(permit.upstream)
    #expect(body["code"] == "upstream-code")
    #expect(body["redirect_uri"] == "https://gw.example/.proofgate/callback")
    #expect(body["grant_type"] == "authorization_code")
    #expect(body["client_id"] == nil)
    #expect(body["code_verifier"] == nil)
    let header = try #require(permit.upstream.authorization?.reveal())
    let basic = try BasicCredentials(parsing: header)
    #expect(basic.user == "legacy-n1")
    #expect(basic.password.reveal() == "held-n1")
    #expect(permit.sealsRefreshToken)
    #expect(permit.transactionID == Fixture.transactionID)
  }

  @Test("An upstream that wants its credentials in the body gets them there, and one without a secret an identifier")
  func otherCredentials() throws {
    let post = Fixture.policy { $0.upstream.authentication = .post }
    let permit = try #require(Fixture.redeem(policy: post)?.permit)
    #expect(permit.upstream.authorization == nil)
    #expect(body(permit.upstream)["client_secret"] == "held-n1")
    let none = Fixture.policy { $0.upstream.clientSecret = nil }
    let bare = try #require(Fixture.redeem(["client_secret": "app"], policy: none)?.permit)
    #expect(bare.upstream.authorization == nil)
    #expect(body(bare.upstream)["client_id"] == "legacy-n1")
    #expect(body(bare.upstream)["client_secret"] == nil)
  }

  @Test("PKCE is forwarded to an upstream that understands it")
  func forwardedVerifier() throws {
    let permit = try #require(Fixture.redeem(policy: Fixture.policy(forwardsPKCE: true))?.permit)
    #expect(body(permit.upstream)["code_verifier"] == Fixture.verifier)
  }

  @Test("6749-3.2-post: only POST", arguments: ["GET", "PUT", "post"])
  func method(method: String) {
    let outcome = Enforcement.decideToken(Fixture.tokenRequest(method: method), policy: Fixture.policy())
    #expect(outcome.rejection == .methodNotAllowed)
  }

  @Test(
    "6749-3.2-content-type: other bodies than forms are refused",
    arguments: [
      [], ["application/json"], ["multipart/form-data; boundary=x"],
      ["application/x-www-form-urlencoded", "text/plain"],
      ["application/x-www-form-urlencoded; charset=utf-16"], ["application/x-www-form-urlencodedx"],
    ])
  func contentType(types: [String]) {
    let outcome = Enforcement.decideToken(Fixture.tokenRequest(contentTypes: types), policy: Fixture.policy())
    #expect(outcome.rejection == .bodyType)
  }

  @Test("6749-3.2-content-type: letter case and charset=UTF-8 do not matter")
  func tolerantContentType() {
    let request = Fixture.tokenRequest(contentTypes: ["Application/X-WWW-Form-Urlencoded; charset=UTF-8"])
    #expect(Enforcement.decideToken(request, policy: Fixture.policy()).permit != nil)
  }

  @Test(
    "6749-3.2-query, 6749-2.3.1-uri-secret: parameters in the URI are refused",
    arguments: ["client_secret=w1secret", "code=x", "grant_type=x", "Code=x", "%ZZ"] as [Substring])
  func query(query: Substring) {
    let outcome = Enforcement.decideToken(Fixture.tokenRequest(query: query), policy: Fixture.policy())
    #expect(outcome.rejection == .tokenParametersInQuery)
    let harmless = Enforcement.decideToken(Fixture.tokenRequest(query: "tenant=a"), policy: Fixture.policy())
    #expect(harmless.permit != nil)
  }

  @Test(
    "6749-3.2-dup: a repeated parameter, equal or not, is refused",
    arguments: ["code_verifier=\(Fixture.verifier)", "client_id=n2", "code=x", "grant_type=refresh_token"])
  func repeated(adding: String) {
    #expect(decide(adding: "&" + adding).rejection == .parameterRepeated)
  }

  @Test("A second spelling, a broken name and a broken value are refused")
  func spelling() {
    #expect(decide(adding: "&client_id[]=n2").rejection == .parameterSpelling)
    #expect(decide(adding: "&%FF=1").rejection == .parameterNameMalformed)
    #expect(
      decide(["code_verifier": nil], adding: "&code_verifier=\(Fixture.verifier)%0A").rejection == .parameterMalformed)
  }

  @Test("6749-3.2.1-public-id: a request that names no client is refused with 400 invalid_client")
  func noClient() {
    let outcome = decide(["client_id": nil])
    #expect(outcome.rejection == .clientUnidentified)
    #expect(outcome.refusal?.errorCode == .invalidClient)
    #expect(outcome.rejection?.status == 400)
  }

  @Test("Unknown clients and the gateway's own identifier are refused")
  func unknownClient() {
    #expect(decide(["client_id": "nobody"]).rejection == .clientNotKnownAtToken)
    #expect(decide(["client_id": "nobody"], policy: Fixture.policy(unknown: .pass)).isPassed)
    #expect(decide(["client_id": "legacy-n1"], policy: Fixture.policy(unknown: .pass)).rejection == .clientIsUpstream)
  }

  @Test("6749-2.2-id-not-auth: a confidential client's identifier alone is no proof")
  func confidentialWithoutSecret() {
    let outcome = decide(["client_id": "w1"])
    #expect(outcome.rejection == .clientUnauthenticated)
    #expect(outcome.refusal?.asksForBasic == true)
  }

  @Test("6749-2.3.1-basic, 2.1-2.4.1-post-auth: both ways of sending a secret work")
  func bothMethods() {
    #expect(decide(["client_id": nil], authorization: [Self.basicW1]).permit != nil)
    #expect(decide(["client_id": "w1", "client_secret": "w1secret"]).permit != nil)
  }

  @Test("6749-5.2-401: wrong credentials are answered with 401 and a challenge")
  func wrongSecret() {
    let header = "Basic " + Base64.encode(Array("w1:wrong".utf8))
    let outcome = decide(["client_id": nil], authorization: [header])
    #expect(outcome.rejection == .clientAuthenticationFailed)
    #expect(outcome.rejection?.status == 401)
    #expect(outcome.refusal?.asksForBasic == true)
    #expect(decide(["client_id": "w1", "client_secret": "held-w1"]).rejection == .clientAuthenticationFailed)
  }

  @Test("6749-2.3.1-basic-form: identifier and secret are form-encoded before base64")
  func formEncodedBasic() {
    #expect(decide(["client_id": nil], authorization: ["Basic d2ViJTNBMjphK2IlMjVj"]).permit != nil)
    let plain = decide(["client_id": nil], authorization: ["Basic d2ViOjI6YSBiJWM="])
    #expect(plain.rejection?.errorCode == .invalidClient)
    #expect(plain.rejection?.status == 401)
  }

  @Test("6749-2.3-one-method: two methods, two headers or two identifiers are refused")
  func severalMethods() {
    #expect(
      decide(["client_id": nil, "client_secret": "w1secret"], authorization: [Self.basicW1]).rejection
        == .clientAuthenticationSeveral)
    #expect(
      decide(["client_id": nil], authorization: [Self.basicW1, Self.basicW1]).rejection == .clientAuthenticationSeveral)
    #expect(decide(["client_id": "n1"], authorization: [Self.basicW1]).rejection == .clientAuthenticationSeveral)
    #expect(
      decide(["client_id": "w1", "client_secret": "w1secret", "client_assertion": "x"]).rejection
        == .clientAuthenticationSeveral)
  }

  @Test(
    "Another Authorization scheme and broken base64 are no credentials",
    arguments: ["Bearer x", "Basic !", "Basic", "Basic bjE="])
  func malformedHeader(header: String) {
    #expect(decide(["client_id": nil], authorization: [header]).rejection == .clientAuthenticationMalformed)
  }

  @Test("Basic with an empty secret identifies a public client")
  func identificationByBasic() {
    let header = "Basic " + Base64.encode(Array("n1:".utf8))
    let outcome = decide(["client_id": nil], authorization: [header])
    #expect(outcome.permit?.client?.id.rawValue == "n1")
    #expect(outcome.findings.isEmpty)
  }

  @Test("8252-8.5-secret-not-identity: the secret inside an app replaces no verifier")
  func publicSecret() {
    let changes: [String: String?] = [
      "client_id": "n3", "client_secret": "s3", "redirect_uri": "com.example.app3:/cb",
      "code_verifier": String(repeating: "x", count: 43),
    ]
    #expect(decide(changes).findings == [.note(.publicClientSecret)])
    var code = Fixture.code
    code.clientID = ClientID("n3")
    code.upstreamClientID = ClientID("legacy-n3")
    code.redirectURI = Fixture.uri("com.example.app3:/cb")
    #expect(Fixture.redeem(changes, code: code)?.rejection == .verifierMismatch)
  }

  @Test("9700-2.4-password, 6749-4.4-public, 6749-5.2-grant-type: grants that are not for this client")
  func grants() {
    #expect(
      decide(["grant_type": "password", "username": "u", "password": "p"]).refusal?.errorCode == .unsupportedGrantType)
    #expect(decide(["grant_type": "client_credentials"]).rejection == .clientCredentialsPublic)
    #expect(decide(["grant_type": "urn:x:y"]).refusal?.errorCode == .unsupportedGrantType)
    #expect(decide(["grant_type": nil]).refusal?.errorCode == .invalidRequest)
    #expect(
      decide(["grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "x"]).rejection
        == .grantNotAllowed)
    #expect(decide(["grant_type": "authorization_code", "client_id": "tv1"]).rejection == .grantNotAllowed)
  }

  @Test("I-credentials: client credentials go upstream only as the client's own")
  func clientCredentials() throws {
    let lent = decide(["client_id": "w1", "client_secret": "w1secret", "grant_type": "client_credentials"])
    #expect(lent.rejection == .grantNotAllowed)
    let policy = Fixture.policy { client in
      if client.id.rawValue == "w3" { client.grants.insert(.clientCredentials) }
    }
    let own = decide(
      ["client_id": "w3", "client_secret": "own", "grant_type": "client_credentials", "scope": "a"], policy: policy)
    guard case .forward(let request) = try #require(own.permit) else {
      Issue.record("client credentials should be forwarded")
      return
    }
    #expect(
      body(request) == ["grant_type": "client_credentials", "scope": "a", "client_id": "w3", "client_secret": "own"])
  }

  @Test("I-credentials: credentials that only the upstream can check pass through unchanged")
  func presentedCredentials() throws {
    var code = Fixture.code
    code.clientID = ClientID("w3")
    code.upstreamClientID = ClientID("w3")
    code.redirectURI = Fixture.uri("https://web3.example.com/cb")
    let header = "Basic " + Base64.encode(Array("w3:a%2Bb".utf8))
    let permit = try #require(
      Fixture.redeem(
        ["client_id": nil, "redirect_uri": "https://web3.example.com/cb"], authorization: [header], code: code)?.permit)
    #expect(permit.upstream.authorization?.reveal() == header)
    #expect(body(permit.upstream)["client_id"] == nil)
    #expect(!permit.sealsRefreshToken)
  }

  @Test("8628-3.4-params, missing code and missing refresh token: invalid_request")
  func missingParameters() {
    #expect(decide(["code": nil]).rejection == .codeMissing)
    #expect(decide(["grant_type": "refresh_token"]).rejection == .refreshTokenMissing)
    #expect(
      decide([
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "tv1",
      ]).rejection == .deviceCodeMissing)
  }

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
    "I-token, 7636-4.5-missing-verifier: a code that is bound to a challenge needs its verifier",
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

  @Test("7636-4.6-plain: a plain challenge is the verifier itself")
  func plain() {
    var code = Fixture.code
    code.challenge = CodeChallenge(text: Fixture.verifier, method: .plain)
    #expect(Fixture.redeem(code: code)?.permit != nil)
    #expect(Fixture.redeem(["code_verifier": Fixture.challenge], code: code)?.rejection == .verifierMismatch)
  }

  @Test("I-token, 9700-4.8.2-downgrade: a verifier without a challenge is refused")
  func surplusVerifier() {
    var code = Fixture.code
    code.challenge = nil
    let outcome = Fixture.redeem(code: code)
    #expect(outcome?.rejection == .verifierSurplus)
    #expect(outcome?.refusal?.errorCode == .invalidRequest)
  }

  @Test("9700-2.1.1-enforce-any: a confidential client that sent a challenge needs the verifier too")
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

  @Test("6749-4.1.3-client-binding, 7636-4.6-continue: a code is redeemed by its own client only")
  func clientBinding() {
    let outcome = Fixture.redeem(["client_id": "n2"])
    #expect(outcome?.rejection == .codeForeign)
    #expect(outcome?.refusal?.errorCode == .invalidGrant)
  }

  @Test(
    "6749-4.1.3-redirect-equal: redirect_uri is repeated exactly, port included",
    arguments: ["http://127.0.0.1/cb", "http://127.0.0.1:51005/cb", nil, ""] as [String?])
  func redirectURI(uri: String?) {
    var code = Fixture.code
    code.redirectURI = Fixture.uri("http://127.0.0.1:51004/cb")
    #expect(Fixture.redeem(["redirect_uri": uri], code: code)?.rejection == .codeRedirectURI)
    #expect(Fixture.redeem(["redirect_uri": "http://127.0.0.1:51004/cb"], code: code)?.permit != nil)
  }

  @Test("A redirect_uri that was not sent before may be absent, and is compared when it is not")
  func redirectURINotSent() {
    var code = Fixture.code
    code.redirectURIWasSent = false
    #expect(Fixture.redeem(["redirect_uri": nil], code: code)?.permit != nil)
    #expect(Fixture.redeem(code: code)?.permit != nil)
    #expect(Fixture.redeem(["redirect_uri": "com.example.app:/x"], code: code)?.rejection == .codeRedirectURI)
  }

  @Test("6749-4.1.2-lifetime: an expired code is invalid_grant from the very second")
  func expiry() {
    #expect(Fixture.redeem(now: Fixture.code.expiry - 1)?.permit != nil)
    #expect(Fixture.redeem(now: Fixture.code.expiry)?.rejection == .codeExpired)
  }

  @Test("7636-4.4-unbound-code: what is not sealed is refused, and an unknown key is no fault of the client's")
  func unsealed() {
    #expect(Fixture.redeem(opened: .invalid)?.refusal?.errorCode == .invalidGrant)
    let unknownKey = Fixture.redeem(opened: .keyUnknown)
    #expect(unknownKey?.rejection?.status == 503)
    #expect(unknownKey?.refusal?.errorCode == .temporarilyUnavailable)
  }

  @Test("I-report: a value that only looks sealed by an unknown key is the upstream's business")
  func unknownKeyInReportMode() {
    let report = Fixture.policy(mode: .report)
    let redeemed = Fixture.redeem(opened: .keyUnknown, policy: report)
    #expect(redeemed?.isPassed == true)
    #expect(redeemed?.findings == [.wouldReject(.codeKeyUnknown)])
    #expect(refresh(opened: .keyUnknown, policy: report)?.isPassed == true)
    #expect(refresh(["client_id": "w3", "client_secret": "own"], opened: .keyUnknown)?.permit?.grant == nil)
    #expect(refresh(["client_id": "w3", "client_secret": "own"], opened: .keyUnknown)?.permit != nil)
  }

  @Test("7009-2.2: a token that the gateway cannot open passes to be revoked")
  func foreignRevocation() {
    for opened in [Opened<RefreshGrant>.invalid] {
      let request = Fixture.tokenRequest(["token": "AQforeign"])
      #expect(Enforcement.decideRevocation(request, opened: opened, policy: Fixture.policy()).isPassed)
    }
  }

  @Test("A code is no longer good for credentials that the client lost")
  func outdated() {
    let policy = Fixture.policy { $0.upstream.clientID = ClientID("other") }
    #expect(Fixture.redeem(policy: policy)?.rejection == .codeOutdated)
  }

  @Test("I-report: what was challenged is verified, and held credentials go to the proven only")
  func reportMode() throws {
    let report = Fixture.policy(mode: .report)
    #expect(Fixture.redeem(["code_verifier": Fixture.challenge], policy: report)?.rejection == .verifierMismatch)
    #expect(Fixture.redeem(["code_verifier": nil], policy: report)?.rejection == .verifierMissing)
    #expect(Fixture.redeem(["code_verifier": "short"], policy: report)?.rejection == .verifierMismatch)
    #expect(Fixture.redeem(["client_id": "n2"], policy: report)?.rejection == .codeForeign)
    #expect(Fixture.redeem(opened: .invalid, policy: report)?.isPassed == true)
    #expect(decide(["grant_type": "password"], policy: report).isPassed)
    #expect(decide(adding: "&code=x", policy: report).rejection == .parameterRepeated)
    var code = Fixture.code
    code.challenge = nil
    let unproven = try #require(Fixture.redeem(["code_verifier": nil], code: code, policy: report)?.permit)
    #expect(unproven.upstream.authorization == nil)
    #expect(body(unproven.upstream)["client_id"] == "legacy-n1")
  }

  private func refresh(
    _ changes: [String: String?] = [:], grant: RefreshGrant? = nil, opened: Opened<RefreshGrant>? = nil,
    policy: Policy = Fixture.policy(), now: Int64 = 0
  ) -> Outcome<RefreshPermit>? {
    var all: [String: String?] = [
      "grant_type": "refresh_token", "refresh_token": "sealed", "code": nil, "redirect_uri": nil, "code_verifier": nil,
    ]
    for (name, value) in changes { all[name] = value }
    guard case .refresh(let intent) = decide(all, policy: policy).permit else { return nil }
    let standard = RefreshGrant(
      family: Fixture.transactionID, generation: 0, clientID: ClientID("n1"), scope: Scope(parsing: "read write"),
      upstreamClientID: ClientID("legacy-n1"), upstreamRefreshToken: Secret("upstream-refresh"), issuedAt: 0)
    return Enforcement.decideRefresh(
      intent, opened: opened ?? .value(grant ?? standard), policy: policy, now: now)
  }

  @Test("6749-6-refresh-binding: a refresh token is its client's, and scope only narrows")
  func refreshBinding() throws {
    let permit = try #require(refresh(["scope": "read"])?.permit)
    #expect(
      body(permit.upstream) == ["grant_type": "refresh_token", "refresh_token": "upstream-refresh", "scope": "read"])
    #expect(permit.upstream.authorization != nil)
    #expect(refresh(["client_id": "n2"])?.rejection == .refreshTokenForeign)
    #expect(refresh(["scope": "read admin"])?.rejection == .refreshScopeWider)
    #expect(refresh(["scope": "read admin"])?.refusal?.errorCode == .invalidScope)
    #expect(
      refresh(policy: Fixture.policy { $0.upstream.clientID = ClientID("x") })?.rejection == .refreshTokenOutdated)
  }

  @Test("9700-4.14.2-idle: a refresh token that nobody used for too long has expired")
  func refreshIdle() throws {
    let policy = Fixture.policy { $0.refreshIdle = 3_600 }
    #expect(refresh(policy: policy, now: 3_599)?.permit != nil)
    #expect(refresh(policy: policy, now: 3_600)?.rejection == .refreshTokenExpired)
    #expect(Rejection.refreshTokenExpired.errorCode == .invalidGrant)
  }

  @Test("9700-2.2.2-refresh-rotation: the refresh tokens of public clients are good for one use")
  func rotation() throws {
    #expect(try #require(refresh()?.permit).rotates)
    let web = try #require(refresh(["client_id": "w3", "client_secret": "own"], opened: .invalid)?.permit)
    #expect(!web.rotates)
    let form = try #require(refresh()?.permit).revocation(of: Secret("upstream-access"), hint: .accessToken)
    #expect(body(form) == ["token": "upstream-access", "token_type_hint": "access_token"])
    #expect(form.usesHeldCredentials)
  }

  @Test("I-credentials: the gateway lends no credentials for a raw refresh token")
  func rawRefresh() throws {
    #expect(refresh(opened: .invalid)?.rejection == .refreshTokenUnbound)
    let elsewhere = Fixture.policy { $0.rawRefreshUntil = 1_000 }
    #expect(refresh(opened: .invalid, policy: elsewhere)?.rejection == .refreshTokenUnbound)
    let itself = Fixture.policy { client in
      client.upstream.clientID = client.id
      client.rawRefreshUntil = 1_000
    }
    #expect(refresh(opened: .invalid, policy: itself, now: 1_000)?.rejection == .refreshTokenUnbound)
    let permit = try #require(refresh(opened: .invalid, policy: itself, now: 999)?.permit)
    #expect(permit.upstream.authorization == nil)
    #expect(permit.isFromBeforeTheGateway)
    #expect(body(permit.upstream)["refresh_token"] == "sealed")
    #expect(permit.sealsRefreshToken)
    let web = try #require(refresh(["client_id": "w3", "client_secret": "own"], opened: .invalid)?.permit)
    #expect(body(web.upstream)["client_secret"] == "own")
    #expect(refresh(opened: .keyUnknown)?.rejection?.status == 503)
  }

  @Test("An explanation of a token request names the rules")
  func explanation() {
    let explained = Enforcement.explainToken(Fixture.tokenRequest(["code": nil]), policy: Fixture.policy())
    #expect(explained.trace.last?.rule == "the grant's own parameter is there")
  }
}
