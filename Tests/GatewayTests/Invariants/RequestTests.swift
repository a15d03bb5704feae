import Cryptography
import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

@Suite("I-request")
struct RequestTests {
  @Test(
    "I-request: a repeated parameter never reaches the upstream",
    arguments: [
      "client_id", "redirect_uri", "state", "scope", "response_type", "code_challenge", "code_challenge_method",
      "nonce",
    ])
  func repeated(name: String) async throws {
    try await GatewayFixture.run { gateway in
      let target = gateway.authorizationTarget("p1") { form in
        let value = form[name] ?? "read"
        if form[name] == nil { form.append(name, value) }
        form.append(name, value)
      }
      let response = try await gateway.expectRefused(get: target)
      guard name != "client_id", name != "redirect_uri" else {
        #expect(response.status == 400)
        #expect(response.location == nil)
        return
      }
      #expect(try response.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "invalid_request")
    }
  }

  @Test("I-request: only resource may repeat, if the policy forwards it")
  func resources() async throws {
    let policy = try FixturePolicy.with { $0.upstream.parameters = ["resource"] }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin { form in
        form.append("resource", "https://a.example/")
        form.append("resource", "https://b.example/")
      }
      #expect(
        begun.query.fields.filter { $0.name == "resource" }.map(\.value) == [
          "https://a.example/", "https://b.example/",
        ])
    }
  }

  @Test(
    "I-request: a second spelling of a parameter is refused",
    arguments: [
      "redirect%5Furi=com.evil:/cb", "Client_ID=x", "client_id[]=x", "redirect_uri%00=x", "+client_id=x", "client.id=x",
    ])
  func secondRepresentation(addition: String) async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(
        get: gateway.authorizationTarget("p1") + "&" + addition, status: 400)
      #expect(response.location == nil)
    }
  }

  @Test("I-request: parameters in both the query and the body are refused")
  func split() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectRefused(
        post: gateway.authorizationTarget("p1"), ["redirect_uri": "com.evil:/cb"], status: 400)
    }
  }

  @Test("I-request: request objects are refused", arguments: ["request", "request_uri"])
  func requestObject(name: String) async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(
        get: gateway.authorizationTarget("p1") { $0.append(name, "https://x.example/") })
      let error = try response.expectErrorRedirect(to: "com.example.p1:/cb")["error"]
      #expect(error == "\(name)_not_supported")
    }
  }

  @Test("I-request: the upstream gets the parsed request, not the client's bytes")
  func reserialised() async throws {
    try await GatewayFixture.run { gateway in
      let target =
        "/authorize?&&scope=%72ead+write&client_id=%701&response_type=%63ode&redirect_uri=com.example.p1:/c%62"
        + "&state=a%26b&unknown=1&code_challenge=\(GatewayFixture.challenge)&code_challenge_method=S256&ui_locales=de"
      let response = try await gateway.get(target, ["X-HTTP-Method-Override": "DELETE"])
      #expect(response.status == 302)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/authorize").first)
      let query = try #require(sent.query)
      let state = try #require(Form(decoding: query)["state"])
      #expect(
        query
          == "response_type=code&client_id=legacy-p1&redirect_uri=https%3A%2F%2Fgw.example%2F.proofgate%2Fcallback"
          + "&scope=read%20write&ui_locales=de&state=\(state)")
      #expect(sent.method == "GET")
      #expect(sent.body.isEmpty)
      #expect(!sent.headers.contains("X-HTTP-Method-Override"))
    }
  }

  @Test("I-request: a POST goes upstream as the equivalent GET")
  func post() async throws {
    try await GatewayFixture.run { gateway in
      let query = try #require(gateway.authorizationTarget("p1").split(separator: "?").last)
      let response = try await gateway.post("/authorize", Form(decoding: query))
      #expect(response.status == 302)
      let sent = try #require(gateway.upstream.recorder.requests.first)
      #expect(sent.method == "GET")
      #expect(sent.body.isEmpty)
      #expect(Form(decoding: sent.query ?? "")["client_id"] == "legacy-p1")
    }
  }

  @Test("I-request: the sealed state contains the transaction and reveals no part of it")
  func sealedState() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin { $0.append("scope", "read write") }
      let transaction = try gateway.transaction(of: begun)
      #expect(transaction.clientID == ClientID("p1"))
      #expect(transaction.redirectURI.text == "com.example.p1:/cb")
      #expect(transaction.redirectURIWasSent)
      #expect(transaction.state == "s1")
      #expect(transaction.challenge?.text == GatewayFixture.challenge)
      #expect(transaction.challenge?.method == .s256)
      #expect(transaction.responseMode == .query)
      #expect(transaction.scope?.text == "read write")
      #expect(transaction.upstreamClientID == ClientID("legacy-p1"))
      #expect(transaction.upstreamRedirectURI == "https://gw.example/.proofgate/callback")
      #expect(transaction.browserSecretHash.count == 32)
      let again = try gateway.transaction(of: try await gateway.begin())
      #expect(again.id != transaction.id)
      #expect(again.browserSecretHash != transaction.browserSecretHash)
      #expect(begun.state.utf8.allSatisfy { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "%") })
      for secret in ["com.example", "legacy", "read", GatewayFixture.challenge] {
        #expect(!begun.state.contains(secret))
      }
    }
  }

  @Test("I-request: the app's PKCE parameters do not go upstream", arguments: [false, true])
  func challengeStays(usesPKCE: Bool) async throws {
    let policy = try FixturePolicy.with { $0.upstream.usesPKCE = usesPKCE }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin()
      #expect((begun.query["code_challenge"] != nil) == usesPKCE)
      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      let form = Form(decoding: String(decoding: sent.body, as: UTF8.self))
      #expect((form["code_verifier"] != nil) == usesPKCE)
      for field in begun.query.fields + form.fields {
        #expect(field.value != GatewayFixture.challenge && field.value != GatewayFixture.verifier, "\(field.name)")
      }
    }
  }

  @Test("I-request: OpenID Connect parameters go upstream, other parameters only if the policy lists them")
  func parameters() async throws {
    // Parameters that the gateway sets itself go upstream once at most, even if the policy lists them.
    let reserved = ["client_id", "code_challenge", "redirect_uri", "response_mode", "response_type", "scope", "state"]
    let policy = try FixturePolicy.with { $0.upstream.parameters = Set(reserved + ["tenant"]) }
    try await GatewayFixture.run(policy) { gateway in
      let forwarded: Form = [
        "nonce": "n-0", "prompt": "login", "max_age": "60", "acr_values": "a b", "login_hint": "al@x",
        "display": "page",
        "id_token_hint": "t", "ui_locales": "de", "claims_locales": "fr", "claims": "{}", "tenant": "blue",
      ]
      let begun = try await gateway.begin { form in
        form.fields += forwarded.fields
        form.append("admin", "1")
      }
      for field in forwarded.fields { #expect(begun.query[field.name] == field.value) }
      #expect(begun.query["admin"] == nil)
      for name in reserved { #expect(begun.query.fields.count { $0.name == name } < 2, "\(name)") }
      #expect(begun.query["code_challenge"] == nil && begun.query["response_mode"] == nil)

      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first)
      let form = Form(decoding: String(decoding: sent.body, as: UTF8.self))
      #expect(form.fields.count { $0.name == "redirect_uri" } == 1)
      #expect(form["client_id"].map { $0 != "p1" } ?? true)
    }
  }

  @Test(
    "I-request: hybrid and implicit response types are refused for every client",
    arguments: ["code token", "code id_token", "code id_token token", "token", "id_token", "id_token token", "none"])
  func responseTypes(type: String) async throws {
    try await GatewayFixture.run { gateway in
      for client in ["p1", "w1"] {
        let response = try await gateway.expectRefused(
          get: gateway.authorizationTarget(client) { $0.set("response_type", type) })
        #expect(response.status == 302)
        #expect(response.location?.contains("error=un") == true)
      }
    }
  }

  @Test("I-request: a client's state that the gateway sealed is refused outside of re-entry")
  func stolenState() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin()
      // The attacker's own request, in a browser without and with the victim's cookie.
      for cookies in [[], [begun.cookie]] {
        let target = gateway.authorizationTarget("n2") { $0.set("state", begun.state) }
        let response = try await gateway.expectRefused(get: target, Headers.cookies(cookies), status: 400)
        #expect(response.location == nil)
      }
    }
  }

  @Test("I-request: an authorization URL may be opened twice, and each time ends with a new code")
  func twice() async throws {
    try await GatewayFixture.run { gateway in
      var browser = gateway.browser()
      let first = try await gateway.walk(&browser, "n1")
      let second = try await gateway.walk(&browser, "n1")
      let codes = [first, second].compactMap { $0.parameters["code"] }
      #expect(Set(codes).count == 2)
      for code in codes { #expect(try await gateway.redeem(code).status == 200) }
    }
  }

  @Test("I-request: the state fits the upstream's limit, as a handle if necessary", arguments: [24, 128, 2048])
  func handles(limit: Int) async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = limit }
    try await GatewayFixture.run(policy, quirks: .with { $0.stateLimit = limit }) { gateway in
      let begun = try await gateway.begin()
      #expect(begun.state.utf8.count <= limit)
      if limit < 256 {
        // A handle is 128 bits in base64url and a marker.
        #expect(begun.state.utf8.count == 23)
      }
      let code = try await gateway.code("n1")
      #expect(try await gateway.redeem(code).status == 200)
      #expect(
        Set(gateway.upstream.recorder.requests(to: "/authorize").compactMap { Form(decoding: $0.query ?? "")["state"] })
          .count == 2)
    }
  }

  @Test("I-request: a guessed handle is refused")
  func unknownHandle() async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await gateway.begin()
      let target = begun.target { $0.set("state", "h" + String(repeating: "A", count: 22)) }
      try await gateway.expectRefused(get: target, Headers.cookies([begun.cookie]), status: 400)
    }
  }
}
