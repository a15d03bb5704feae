import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

/// A server that stores the authorization request in its session and redirects to the client from its login path.
@Suite("I-completion: responses on other paths")
struct PassingAnswerTests {
  private static let callback = "https://gw.example/.proofgate/callback"
  private static let login = "/login/submit"

  /// Begins a transaction at a server that redirects to its login page, and answers every login with a redirect to
  /// `location`, in which STATE is replaced by the transaction's state.
  private func begin(_ gateway: GatewayFixture, answering location: String) async throws -> Begun {
    gateway.upstream.script { request in
      request.path == "/authorize" ? Response(status: 302, headers: ["Location": "/login"]) : nil
    }
    let begun = try await gateway.begin()
    let location = location.replacing("STATE", with: begun.state)
    gateway.upstream.script { request in
      guard request.path.hasPrefix(Self.login) else { return nil }
      return Response(
        status: 303, headers: ["Location": location, "Set-Cookie": "SESSION=2; Path=/"],
        body: Array("<a href=\"\(location)\">on</a>".utf8))
    }
    return begun
  }

  private func logIn(
    _ gateway: GatewayFixture, _ begun: Begun, fields: Form = [:], target: String = login
  ) async throws -> Response {
    var form: Form = ["username": "u", "password": "p"]
    for field in fields.fields { form.append(field.name, field.value) }
    return try await gateway.post(target, form, Headers.cookies([begun.cookie]))
  }

