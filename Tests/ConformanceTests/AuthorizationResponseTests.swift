import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// RFC 6749, section 4.1.2, RFC 9207 and RFC 9700: the responses to the app.
@Suite("Authorization responses")
struct AuthorizationResponseTests {
  @Test("9207-2-success, 9207-2-upstream-iss: every code has the gateway's iss, once")
  func issuer() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/authorize" else { return nil }
        let form = Form(decoding: request.query ?? "")
        let answer: Form = ["code": "upstream-code-1", "state": form["state"] ?? "", "iss": "https://legacy.internal"]
        return Response(status: 302, headers: ["Location": answer.added(to: form["redirect_uri"] ?? "")])
      }
      let delivery = try await gateway.walk("p1")
      #expect(delivery.parameters.fields.filter { $0.name == "iss" }.map(\.value) == ["https://gw.example"])
      #expect(delivery.address.contains("iss=https%3A%2F%2Fgw.example"))
      #expect(!delivery.address.contains("legacy.internal") && !delivery.address.contains("upstream-code-1"))
    }
  }

  @Test("6749-4.1.2-state: state is returned unchanged, on success and on error, and is absent if the app sent none")
  func state() async throws {
    try await GatewayFixture.run { gateway in
      let value = "a+b &=%"
      let delivery = try await gateway.walk { $0.set("state", value) }
      #expect(delivery.parameters["state"] == value)
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget {
          $0.set("state", value)
          $0.remove("code_challenge")
        }, error: "invalid_request", state: value)
      let silent = try await gateway.walk { $0.remove("state") }
      #expect(silent.parameters["code"] != nil)
      #expect(silent.parameters["state"] == nil)
    }
  }

  @Test("9700-4.1.3-fragment-reattach: with the setting, redirects to https URIs and no others end in a fragment")
  func fragmentGuard() async throws {
    let policy = try FixturePolicy.with { $0.editAll { $0.fragmentGuard = true } }
    try await GatewayFixture.run(policy) { gateway in
      let address = try await gateway.walk("n1", "https://app.example.com/cb").address
      #expect(address.hasSuffix("&iss=https%3A%2F%2Fgw.example#_"))
      let refused = try await gateway.expectRefused(
        get: gateway.authorizationTarget("w1") { $0.set("response_type", "foo") })
      #expect(refused.location?.hasPrefix("https://web.example.com/cb?x=1&error=") == true)
      #expect(refused.location?.hasSuffix("#_") == true)
      for uri in ["com.example.app:/cb", "http://127.0.0.1:4711/cb"] {
        let error = try await gateway.expectRefused(
          get: gateway.authorizationTarget("n1", uri) { $0.set("response_type", "foo") })
        #expect(error.location?.hasPrefix(uri) == true)
        #expect(error.location?.contains("#") == false)
        let address = try await gateway.walk("n1", uri).address
        #expect(!address.contains("#"))
      }
    }
    try await GatewayFixture.run { gateway in
      let address = try await gateway.walk("n1", "https://app.example.com/cb").address
      #expect(!address.contains("#"))
    }
  }

  @Test("8252-8.9-state: a request without state succeeds and is noted in the log")
  func stateMissing() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk { $0.remove("state") }
      #expect(delivery.parameters["code"] != nil)
      #expect(gateway.logLines.contains { $0.contains("state-missing") })
    }
  }

  @Test("6749-4.1.2.1-private-scheme: a denial reaches the app by redirect", arguments: ["n2", "p1"])
  func denial(client: String) async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk(client, user: DemoUser(answer: .deny))
      #expect(delivery.parameters["error"] == "access_denied")
      #expect(delivery.parameters["state"] == "s1")
      #expect(delivery.parameters["iss"] == "https://gw.example")
      #expect(delivery.parameters["code"] == nil)
    }
  }

  @Test(
    "6749-4.1.2.1-upstream: a failure of the upstream reaches the app as an error",
    arguments: [(500, "server_error"), (502, "server_error"), (503, "temporarily_unavailable")])
  func upstreamFails(status: Int, error: String) async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in Response(status: status) }
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      let form = try response.expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(form["error"] == error)
      #expect(form["state"] == "s1")
    }
  }

  @Test("6749-4.1.2.1-upstream: an upstream that is unreachable or does not respond gives temporarily_unavailable")
  func upstreamGone() async throws {
    try await GatewayFixture.run { gateway in
      await gateway.reload { $0.upstream.responseTimeout = 50 }
      let gate = Gate()
      gateway.upstream.script { _ in
        await gate.pass()
        return nil
      }
      let hanging = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(try hanging.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "temporarily_unavailable")
      await gate.open()
      try await gateway.withReplica(upstream: .dead) { gateway in
        let gone = try await gateway.get(gateway.authorizationTarget("p1"))
        let form = try gone.expectErrorRedirect(to: "com.example.p1:/cb")
        #expect(form["error"] == "temporarily_unavailable")
        #expect(form["state"] == "s1")
      }
    }
  }

  @Test("6749-4.1.2.1-charset: an error description of the upstream reaches the app without forbidden characters")
  func charset() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/authorize" else { return nil }
        let form = Form(decoding: request.query ?? "")
        let answer: Form = [
          "error": "access_denied", "error_description": "no \"quotes\" \\ \u{fc} \r\nSet-Cookie: x=1",
          "error_uri": "javascript:alert(1)", "state": form["state"] ?? "",
        ]
        return Response(status: 302, headers: ["Location": answer.added(to: form["redirect_uri"] ?? "")])
      }
      let delivery = try await gateway.walk("p1")
      #expect(delivery.parameters["error"] == "access_denied")
      let allowed = delivery.parameters["error_description"]?.utf8.allSatisfy {
        (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c
      }
      #expect(allowed ?? true)
      #expect(delivery.parameters["error_uri"]?.hasPrefix("javascript") != true)
    }
  }

  @Test("9110-5.5-ctl, 6749-10.14-sanitise: line ends in a value do not reach a header or a log line")
  func lineEnds() async throws {
    try await GatewayFixture.run { gateway in
      let bare = gateway.authorizationTarget { $0.remove("state") }
      let response = try await gateway.expectRefused(get: bare + "&state=a%0d%0aSet-Cookie:x=1")
      #expect(try response.expectErrorRedirect(to: "com.example.app:/cb")["error"] == "invalid_request")
      #expect(response.location?.contains("state=") == false)
      #expect(!response.headers.fields.contains { $0.value.contains("x=1") })

      let noClient = bare.replacing("client_id=n1", with: "client_id=%3Cscript%3E")
      let page = try await gateway.expectErrorPage(noClient + "&state=%0d%0aX-A:1")
      #expect(!page.text.contains("<script>"))
      #expect(!page.headers.contains("X-A"))
      #expect(gateway.logLines.count == 2)
    }
  }

  @Test("9700-2.6-cors: scripts of other origins cannot read responses of the flow")
  func cors() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in
        Response(
          status: 200, headers: ["Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true"])
      }
      let cookie = try await gateway.transactionCookie()
      for target in [
        gateway.authorizationTarget(), gateway.authorizationTarget("p1"), gateway.authorizationTarget("nobody"),
        "/login",
      ] {
        let response = try await gateway.get(target, ["Origin": "https://x.example", "Cookie": cookie])
        let names = response.headers.fields.map { $0.name.lowercased() }
        #expect(!names.contains { $0.hasPrefix("access-control-") })
      }
    }
  }

  @Test("9700-4.2.4-referrer: no page of the flow sends a referrer to other sites or loads anything from them")
  func referrer() async throws {
    try await GatewayFixture.run { gateway in
      let cookie = try await gateway.transactionCookie()
      for target in [gateway.authorizationTarget(), gateway.authorizationTarget("nobody"), "/login"] {
        let response = try await gateway.get(target, ["Cookie": cookie])
        #expect(["no-referrer", "same-origin"].contains(response.headers["Referrer-Policy"]))
        #expect(!response.text.contains("src=\"http") && !response.text.contains("href=\"http"))
      }
      let own = try await gateway.get(gateway.authorizationTarget())
      #expect(own.headers["Referrer-Policy"] == "no-referrer")
      #expect(own.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
    }
  }

  @Test("9700-4.16-framing: other sites cannot frame a page of the flow, and the upstream's own policy is kept")
  func framing() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/login" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "text/html", "Content-Security-Policy": "script-src 'none'"],
          body: Array("<p>login".utf8))
      }
      let cookie = try await gateway.transactionCookie()
      for target in [
        gateway.authorizationTarget(), gateway.authorizationTarget("nobody"), gateway.authorizationTarget("p1"),
        "/login", "/",
      ] {
        let response = try await gateway.get(target, ["Cookie": cookie])
        if response.status == 302 { continue }
        #expect(response.headers["X-Frame-Options"] == "DENY", "\(target)")
        let policies = response.headers.all("Content-Security-Policy")
        #expect(policies.contains { $0.contains("frame-ancestors 'none'") }, "\(target)")
        if target == "/login" { #expect(policies.contains { $0.contains("script-src 'none'") }) }
      }
    }
  }

  @Test("9700-4.12-no-307: a redirect that would repeat a password on another site becomes 303")
  func redirectStatus() async throws {
    try await GatewayFixture.run { gateway in
      // The POST of the login form re-enters the authorization endpoint in its transaction.
      var browser = gateway.browser(for: "com.example.p1:/cb")
      _ = try await browser.open(gateway.front.at(gateway.authorizationTarget("p1")))
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      for (location, status) in [
        ("https://elsewhere.example/login", 303), ("//elsewhere.example/x", 303), ("/authorize/", 308),
        ("https://gw.example/login/", 308),
      ] {
        gateway.upstream.script { request in
          request.method == "POST" ? Response(status: 308, headers: ["Location": location]) : nil
        }
        let response = try await gateway.post("/authorize", ["username": "a", "password": "b"], ["Cookie": cookie])
        #expect(response.status == status, "\(location)")
      }
    }
  }

  @Test(
    "9700-4.12-no-307: a redirect of another path that would repeat a POST on another site becomes 303",
    arguments: [307, 308])
  func redirectStatusOfPages(status: Int) async throws {
    let elsewhere = [
      "https://elsewhere.example/x", "//elsewhere.example/x", "http://gw.example:81/x", "com.example.x:/",
    ]
    let form = "application/x-www-form-urlencoded"
    let types = [form, form.uppercased() + "; charset=UTF-8", "multipart/form-data; boundary=x", "application/json"]
    try await GatewayFixture.run { gateway in
      let cookie = try await gateway.transactionCookie()
      func post(_ location: String, _ type: String, _ headers: Headers) async throws -> Response {
        gateway.upstream.script { _ in Response(status: status, headers: ["Location": location]) }
        var headers = headers
        headers.append("Content-Type", type)
        return try await gateway.send(
          Request(method: "POST", target: "/login/submit", headers: headers, body: Array("password=p".utf8)))
      }
      for headers: Headers in [[:], ["Cookie": cookie]] {
        for location in elsewhere {
          for type in types {
            let response = try await post(location, type, headers)
            #expect(response.status == 303 && response.location == location, "\(location) \(type)")
            #expect(gateway.logLines.last?.contains("post-to-other-origin") == true)
          }
        }
        for location in ["/next", "https://gw.example/next", "https://gw.example:443/next", "http://gw.example/x"] {
          #expect(try await post(location, form, headers).status == status)
        }
      }
    }
  }

  @Test("9700-4.12-no-307: while clients are observed, only a browser with an enforced sign-in gets another status")
  func redirectStatusObserved() async throws {
    let policy = try FixturePolicy.with { $0.unknownClients = .observe }
    try await GatewayFixture.run(policy) { gateway in
      let cookie = try await gateway.transactionCookie()
      gateway.upstream.script { _ in Response(status: 307, headers: ["Location": "https://elsewhere.example/x"]) }
      for (headers, status) in [([:], 307), (["Cookie": cookie], 303)] as [(Headers, Int)] {
        #expect(try await gateway.post("/login/submit", ["password": "p"], headers).status == status)
        #expect(gateway.logLines.last?.contains("post-to-other-origin") == true)
      }
    }
  }

  @Test("9700-4.12-no-307: the gateway's own redirects are 302, and 303 after a POST")
  func ownRedirects() async throws {
    try await GatewayFixture.run { gateway in
      let whole = Form(decoding: gateway.authorizationTarget { $0.remove("code_challenge") }.split(separator: "?")[1])
      try await expectStatus(302, of: gateway.get(gateway.authorizationTarget { $0.remove("code_challenge") }))
      try await expectStatus(303, of: gateway.post("/authorize", whole))
    }
  }

  @Test("9111-no-cache: redirects and pages of the flow are never stored, and every request is decided again")
  func noCache() async throws {
    try await GatewayFixture.run { gateway in
      for target in [
        gateway.authorizationTarget(), gateway.authorizationTarget { $0.remove("code_challenge") },
        gateway.authorizationTarget("nobody"), gateway.authorizationTarget("p1"),
      ] {
        let response = try await gateway.get(target, ["If-None-Match": "*", "If-Modified-Since": "now"])
        #expect(response.headers["Cache-Control"]?.contains("no-store") == true, "\(target)")
        #expect(response.status != 304)
      }
      let before = gateway.logLines.count
      _ = try await gateway.get(gateway.authorizationTarget())
      _ = try await gateway.get(gateway.authorizationTarget())
      #expect(gateway.logLines.count == before + 2)
    }
  }

  @Test("9700-4.11.2-untrusted-errors: a browser is not redirected to a client that registered itself")
  func untrusted() async throws {
    try await GatewayFixture.run { gateway in
      let uri = "https://dyn.example.net/cb"
      let page = try await gateway.expectErrorPage(gateway.authorizationTarget("d1") { $0.append("scope", "\"") })
      #expect(page.location == nil)
      let silent = try await gateway.expectRefused(
        get: gateway.authorizationTarget("d1") { $0.append("prompt", "none") })
      #expect(silent.location == nil)
      do {
        let delivery = try await gateway.walk("d1", user: DemoUser(answer: .deny))
        Issue.record("the denial bounced to \(delivery.address)")
      } catch let stranded as GatewayFixture.Stranded {
        #expect(stranded.page.html.contains(uri))
      }
      // The operator vouches for n1, so n1 gets the error at once.
      try await gateway.expectErrorRedirect(
        gateway.authorizationTarget { $0.append("scope", "\"") }, error: "invalid_scope")
    }
  }

  @Test("rm-upstream-query: the upstream is asked for a response in the query, whatever the app requested")
  func upstreamMode() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.responseModes = [.query, .fragment] } }) {
      gateway in
      _ = try await gateway.walk { $0.append("response_mode", "fragment") }
      #expect(!gateway.upstreamAuthorizationForms.isEmpty)
      for form in gateway.upstreamAuthorizationForms {
        #expect(form["response_mode"] == nil || form["response_mode"] == "query")
      }
    }
  }

  @Test(
    "rm-upstream-query: an upstream that responds by form_post needs `callback: network`", arguments: [false, true])
  func upstreamFormPost(isNetwork: Bool) async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.upstream.callback = isNetwork ? .atCallback : .inPlace }) {
      gateway in
      gateway.upstream.script { request in
        guard request.path == "/authorize" else { return nil }
        let form = Form(decoding: request.query ?? "")
        return Response(
          status: 200, headers: ["Content-Type": "text/html"],
          body: Array(
            """
            <form method="post" action="\(form["redirect_uri"] ?? "")"><input type="hidden" name="code" value="c0de-of-up">
            <input type="hidden" name="state" value="\(form["state"] ?? "")"><button type="submit">Go</button></form>
            """.utf8))
      }
      if isNetwork {
        let delivery = try await gateway.walk("p1")
        let code = try #require(delivery.parameters["code"])
        #expect(code != "c0de-of-up")
        #expect(delivery.parameters["state"] == "s1")
      } else {
        do {
          let delivery = try await gateway.walk("p1")
          #expect(delivery.parameters["error"] == "server_error")
          #expect(delivery.parameters["code"] == nil)
        } catch let stranded as GatewayFixture.Stranded {
          Issue.record("the app hears nothing: \(stranded)")
        }
      }
    }
  }

  @Test("9110-5.5-ctl: a line end in a location of the upstream adds no header to the gateway's response")
  func upstreamLocation() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        request.path == "/authorize"
          ? Response(status: 302, headers: ["Location": "/login?next=a%0d%0aX-A:1"]) : nil
      }
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(!response.headers.contains("X-A"))
    }
  }
}
