import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

@Suite("I-completion")
struct CompletionTests {
  private static let callback = "https://gw.example/.proofgate/callback"

  /// Begins a transaction in a browser that is signed in at the upstream.
  private func started(_ gateway: GatewayFixture, _ client: String = "p1") async throws -> (Begun, cookies: [String]) {
    let session = try await gateway.legacySession()
    let begun = try await gateway.begin(client, cookies: [session])
    return (begun, [begun.cookie, session])
  }

  /// Makes the upstream answer every request at the authorization endpoint with a redirect to `location`.
  private func redirecting(_ gateway: GatewayFixture, to location: String) {
    gateway.upstream.script { request in
      request.path == "/authorize" ? Response(status: 302, headers: ["Location": location]) : nil
    }
  }

  @Test(
    "I-completion: the app gets a sealed code, its own state and iss, at its own redirect URI",
    arguments: [
      ("n1", "com.example.app:/cb"), ("n1", "https://app.example.com/cb"), ("n1", "http://127.0.0.1:49152/cb"),
      ("n1", "http://[::1]:49152/cb"), ("w1", "https://web.example.com/cb?x=1"), ("w3", "https://web3.example.com/cb"),
    ])
  func answers(client: String, redirectURI: String) async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk(client, redirectURI)
      let separator = redirectURI.contains("?") ? "&" : "?"
      #expect(delivery.address.hasPrefix("\(redirectURI)\(separator)code="))
      #expect(delivery.parameters["state"] == "s1")
      #expect(delivery.parameters["iss"] == "https://gw.example")
      let code = try gateway.sealer.open(IssuedCode.self, from: try #require(delivery.parameters["code"]))
      #expect(code.clientID == ClientID(client))
      #expect(code.redirectURI.text == redirectURI)
    }
  }

  @Test("I-completion: no browser ever sees a code of the upstream", arguments: ["n1", "p1", "w1", "w3"])
  func rawCodes(client: String) async throws {
    try await GatewayFixture.run { gateway in
      var browser = gateway.browser()
      browser.keepsLog = true
      let delivery = try await gateway.walk(&browser, client)
      let sealed = try #require(delivery.parameters["code"])
      let raw = try gateway.sealer.open(IssuedCode.self, from: sealed).upstreamCode.reveal()
      #expect(raw.count == 40)
      for entry in browser.log {
        #expect(!entry.response.text.contains(raw))
        for field in entry.response.headers.fields { #expect(!field.value.contains(raw), "\(field.name)") }
        #expect(!entry.request.target.contains(raw))
      }
    }
  }

  @Test("I-completion: a request without a redirect URI uses the registered one")
  func omittedRedirectURI() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk("n2") { $0.remove("redirect_uri") }
      let code = try #require(delivery.parameters["code"])
      #expect(delivery.address.hasPrefix("com.example.app2:/cb?"))
      #expect(try await gateway.redeem(code, "n2") { $0.remove("redirect_uri") }.status == 200)
    }
  }

  @Test("I-completion: a denial reaches the app with its state and iss")
  func denial() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      let response = try await gateway.allow(begun, cookies: cookies) { $0.set("confirm", "no") }
      let answer = try response.expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(answer["error"] == "access_denied")
      #expect(answer["state"] == "s1")
      #expect(answer["iss"] == "https://gw.example")
      #expect(answer["code"] == nil)
    }
  }

  @Test("I-completion: an error without a state is completed in place, with the app's state")
  func errorWithoutState() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      redirecting(gateway, to: "\(Self.callback)?error=invalid_scope&error_description=no%20such%20thing")
      for response in [
        try await gateway.get(begun.target, Headers.cookies(cookies)),
        try await gateway.get(gateway.authorizationTarget("p1")),
      ] {
        let answer = try response.expectErrorRedirect(to: "com.example.p1:/cb")
        #expect(answer["error"] == "invalid_scope")
        #expect(answer["state"] == "s1")
      }
      // Without a transaction the gateway does not know which app the error belongs to.
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": "\(Self.callback)?error=invalid_scope"])
      }
      let elsewhere = try await gateway.get("/login", Headers.cookies(cookies))
      #expect(elsewhere.location?.hasPrefix("com.example") != true)
    }
  }

  @Test("I-completion: an unregistered error code becomes server_error, with a clean description")
  func unknownError() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      redirecting(
        gateway, to: "\(Self.callback)?error=E_4711&error_description=bad%22%0athing%C3%A9&state=\(begun.state)")
      let response = try await gateway.get(begun.target, Headers.cookies(cookies))
      let answer = try response.expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(answer["error"] == "server_error")
      #expect(answer["error_description"]?.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 } == true)
    }
  }

  @Test(
    "I-completion: a code that the request already contained is refused as stolen",
    arguments: [
      "code=CODE", "goto=https%3A%2F%2Fgw.example%2F.proofgate%2Fcallback%3Fcode%3DCODE", "x=aCODEb", "x=CODE&y=%zz",
      "x=CODE%zz", "x=%ffCODE",
    ])
  func echoedCode(smuggled: String) async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      let code = "victimsStolenCode0123"
      redirecting(gateway, to: "\(Self.callback)?code=\(code)&state=\(begun.state)")
      let smuggled = smuggled.replacing("CODE", with: code)
      let answers = [
        try await gateway.get(begun.target + "&" + smuggled, Headers.cookies(cookies)),
        try await gateway.send(
          Request(
            method: "POST", target: "/authorize",
            headers: [
              "Cookie": cookies.joined(separator: "; "), "Content-Type": "application/x-www-form-urlencoded",
            ], body: Array((begun.query.encoded + "&" + smuggled).utf8))),
      ]
      for answer in answers {
        #expect(answer.status == 400, "\(answer.location ?? "")")
        #expect(answer.location == nil)
        #expect(answer.text.contains("answer-echoed"))
      }
    }
  }

  @Test("I-completion: a stolen code is recognised if it is encoded twice or contains characters that are encoded")
  func echoedCodeInDisguise() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      redirecting(gateway, to: "\(Self.callback)?code=4%2F0A%2Bvictims%3D%3D&state=\(begun.state)")
      for smuggled in [
        "code=4%2F0A%2Bvictims%3D%3D", "goto=%2Fcb%3Fcode%3D4%252F0A%252Bvictims%253D%253D", "code=4/0A%2bvictims==",
        "x=4/0A+victims==", "goto=%252Fcb%253Fcode%253D4%25252F0A%25252Bvictims%25253D%25253D",
      ] {
        let answer = try await gateway.get(begun.target + "&" + smuggled, Headers.cookies(cookies))
        #expect(answer.status == 400, "\(smuggled)")
        #expect(answer.location == nil)
      }
    }
  }

  @Test(
    "I-completion: a response to any address other than the one sent upstream is refused",
    arguments: [
      "https://gw.example/.proofgate/callback/?", "https://gw.example/.proofgate/callback;x=1?",
      "https://GW.example/.proofgate/callback?", "https://gw.example:443/.proofgate/callback?",
      "https://evil.example/.proofgate/callback?", "http://gw.example/.proofgate/callback?", "com.example.p1:/cb?",
      "https://gw.example/.proofgate%2Fcallback?", "https://gw.example/.proofgate/callbackx?",
    ])
  func elsewhere(address: String) async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      redirecting(gateway, to: "\(address)code=freshCode0123456&state=\(begun.state)")
      let response = try await gateway.get(begun.target, Headers.cookies(cookies))
      #expect(response.status == 502)
      #expect(response.location == nil)
    }
  }

  @Test(
    "I-completion: a code without a state, or with a state that does not open, is refused",
    arguments: [
      "code=freshCode0123456", "code=freshCode0123456&state=s1", "code=freshCode0123456&state=",
      "code=freshCode0123456&state=STATE&state=STATE", "code=freshCode0123456&state=STATEx",
    ])
  func withoutState(answer: String) async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      redirecting(gateway, to: "\(Self.callback)?\(answer.replacing("STATE", with: begun.state))")
      let response = try await gateway.get(begun.target, Headers.cookies(cookies))
      #expect(response.status == 502)
      #expect(response.location == nil)
      #expect(!response.text.contains("freshCode"))
    }
  }

  @Test(
    "I-completion: a response with two codes, a malformed code, or a code and an error becomes server_error",
    arguments: [
      "code=freshCode0123456&code=b&", "code=freshCode0123456&error=access_denied&", "code=%zz&",
    ])
  func contradictions(answer: String) async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      redirecting(gateway, to: "\(Self.callback)?\(answer)state=\(begun.state)")
      let response = try await gateway.get(begun.target, Headers.cookies(cookies))
      #expect(try response.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "server_error")
    }
  }

  @Test("I-completion: a response with the state of another browser's transaction is refused")
  func statesSwapped() async throws {
    try await GatewayFixture.run { gateway in
      let (own, cookies) = try await started(gateway)
      let foreign = try await gateway.begin()
      redirecting(gateway, to: "\(Self.callback)?code=freshCode0123456&state=\(foreign.state)")
      for target in [own.target, gateway.authorizationTarget("p1")] {
        let response = try await gateway.get(target, Headers.cookies(cookies))
        #expect(response.status == 400)
        #expect(response.location == nil)
        #expect(response.text.contains("Start again"))
      }
    }
  }

  @Test("I-completion: in a browser that is signed in and has consented, the first request may already return a code")
  func atOnce() async throws {
    try await GatewayFixture.run(quirks: .with { $0.remembersConsent = true }) { gateway in
      var browser = gateway.browser()
      _ = try await gateway.walk(&browser, "p1")
      let session = try #require(browser.cookies.value(of: "LEGACYSESSION", at: gateway.front))
      // The gateway's cookie is not needed: the response answers the request that began the transaction.
      let response = try await gateway.get(gateway.authorizationTarget("p1"), ["Cookie": "LEGACYSESSION=\(session)"])
      #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      #expect(response.ownCookie != nil)
    }
  }

  @Test("I-completion: cookies that the upstream sets with its response reach the browser")
  func cookiesOfTheAnswer() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      gateway.upstream.script { _ in
        Response(
          status: 302,
          headers: [
            "Location": "\(Self.callback)?code=freshCode0123456&state=\(begun.state)",
            "Set-Cookie": "SESSION=2; Path=/",
            "X-Debug": "code=freshCode0123456",
          ], body: Array("<a href=\"\(Self.callback)?code=freshCode0123456\">here</a>".utf8))
      }
      let response = try await gateway.get(begun.target, Headers.cookies(cookies))
      #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      #expect(response.headers["Set-Cookie"] == "SESSION=2; Path=/; Secure")
      #expect(!response.text.contains("freshCode"))
      #expect(!response.headers.contains("X-Debug"))
      #expect(response.headers["Cache-Control"] == "no-store")
      #expect(response.headers["Referrer-Policy"] == "no-referrer")
    }
  }

  @Test("I-completion: the response uses the mode that the app requested, if the policy allows it")
  func modes() async throws {
    let policy = try FixturePolicy.with {
      $0.edit("w1") { $0.responseModes = [.query, .fragment, .formPost] }
    }
    try await GatewayFixture.run(policy) { gateway in
      let fragment = try await gateway.walk("w1") { $0.append("response_mode", "fragment") }
      #expect(fragment.address.hasPrefix("https://web.example.com/cb?x=1#code="))
      let posted = try await gateway.walk("w1") { $0.append("response_mode", "form_post") }
      #expect(posted.address == "https://web.example.com/cb?x=1")
      #expect(posted.parameters["iss"] == "https://gw.example")
      for delivery in [fragment, posted] {
        let code = try #require(delivery.parameters["code"])
        #expect(try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }.status == 200)
      }
      let denied = try await gateway.walk("w1", user: DemoUser(answer: .deny)) {
        $0.append("response_mode", "form_post")
      }
      #expect(denied.address == "https://web.example.com/cb?x=1")
      #expect(denied.parameters["error"] == "access_denied")
      for request in gateway.upstream.recorder.requests(to: "/authorize") {
        #expect(!request.target.contains("response_mode"))
      }
      let refused = try await gateway.expectRefused(
        get: gateway.authorizationTarget("n2") { $0.append("response_mode", "form_post") })
      #expect(try refused.expectErrorRedirect(to: "com.example.app2:/cb")["error"] == "invalid_request")
    }
  }

  @Test("I-completion: the callback is closed if responses are completed in place")
  func callbackClosed() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      let path = "/.proofgate/callback?code=freshCode0123456&state="
      // The app of a known transaction gets an error, because no other response would reach it.
      let told = try await gateway.expectRefused(get: path + begun.state, Headers.cookies(cookies))
      #expect(try told.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "server_error")
      let stranger = try await gateway.expectRefused(get: path + "unknown", Headers.cookies(cookies), status: 400)
      #expect(stranger.location == nil)
      #expect(stranger.text.contains("callback-closed"))
    }
  }

  @Test("I-completion: with a callback over the network, a form POST and a script's redirect are completed there")
  func network() async throws {
    let policy = try FixturePolicy.with { $0.upstream.callback = .atCallback }
    try await GatewayFixture.run(policy) { gateway in
      for usesPost in [true, false] {
        let (begun, cookies) = try await started(gateway)
        let answer: Form = ["code": "freshCode012345\(usesPost)", "state": begun.state]
        let before = gateway.upstream.recorder.count
        let response =
          usesPost
          ? try await gateway.post("/.proofgate/callback", answer, Headers.cookies(cookies))
          : try await gateway.get(answer.added(to: "/.proofgate/callback"), Headers.cookies(cookies))
        #expect(response.status == (usesPost ? 303 : 302))
        #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
        #expect(gateway.upstream.recorder.count == before)
        // The response is refused in another browser, and if it is in both the query and the body.
        let stranger = try await gateway.expectRefused(get: answer.added(to: "/.proofgate/callback"), status: 400)
        #expect(stranger.location == nil)
        #expect(stranger.text.contains("Start again"))
        let split = try await gateway.expectRefused(
          post: answer.added(to: "/.proofgate/callback"), answer, Headers.cookies(cookies))
        #expect(split.location == nil)
      }
      try await gateway.expectRefused(get: "/.proofgate/callback?code=freshCode0123456", status: 502)
      try await gateway.expectRefused(get: "/.proofgate/callback?code=freshCode0123456&state=s1", status: 502)
      // A redirect that the gateway proxies is still completed in place.
      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
    }
  }

  @Test("I-completion: a Refresh field with a code does not reach the browser")
  func refreshField() async throws {
    try await GatewayFixture.run { gateway in
      let (begun, cookies) = try await started(gateway)
      for value in ["0; url=LOCATION", "0;URL='LOCATION'", "1, LOCATION", "0 url = \"LOCATION\""] {
        gateway.upstream.script { _ in
          let location = "\(Self.callback)?code=freshCode0123456&state=\(begun.state)"
          return Response(status: 200, headers: ["Refresh": value.replacing("LOCATION", with: location)])
        }
        for target in [begun.target, "/login"] {
          let response = try await gateway.get(target, Headers.cookies(cookies))
          #expect(!response.headers.fields.contains { $0.value.contains("freshCode") }, "\(value) \(target)")
        }
      }
    }
  }

  @Test("I-completion: absolute redirects of the upstream do not lead around the gateway")
  func absoluteRedirects() async throws {
    try await GatewayFixture.run(quirks: .with { $0.absoluteRedirects = true }) { gateway in
      let begun = try await gateway.begin()
      #expect(begun.response.location?.hasPrefix("https://gw.example/login?next=") == true)
      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
    }
  }
}