  @Test("I-completion: a response from the login path is completed like one from the authorization endpoint")
  func completed() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      let response = try await logIn(gateway, begun)
      #expect(response.status == 303)
      #expect(response.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      #expect(response.answer["state"] == "s1")
      #expect(response.answer["iss"] == "https://gw.example")
      #expect(response.headers["Set-Cookie"] == "SESSION=2; Path=/; Secure")
      #expect(!response.text.contains("freshCode"))
      let code = try gateway.sealer.open(IssuedCode.self, from: try #require(response.answer["code"]))
      #expect(code.upstreamCode.reveal() == "freshCode0123456")
      let line = try #require(gateway.logLines.last)
      #expect(line.contains(#""endpoint":"response""#) && line.contains(#""decision":"forward""#), "\(line)")
      #expect(line.contains(code.transactionID.description))
    }
  }

  @Test("I-completion: a redirect in answer to a GET is completed too, and a response without a redirect is refused")
  func otherRequests() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      let read = try await gateway.get(Self.login + "?step=2", Headers.cookies([begun.cookie]))
      #expect(read.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      let script = "\(Self.callback)?code=freshCode0123456&state=\(begun.state)"
      gateway.upstream.script { _ in Response(status: 201, headers: ["Location": script]) }
      let created = try await logIn(gateway, begun)
      #expect(created.status == 502)
      #expect(created.location == nil)
    }
  }

  @Test("I-completion: a denial from the login path reaches the app")
  func denied() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?error=access_denied&state=STATE")
      let told = try await logIn(gateway, begun).expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(told["error"] == "access_denied")
      #expect(told["state"] == "s1")
    }
  }

  @Test("I-completion: an error with a state that belongs to no transaction passes unchanged")
  func foreignError() async throws {
    try await GatewayFixture.run { gateway in
      for state in ["s1", "hello", "AQEBAQEBAQ"] {
        let target = "https://web3.example.com/cb?error=access_denied&state=\(state)"
        let begun = try await begin(gateway, answering: target)
        let response = try await logIn(gateway, begun)
        #expect(response.status == 303)
        #expect(response.location == target)
        #expect(response.headers.all("Set-Cookie") == ["SESSION=2; Path=/; Secure"])
      }
    }
  }

  @Test("I-completion: a response on another path that belongs to no transaction is refused, logged and counted")
  func unlisted() async throws {
    try await GatewayFixture.run { gateway in
      for answer in ["code=freshCode0123456", "code=freshCode0123456&state=s1", "access_token=x&state=STATEx"] {
        let begun = try await begin(gateway, answering: "\(Self.callback)?\(answer)")
        for response in [try await logIn(gateway, begun), try await gateway.get(Self.login)] {
          #expect(response.status == 502)
          #expect(response.location == nil)
          #expect(response.text.contains("response-unlisted"))
        }
      }
      let lines = gateway.logLines.filter { $0.contains("response-unlisted") }
      #expect(lines.count == 6)
      #expect(lines.allSatisfy { $0.contains(#""decision":"reject""#) && $0.contains(#""upstream_status":303"#) })
      let counted = gateway.metricsText.split(separator: "\n").first {
        $0.hasPrefix("proofgate_decisions_total") && $0.contains(#"rule="response-unlisted""#)
      }
      #expect(counted?.hasSuffix(" 6") == true, "\(counted ?? "-")")
    }
  }

  @Test(
    "I-completion: a response on another path with a code in a second field is refused",
    arguments: [("Refresh", "0; url="), ("Content-Location", "")],
    ["\(callback)?code=freshCode0123456&state=STATE", "https://web3.example.com/cb?error=access_denied&state=s1"])
  func secondField(_ field: (String, String), _ location: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: location)
      let target = location.replacing("STATE", with: begun.state)
      let second = field.1 + "\(Self.callback)?code=otherCode0123456"
      gateway.upstream.script { request in
        guard request.path.hasPrefix(Self.login) else { return nil }
        return Response(status: 303, headers: ["Location": target, field.0: second])
      }
      let response = try await logIn(gateway, begun)
      #expect(response.status == 502)
      #expect(response.location == nil)
      #expect(!response.headers.fields.contains { $0.value.contains("Code0123456") })
    }
  }

  @Test("I-completion: without the cookie a response on another path is a page that offers to start again")
  func otherBrowser() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      let stranger = try await gateway.begin()
      for cookies in [[], [stranger.cookie]] {
        let response = try await gateway.post(Self.login, ["password": "p"], Headers.cookies(cookies))
        #expect(response.status == 400)
        #expect(response.location == nil)
        #expect(response.text.contains("Start again"))
        #expect(!response.text.contains("freshCode"))
      }
      // The transaction itself is still valid.
      #expect(try await logIn(gateway, begun).location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test(
    "I-completion: a code that the request to another path already contained is refused",
    arguments: ["query", "cookie", "body"])
  func echoed(place: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=stolenCode0123456&state=STATE")
      var cookies = [begun.cookie]
      var target = Self.login
      var body = "password=p"
      switch place {
      case "query": target += "?next=stolenCode0123456"
      case "cookie": cookies.append("next=stolenCode0123456")
      default: body += String(repeating: "&x=y", count: 5_000) + "&next=stolenCode0123456&last=1"
      }
      var headers = Headers.cookies(cookies)
      headers.append("Content-Type", "application/x-www-form-urlencoded")
      let response = try await gateway.send(
        Request(method: "POST", target: target, headers: headers, body: Array(body.utf8)))
      #expect(response.status == 400)
      #expect(response.location == nil)
      #expect(response.text.contains("answer-echoed"))
    }
  }

  @Test(
    "I-completion: a form of 256 KiB completes a sign-in, and one that is too long to be searched for the code does not"
  )
  func longForm() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      let long = try await logIn(gateway, begun, fields: ["x": String(repeating: "y", count: 256 * 1024)])
      #expect(long.location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
    try await GatewayFixture.run(try FixturePolicy.with { $0.gateway.limits.requestCopy = 70_000 }) { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      let response = try await logIn(gateway, begun, fields: ["x": String(repeating: "y", count: 70_000)])
      #expect(response.status == 502)
      #expect(response.text.contains("answer-unchecked"))
      #expect(try await logIn(gateway, begun).location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test(
    "I-completion: a response on another path to any address but the one sent upstream is refused",
    arguments: [
      "https://gw.example/.proofgate/callback/?", "https://GW.example/.proofgate/callback?", "com.example.p1:/cb?",
      "https://other.example/.proofgate/callback?", "http://127.0.0.1:7/cb?", "https://web3.example.com/cb?",
    ])
  func elsewhere(address: String) async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await begin(gateway, answering: "\(address)code=freshCode0123456&state=STATE")
      let response = try await logIn(gateway, begun)
      #expect(response.status == 502)
      #expect(response.location == nil)
      #expect(response.text.contains("answer-elsewhere"))
    }
  }

  @Test("I-completion: with a callback over the network a browser without the cookie is redirected to the callback")
  func network() async throws {
    let policy = try FixturePolicy.with { $0.upstream.callback = .atCallback }
    try await GatewayFixture.run(policy) { gateway in
      let begun = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      let sent = try await gateway.post(Self.login, ["password": "p"])
      #expect(sent.location == "\(Self.callback)?code=freshCode0123456&state=\(begun.state)")
      let path = try #require(sent.location?.dropFirst("https://gw.example".count))
      let finished = try await gateway.get(String(path), Headers.cookies([begun.cookie]))
      #expect(finished.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      // With the cookie the browser does not see the code.
      let inPlace = try await logIn(gateway, begun)
      #expect(inPlace.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      // A redirect to any other address is refused.
      let other = try await begin(gateway, answering: "https://web3.example.com/cb?code=otherCode0123456&state=STATE")
      #expect(try await gateway.post(Self.login, ["password": "p"]).location == nil)
      #expect(try await logIn(gateway, other).location == nil)
    }
  }

  @Test("I-browser: the log reports a sign-in that ends with another site's form, whose POST carries no Lax cookie")
  func crossSitePost() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await begin(gateway, answering: "\(Self.callback)?code=freshCode0123456&state=STATE")
      for site in ["cross-site", "same-origin"] {
        let response = try await gateway.post(Self.login, ["SAMLResponse": "x"], ["Sec-Fetch-Site": site])
        #expect(response.text.contains("Start again"))
      }
      #expect(gateway.logLines.filter { $0.contains("cross-site-post") && $0.contains("browser-unbound") }.count == 1)
    }
  }

  @Test("I-browser: with cross_site_login the cookie is SameSite=None, and the consent form needs the gateway's origin")
  func crossSiteLogin() async throws {
    let policy = try FixturePolicy.with { $0.upstream.crossSiteLogin = true }
    try await GatewayFixture.run(policy) { gateway in
      let page = try await gateway.get(gateway.authorizationTarget("n2"))
      let cookie = try #require(page.headers["Set-Cookie"])
      #expect(cookie.contains("SameSite=None") && cookie.contains("Secure"))
      let own = try #require(page.ownCookie)
      let token = try #require(page.text.firstMatch(of: /name="consent_token" value="([^"]+)"/)?.1)
      let form: Form = ["consent_token": String(token), "decision": "approve"]
      for origin: Headers in [
        [:], ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "same-site"],
        ["Sec-Fetch-Site": "cross-site", "Origin": "https://gw.example"],
      ] {
        var headers = origin
        headers.append("Cookie", own)
        #expect(try await gateway.post("/.proofgate/consent", form, headers).status == 403)
      }
      for origin: Headers in [["Origin": "https://gw.example"], ["Sec-Fetch-Site": "same-origin"]] {
        var headers = origin
        headers.append("Cookie", own)
        #expect(try await gateway.post("/.proofgate/consent", form, headers).status == 303)
      }
    }
  }
}
