import ByteText
import OAuth
import Policy
import Testing

@testable import Enforcement

@Suite("Token requests")
struct TokenTests {
  static let basicW1 = "Basic " + Base64.encode(Array("w1:w1secret".utf8))

  func decide(
    _ changes: [String: String?] = [:], adding: String = "", authorization: [String] = [],
    policy: Policy = Fixture.policy()
  ) -> DecisionWithFindings<CheckedTokenRequest> {
    Enforcement.decideToken(
      Fixture.tokenRequest(changes, adding: adding, authorization: authorization), policy: policy)
  }

  func body(_ request: UpstreamTokenRequest?) -> [String: String] {
    let entries = FormParameters(parsing: request?.body.reveal() ?? "")?.entries ?? []
    return Dictionary(entries.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }

  @Test(
    "8252-8.5-no-secret, I-credentials: a code of a public client is redeemed upstream with the gateway's credentials")
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
    #expect(permit.claimID == TransactionID(ofClaimOn: Fixture.code.digest))
    #expect(permit.family == TransactionID(ofLoginWith: Fixture.code.digest, in: Fixture.transactionID))
  }

  @Test("The credentials go in the body if the policy says so, and without a secret only the client id is sent")
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

  @Test("A code is redeemed upstream with the gateway's verifier, and with no other verifier")
  func upstreamVerifier() throws {
    var code = Fixture.code
    for policy in [Fixture.policy(), Fixture.policy(usesPKCE: true)] {
      let without = try #require(Fixture.redeem(policy: policy)?.permit)
      #expect(body(without.upstream)["code_verifier"] == nil)
      code.upstreamVerifier = Fixture.verifierOfGateway
      let permit = try #require(Fixture.redeem(code: code, policy: policy)?.permit)
      #expect(body(permit.upstream)["code_verifier"] == Fixture.verifierOfGateway.secret.reveal())
      #expect(permit.upstream.hiddenTexts.contains { $0.reveal() == Fixture.verifierOfGateway.secret.reveal() })
    }
  }

  @Test("6749-3.2-post: methods other than POST are refused", arguments: ["GET", "PUT", "post"])
  func method(method: String) {
    let outcome = Enforcement.decideToken(Fixture.tokenRequest(method: method), policy: Fixture.policy())
    #expect(outcome.rejection == .methodNotAllowed)
  }

  @Test(
    "6749-3.2-content-type: a body that is not a form is refused",
    arguments: [
      [], ["application/json"], ["multipart/form-data; boundary=x"],
      ["application/x-www-form-urlencoded", "text/plain"],
      ["application/x-www-form-urlencoded; charset=utf-16"], ["application/x-www-form-urlencodedx"],
    ])
  func contentType(types: [String]) {
    let outcome = Enforcement.decideToken(Fixture.tokenRequest(contentTypes: types), policy: Fixture.policy())
    #expect(outcome.rejection == .bodyNotForm)
  }

  @Test("6749-3.2-content-type: the letter case of the content type does not matter, and charset=UTF-8 is accepted")
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
    "6749-3.2-dup: a repeated parameter is refused, even if the values are equal",
    arguments: ["code_verifier=\(Fixture.verifier)", "client_id=n2", "code=x", "grant_type=refresh_token"])
  func repeated(adding: String) {
    #expect(decide(adding: "&" + adding).rejection == .parameterRepeated)
  }

  @Test("A second spelling, a malformed name and a malformed value are refused")
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

  @Test("Unknown clients and the gateway's own upstream client id are refused")
  func unknownClient() {
    #expect(decide(["client_id": "nobody"]).rejection == .clientNotKnownAtToken)
    let observe = Fixture.policy(unknown: .observe)
    #expect(decide(["client_id": "nobody"], policy: observe).isPassed)
    #expect(decide(["client_id": "legacy-n1"], policy: observe).rejection == .clientIDOfUpstreamAtToken)
  }

  @Test("6749-2.2-id-not-auth: a confidential client is not authenticated by its id alone")
  func confidentialWithoutSecret() {
    let outcome = decide(["client_id": "w1"])
    #expect(outcome.rejection == .clientUnauthenticated)
    #expect(outcome.refusal?.requiresBasicAuthentication == true)
  }

  @Test("6749-2.3.1-basic, 2.1-2.4.1-post-auth: a secret is accepted in the Basic header and in the body")
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
    #expect(outcome.refusal?.requiresBasicAuthentication == true)
    #expect(decide(["client_id": "w1", "client_secret": "held-w1"]).rejection == .clientAuthenticationFailed)
  }

  @Test("6749-2.3.1-basic-form: client id and secret are form-encoded before base64")
  func formEncodedBasic() {
    #expect(decide(["client_id": nil], authorization: ["Basic d2ViJTNBMjphK2IlMjVj"]).permit != nil)
    let plain = decide(["client_id": nil], authorization: ["Basic d2ViOjI6YSBiJWM="])
    // Without form encoding, a colon ends the id.
    #expect(plain.rejection == .clientNotKnownAtToken)
    #expect(plain.rejection?.errorCode == .invalidClient)
  }

  @Test("6749-2.3-one-method: two authentication methods, two headers or two client ids are refused")
  func severalMethods() {
    #expect(
      decide(["client_id": nil, "client_secret": "w1secret"], authorization: [Self.basicW1]).rejection
        == .multipleAuthenticationMethods)
    #expect(
      decide(["client_id": nil], authorization: [Self.basicW1, Self.basicW1]).rejection
        == .multipleAuthenticationMethods)
    #expect(decide(["client_id": "n1"], authorization: [Self.basicW1]).rejection == .multipleAuthenticationMethods)
    #expect(
      decide(["client_id": "w1", "client_secret": "w1secret", "client_assertion": "x"]).rejection
        == .multipleAuthenticationMethods)
  }

  @Test(
    "Another Authorization scheme and malformed base64 are refused",
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

  @Test("8252-8.5-secret-not-identity: the secret in a public app does not replace the verifier")
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

  @Test("9700-2.4-password, 6749-4.4-public, 6749-5.2-grant-type: a grant that the client may not use is refused")
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

  @Test("I-credentials: client_credentials go upstream only with the credentials that the client sent")
  func clientCredentials() throws {
    let lent = decide(["client_id": "w1", "client_secret": "w1secret", "grant_type": "client_credentials"])
    #expect(lent.rejection == .grantNotAllowed)
    let policy = Fixture.policy { client in
      if client.id.rawValue == "w3" { client.grants.insert(.clientCredentials) }
    }
    let own = decide(
      ["client_id": "w3", "client_secret": "own", "grant_type": "client_credentials", "scope": "a"], policy: policy)
    guard case .sendUpstream(let request, verifiedClient: nil, _) = try #require(own.permit) else {
      Issue.record("client credentials should be forwarded")
      return
    }
    #expect(
      body(request) == ["grant_type": "client_credentials", "scope": "a", "client_id": "w3", "client_secret": "own"])
  }

  @Test("I-credentials: credentials that only the upstream can check go upstream unchanged")
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

  @Test("8628-3.4-params: a request without its code, refresh token or device code is invalid_request")
  func missingParameters() {
    #expect(decide(["code": nil]).rejection == .codeMissing)
    #expect(decide(["grant_type": "refresh_token"]).rejection == .refreshTokenMissing)
    #expect(
      decide([
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "tv1",
      ]).rejection == .deviceCodeMissing)
  }
}
