import OAuth
import Policy
import Testing

@testable import Enforcement

@Suite("Authorization requests")
struct AuthorizationTests {
  @Test(
    "8252-6-code-grant, I-request: a valid request goes upstream with the gateway's client id, redirect URI and state")
  func validRequest() throws {
    let permit = try #require(
      Fixture.authorize(["nonce": "n-1", "scope": "openid read", "login_hint": "a&b", "foo": "bar"]).permit)
    #expect(permit.client.id.rawValue == "n1")
    #expect(permit.challenge == CodeChallenge(text: Fixture.challenge, method: .s256))
    #expect(permit.state == "s1")
    #expect(
      permit.upstreamQuery(state: "sealed")
        == "response_type=code&client_id=legacy-n1&redirect_uri=https%3A%2F%2Fgw.example%2F.proofgate%2Fcallback"
        + "&scope=openid%20read&login_hint=a%26b&nonce=n-1&state=sealed")
  }

  @Test(
    "8252-6-pkce-support: one client can use every kind of redirect URI",
    arguments: [
      "com.example.app:/cb", "https://app.example.com/cb", "http://127.0.0.1:51004/cb", "http://[::1]:61023/cb",
    ])
  func everyKind(uri: String) throws {
    let permit = try #require(Fixture.authorize(["redirect_uri": uri]).permit)
    #expect(permit.redirectURI.text == uri)
    #expect(permit.redirectURIWasSent)
  }

  @Test(
    "8252-8.4-exact, 6749-3.1.2.4-no-redirect: an unregistered redirect URI is refused on a page",
    arguments: [
      "com.example.app:/other", "com.example.app:/cb?x=1", "Com.Example.App:/cb", "https://APP.example.com/cb",
      "com.example.app:/%63b", "https://app.example.com:8443/cb", "https://evil.example/", "com.example.app:/cb#",
      "http://127.0.0.1:51004/other", "https://127.0.0.1:5000/cb", "http://127.1:5000/cb", "http://2130706433:5000/cb",
      "http://127.0.0.1:65536/cb", "http://127.0.0.1:80@evil.example/cb", "http://localhost:51004/cb", "not a uri",
    ])
  func mismatch(uri: String) {
    let outcome = Fixture.authorize(["redirect_uri": uri])
    #expect(outcome.isPage)
    #expect(outcome.refusal?.response == nil)
    #expect(outcome.rejection == .redirectURIMismatch || outcome.rejection == .redirectURISyntax)
  }

  @Test("8252-8.4-exact: a redirect URI that only Unicode equivalence makes equal to a registered one is refused")
  func canonicallyEquivalent() {
    let policy = Fixture.policy { $0.redirectURIs = [Fixture.uri("com.example.app:/Kb")] }
    // U+212A (Kelvin sign) decomposes canonically to the letter K, so Swift's `==` calls the two strings equal.
    let sign = "com.example.app:/\u{212A}b"
    #expect(sign == "com.example.app:/Kb")
    #expect(Fixture.authorize(["redirect_uri": sign], policy: policy).rejection == .redirectURISyntax)
    #expect(Fixture.authorize(["redirect_uri": "com.example.app:/Kb"], policy: policy).permit != nil)
  }

  @Test("A mismatch reports the first byte that differs from the nearest registered URI")
  func differingByte() {
    let outcome = Fixture.authorize(["redirect_uri": "com.example.app:/cB"])
    #expect(outcome.refusal?.detail == .differingByte(registeredIndex: 0, offset: 18))
  }

  @Test("The mismatch of a loopback URI is reported after the port, and localhost is reported as another host")
  func differingLoopback() {
    let path = Fixture.authorize(["client_id": "n4", "redirect_uri": "http://127.0.0.1:5000/cx"])
    #expect(path.refusal?.detail == .differingByte(registeredIndex: 0, offset: 23))
    let name = Fixture.authorize(["client_id": "n4", "redirect_uri": "http://localhost:5000/cb"])
    #expect(name.refusal?.detail == .localhost)
  }

  @Test("8252-7.3-no-cross-family: a registered 127.0.0.1 does not match [::1]")
  func noCrossFamily() {
    let outcome = Fixture.authorize(["client_id": "n4", "redirect_uri": "http://[::1]:5000/cb"])
    #expect(outcome.rejection == .redirectURIMismatch)
  }

  @Test("8252-7.3-any-port: a web client may not vary the port")
  func webClientHasNoPortFreedom() {
    let policy = Fixture.policy { client in if client.id.rawValue == "n4" { client.application = .web } }
    let outcome = Fixture.authorize(["client_id": "n4", "redirect_uri": "http://127.0.0.1:5000/cb"], policy: policy)
    #expect(outcome.rejection == .redirectURIMismatch)
  }

  @Test("8252-8.3-localhost, 9700-4.1.3-localhost-word: localhost may vary the port only if the policy allows it")
  func localhost() {
    let changes: [String: String?] = ["client_id": "l1", "redirect_uri": "http://localhost:5000/cb"]
    #expect(Fixture.authorize(changes).rejection == .redirectURIMismatch)
    let anyPort = Fixture.policy { $0.localhost = .anyPort }
    #expect(Fixture.authorize(changes, policy: anyPort).permit != nil)
    let exact = Fixture.authorize(["client_id": "l1", "redirect_uri": "http://localhost/cb"])
    #expect(exact.permit != nil)
    #expect(exact.findings.contains(.note(.localhostRedirect)))
    let reject = Fixture.policy { $0.localhost = .reject }
    #expect(
      Fixture.authorize(["client_id": "l1", "redirect_uri": "http://localhost/cb"], policy: reject).rejection
        == .redirectURILocalhost)
  }

  @Test("6749-3.1.2.3-omitted: the only registered redirect URI may be omitted, unless it is a loopback URI")
  func omitted() throws {
    let permit = try #require(
      Fixture.authorize(["client_id": "n2", "redirect_uri": nil]).permit)
    #expect(permit.redirectURI.text == "com.example.app2:/cb")
    #expect(!permit.redirectURIWasSent)
    #expect(Fixture.authorize(["redirect_uri": nil]).rejection == .redirectURIMissing)
    #expect(Fixture.authorize(["client_id": "n4", "redirect_uri": ""]).rejection == .redirectURIMissing)
  }

  @Test("8628-3.4-no-redirect-clients, 6749-3.1.2.2-required: a device client cannot start an authorization request")
  func deviceClient() {
    #expect(Fixture.authorize(["client_id": "tv1"]).isPage)
    let policy = Fixture.policy { client in
      if client.id.rawValue == "tv1" { client.redirectURIs = [Fixture.uri("com.example.tv:/cb")] }
    }
    let outcome = Fixture.authorize(["client_id": "tv1", "redirect_uri": "com.example.tv:/cb"], policy: policy)
    #expect(outcome.redirected?["error"] == "unauthorized_client")
  }

  @Test("6749-4.1.2.1-client: an absent, malformed or unknown client_id is refused on a page")
  func unknownClient() {
    #expect(Fixture.authorize(["client_id": "nobody"]).rejection == .clientUnknown)
    #expect(Fixture.authorize(["client_id": nil]).rejection == .clientIDMissing)
    #expect(Fixture.authorize(["client_id": "nobody"]).isPage)
    #expect(Fixture.authorize(["client_id": "n\u{212a}"]).rejection == .clientIDMalformed)
  }

  @Test(
    "I-observe: a request with the gateway's own upstream client id is refused, not observed",
    arguments: UnknownClients.allCases)
  func upstreamIdentifier(unknown: UnknownClients) {
    let outcome = Fixture.authorize(["client_id": "legacy-n1"], policy: Fixture.policy(unknown: unknown))
    #expect(outcome.rejection == .clientIDOfUpstream)
  }

  @Test("I-observe: an unknown client passes if the policy says so and every reader finds the same client id")
  func unknownClientsPass() {
    let observe = Fixture.policy(unknown: .observe)
    let outcome = Fixture.authorize(["client_id": "nobody"], policy: observe)
    #expect(outcome.isPassed)
    #expect(outcome.findings == [.wouldReject(.clientUnknown)])
    for addition in ["&client_id=nobody", "&client_id=n1", "&Client_Id=n1", "&client_id[]=n1", "&%ff=1"] {
      #expect(Fixture.authorize(["client_id": "nobody"], adding: addition, policy: observe).refusal != nil)
    }
  }

  @Test(
    "6749-3.1-dup-page: a second client_id or redirect_uri, in any spelling, is refused on a page",
    arguments: [
      "&redirect%5Furi=https%3A%2F%2Fevil.example", "&client_id=n1", "&client%5fid=n2", "&client_id[]=n2",
      "&client.id=n2", "&client+id=n2", "&+client_id=n2", "&client_id%00=n2", "&Client_Id=n2", "&redirect_uri[0]=x",
      "&a=b;client_id=n2", "&amp;client_id=n2", "&client%255Fid=n2", "&?client_id=n2", "&State=x", "&%ZZ=1",
      "&client_id=", "&code_challenge%5B%5D=x",
    ])
  func duplicatedIdentity(adding: String) {
    let outcome = Fixture.authorize(adding: adding)
    #expect(outcome.isPage)
    #expect(outcome.refusal?.response == nil)
  }

  @Test(
    "6749-3.1-dup-redirect: any other repeated parameter is refused by redirect",
    arguments: [
      "code_challenge=X", "scope=a&scope=b", "response_type=code", "nonce=1&nonce=2", "code_challenge_method=S256",
    ])
  func duplicated(adding: String) {
    let outcome = Fixture.authorize(adding: "&" + adding)
    #expect(outcome.rejection == .parameterRepeated)
    #expect(outcome.redirected?["error"] == "invalid_request")
    #expect(outcome.redirected?["state"] == "s1")
  }

  @Test(
    "6749-3.1-dup-redirect: the refusal of a repeated state has no state; resource and unknown parameters may repeat")
  func duplicatedState() {
    let outcome = Fixture.authorize(adding: "&state=s2")
    #expect(outcome.redirected?["error"] == "invalid_request")
    #expect(outcome.redirected?["state"] == nil)
    #expect(
      Fixture.authorize(adding: "&resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example").permit != nil)
    #expect(Fixture.authorize(adding: "&foo=1&foo=2").permit != nil)
  }

  @Test(
    "6749-B-utf8, 9110-5.5-ctl: a value that cannot be decoded, or holds a control character, is refused",
    arguments: ["%FF", "%ZZ", "a%0d%0aSet-Cookie:x=1", "%00"])
  func malformedState(value: String) {
    let outcome = Enforcement.decideAuthorization(
      AuthorizationRequest(method: "GET", query: (Fixture.query(["state": nil]) + "&state=" + value)[...]),
      policy: Fixture.policy(), stateIsSealed: false)
    #expect(outcome.redirected?["error"] == "invalid_request")
    #expect(outcome.redirected?["state"] == nil)
  }

  @Test("6749-B-utf8: a client_id or redirect_uri that cannot be decoded is refused on a page")
  func malformedIdentity() {
    for query in ["client_id=%ZZ&redirect_uri=com.example.app%3A%2Fcb", "client_id=n1&redirect_uri=%FF"] {
      let outcome = Enforcement.decideAuthorization(
        AuthorizationRequest(method: "GET", query: query[...]), policy: Fixture.policy(), stateIsSealed: false)
      #expect(outcome.isPage)
    }
  }

  @Test("6749-3.1-post: the same rules apply to a form in a POST")
  func post() {
    func decide(
      _ body: String, query: Substring? = nil, type: String = "application/x-www-form-urlencoded"
    )
      -> DecisionWithFindings<AuthorizationPermit>
    {
      Enforcement.decideAuthorization(
        AuthorizationRequest(method: "POST", query: query, contentTypes: [type], body: Array(body.utf8)),
        policy: Fixture.policy(), stateIsSealed: false)
    }
    #expect(decide(Fixture.query()).permit != nil)
    #expect(
      decide(Fixture.query(["code_challenge": nil])).redirected?["error_description"] == "code challenge required")
    #expect(decide("{}", type: "application/json").rejection == .bodyNotForm)
    #expect(decide(Fixture.query(), type: "application/x-www-form-urlencoded; charset=utf-7").rejection == .bodyNotForm)
    #expect(decide("redirect_uri=https%3A%2F%2Fevil.example", query: "redirect_uri=a").rejection == .parametersSplit)
    #expect(decide("x=1", query: Fixture.query()[...]).rejection == .parametersSplit)
  }

  @Test("A GET with a body and any method other than GET and POST are refused")
  func methods() {
    func decide(_ method: String, body: [UInt8]) -> Rejection? {
      Enforcement.decideAuthorization(
        AuthorizationRequest(method: method, query: Fixture.query()[...], body: body), policy: Fixture.policy(),
        stateIsSealed: false
      ).rejection
    }
    #expect(decide("GET", body: [0x61]) == .parametersSplit)
    #expect(decide("PUT", body: []) == .methodNotAllowed)
    #expect(decide("get", body: []) == .methodNotAllowed)
    #expect(Rejection.methodNotAllowed.status == 405)
  }

  @Test("A request with too many parameters is refused on a page")
  func flood() {
    let outcome = Fixture.authorize(adding: String(repeating: "&a=b", count: 200))
    #expect(outcome.rejection == .parametersTooMany)
    #expect(outcome.isPage)
  }

  @Test(
    "8252-8.2-implicit: a native client gets unauthorized_client in the fragment",
    arguments: ["token", "id_token", "code token", "token code", "id_token token code"])
  func implicit(type: String) throws {
    let outcome = Fixture.authorize(["response_type": type])
    #expect(outcome.redirected?["error"] == "unauthorized_client")
    let location = try #require(outcome.refusal?.response?.location)
    #expect(location.hasPrefix("com.example.app:/cb#error=unauthorized_client"))
    #expect(location.contains("state=s1"))
  }

  @Test("9700-2.1.2-implicit: a web client gets unsupported_response_type in the fragment")
  func implicitForWeb() throws {
    let outcome = Fixture.authorize([
      "response_type": "token", "client_id": "w1", "redirect_uri": "https://web.example.com/cb?x=1",
    ])
    let location = try #require(outcome.refusal?.response?.location)
    #expect(location.hasPrefix("https://web.example.com/cb?x=1#error=unsupported_response_type"))
  }

  @Test("6749-3.1.1-missing: absent and unknown response types are refused")
  func responseTypes() {
    #expect(Fixture.authorize(["response_type": nil]).redirected?["error"] == "invalid_request")
    #expect(Fixture.authorize(["response_type": "foo"]).redirected?["error"] == "unsupported_response_type")
    #expect(Fixture.authorize(["response_type": "none"]).redirected?["error"] == "unsupported_response_type")
  }

  @Test(
    "rm-2.1-unsupported, 9700-4.17-postmessage: a response mode that is not enabled is refused in the query",
    arguments: ["fragment", "form_post", "web_message", "query.jwt", "Query", "x"])
  func responseModes(mode: String) throws {
    let outcome = Fixture.authorize(["response_mode": mode])
    #expect(outcome.rejection == .responseModeUnsupported)
    #expect(try #require(outcome.refusal?.response?.location).hasPrefix("com.example.app:/cb?error=invalid_request"))
  }

  @Test("rm-form-post: form_post works for web clients and never for a private-use scheme")
  func formPost() throws {
    let policy = Fixture.policy { $0.responseModes = [.query, .formPost] }
    #expect(Fixture.authorize(["response_mode": "form_post"], policy: policy).rejection == .responseModeUnreachable)
    let permit = try #require(
      Fixture.authorize(
        ["client_id": "w1", "redirect_uri": "https://web.example.com/cb?x=1", "response_mode": "form_post"],
        policy: policy
      ).permit)
    #expect(permit.responseMode == .formPost)
    #expect(!permit.upstreamQuery(state: "x").contains("response_mode"))
  }

  @Test("I-consent: `claims` of an unproven app do not go upstream behind the gateway's consent page")
  func claims() throws {
    func forwarded(_ redirectURI: String, _ consent: ConsentOwner) throws -> Bool {
      let policy = Fixture.policy {
        $0.redirectURIs = [Fixture.uri(redirectURI)]
        $0.consent = consent
      }
      let outcome = Fixture.authorize(["claims": "{}", "redirect_uri": redirectURI], policy: policy)
      return try #require(outcome.permit).parameters.contains { $0.parameter == .claims }
    }
    #expect(try !forwarded("com.example.app:/cb", .gateway))
    #expect(try forwarded("https://app.example.com/cb", .gateway))
    #expect(try forwarded("com.example.app:/cb", .upstream))
  }
}
