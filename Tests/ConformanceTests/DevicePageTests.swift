import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// RFC 8628, sections 3.3 and 5: the pages on which a user enters and confirms the code of a device.
@Suite("Device pages")
struct DevicePageTests {
  @Test("8628-3.3-sequence: the page asks for the code, and an approval without a confirmed code changes nothing")
  func sequence() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await browser.page(at: gateway.front.at("/device"))
      #expect(page.status == 200)
      let form = try #require(page.forms.first)
      #expect(form.names(of: "text") == ["user_code"])
      let token = try #require(form.submission()["device_token"])
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      for forged: Form in [
        ["decision": "approve"], ["decision": "approve", "device_token": token],
        ["decision": "approve", "user_code": "BCDF-GHJK", "device_token": token],
      ] {
        let response = try await gateway.expectRefused(post: "/device", forged, ["Cookie": cookie])
        #expect([400, 403].contains(response.status))
        response.expectPage()
      }
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
    }
  }

  @Test("8628-3.3-authenticate: the code leads to the login, and only login and approval end the waiting")
  func authenticate() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let login = try await gateway.enter(started.userCode, in: &browser)
      #expect(login.forms.first?.names(of: "password").isEmpty == false, "\(login.text)")
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      let page = try await gateway.confirmation(of: started, in: &browser)
      gateway.clock.advance(by: 10)
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      #expect(gateway.upstreamTokenForms.isEmpty)
      _ = try await gateway.decide("approve", on: page, in: &browser)
      try await expectStatus(200, of: gateway.poll(started))
    }
  }

  @Test(
    "8628-3.3-approve-deny, 8628-5.4-phishing: the page names app, scope, code and network, and warns of other people's codes"
  )
  func confirmation() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice(["X-Forwarded-For": "203.0.113.9"])
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      #expect(page.response.location == nil)
      for words in [
        "App tv1", "read", started.userCode, "203.0.113.0/24", "less than a minute ago",
        "started this on a device in front of you",
      ] {
        #expect(page.text.contains(words), "\(words): \(page.text)")
      }
      #expect(page.forms.first?.buttons.map(\.value) == ["deny", "approve"])
      let decided = try await gateway.decide("approve", on: page, in: &browser)
      #expect(decided.text.contains("Return to your device"))
    }
  }

  @Test("8628-5.4-phishing: the page names the scope that the server got, also if the app requested none")
  func confirmedScope() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.scopes = ScopeRules(drop: ["read"], default: ["profile", "admin"])
    }
    try await GatewayFixture.run(policy) { gateway in
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: try await gateway.startDevice(), in: &browser)
      #expect(page.text.contains("profile") && page.text.contains("admin"), "\(page.text)")
    }
  }

  @Test("8628-3.5-denied: after a denial on the page the device gets access_denied, and the code is dead")
  func denied() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      let decided = try await gateway.decide("deny", on: page, in: &browser)
      #expect(decided.text.contains("Return to your device"))
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "access_denied")
      let again = try await gateway.enter(started.userCode, in: &browser)
      #expect(again.status == 400)
      #expect(gateway.upstreamTokenForms.isEmpty)
    }
  }

  @Test("8628-3.5-denied: a user who denies at the server has denied the device")
  func deniedUpstream() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser, answer: .deny)
      #expect(page.response.location == nil)
      #expect(page.text.contains("Return to your device"), "\(page.text)")
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "access_denied")
    }
  }

  @Test("8628-5.4-lifetime: a code that was decided is refused, and so is a repeat of the approval")
  func decidedOnce() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("approve", on: page, in: &browser)
      let repeated = try await gateway.decide("approve", on: page, in: &browser)
      #expect(repeated.status == 400)
      #expect(repeated.text.contains("already allowed") && !repeated.text.contains("not connected"))
      let again = try await gateway.enter(started.userCode, in: &browser)
      #expect(again.status == 400)
      try await expectStatus(200, of: gateway.poll(started))
      for decision in ["approve", "deny"] {
        let late = try await gateway.decide(decision, on: page, in: &browser)
        #expect(late.status == 400)
        #expect(late.text.contains("sign out on the device") && !late.text.contains("not connected"), "\(late.text)")
      }
    }
  }

  @Test("A page about a flow that ended says that the device was not connected; without the flow, it does not say so")
  func endedFlow() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("deny", on: page, in: &browser)
      let late = try await gateway.decide("approve", on: page, in: &browser)
      #expect(late.status == 400)
      #expect(late.text.contains("The device was not connected"))
      gateway.clock.advance(by: 3_600)
      let expired = try await gateway.decide("approve", on: page, in: &browser)
      #expect(expired.status == 400)
      #expect(expired.text.contains("You cannot continue here") && !expired.text.contains("not connected"))
    }
  }

  @Test("The approval of a second sign-in ends the flow")
  func secondApproval() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let first = try await gateway.confirmation(of: started, in: &browser)
      let second = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("approve", on: first, in: &browser)
      let refused = try await gateway.decide("approve", on: second, in: &browser)
      #expect(refused.status == 400)
      #expect(refused.text.contains("The device was not connected"))
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "access_denied")
    }
  }

  @Test("A code that one browser has entered is in use for every other browser")
  func inUse() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var first = gateway.browser()
      _ = try await gateway.enter(started.userCode, in: &first)
      var second = gateway.browser()
      let refused = try await gateway.enter(started.userCode, in: &second)
      #expect(refused.status == 409)
      let page = try await gateway.confirmation(of: started, in: &first)
      _ = try await gateway.decide("approve", on: page, in: &first)
      try await expectStatus(200, of: gateway.poll(started))
    }
  }

  @Test("A confirmation from another browser or another site changes nothing")
  func forgedConfirmation() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      let form = try #require(page.forms.first)
      var whole = form.submission()
      whole.append("decision", "approve")
      var other = gateway.browser()
      _ = try await other.page(at: gateway.front.at("/device"))
      let own = try #require(browser.cookies.field(for: gateway.front))
      let foreign = try #require(other.cookies.field(for: gateway.front))
      for headers: Headers in [
        Headers(), ["Cookie": foreign], ["Cookie": own, "Origin": "https://evil.example"],
        ["Cookie": own, "Origin": "null"], ["Cookie": own, "Sec-Fetch-Site": "cross-site"],
      ] {
        try await gateway.expectRefused(post: "/device", whole, headers, status: 403)
      }
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
    }
  }

  @Test("8628-3.3.1-complete: the complete address shows the code to compare, and opening it changes nothing")
  func complete() async throws {
    let policy = try FixturePolicy.with { $0.edit("tv1") { $0.deviceCompleteURI = true } }
    try await GatewayFixture.run(policy) { gateway in
      let started = try await gateway.startDevice()
      let address = try #require(started.verificationURIComplete)
      #expect(address == "https://gw.example/device?user_code=\(started.userCode)")
      let target = String(address.dropFirst("https://gw.example".count))
      var browser = gateway.browser()
      let page = try await browser.page(at: gateway.front.at(target))
      #expect(page.status == 200)
      #expect(page.text.contains(started.userCode))
      #expect(page.text.contains("Compare it with your device"))
      // The Enter key presses the first button, which the page does not show.
      #expect(page.forms.first?.buttons.map(\.value) == ["continue", "deny", "continue"])
      #expect(page.forms.first?.submission()["user_code"] == "")
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      var other = gateway.browser()
      let login = try await gateway.enter(started.userCode, in: &other, target: target)
      #expect(login.forms.first?.names(of: "password").isEmpty == false)
    }
  }

  @Test("8628-5.1-rate-limit: the seventh wrong code of a browser gets 429, and other browsers can enter a right one")
  func rateLimit() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var guessing = gateway.browser()
      for _ in 0..<6 {
        let page = try await gateway.enter("BCDF-GHJK", in: &guessing)
        #expect(page.status == 400)
      }
      let refused = try await gateway.enter(started.userCode, in: &guessing)
      #expect(refused.status == 429)
      #expect(refused.response.headers["Retry-After"] != nil)
      var other = gateway.browser()
      let login = try await gateway.enter(started.userCode, in: &other)
      #expect(login.forms.first?.names(of: "password").isEmpty == false)
    }
  }

  @Test("8628-5.1-rate-limit: browsers that delete their cookies are counted by network, and other networks are not")
  func networkLimit() async throws {
    try await GatewayFixture.run { gateway in
      func attempt(_ number: Int, from network: String, _ code: String) async throws -> Response {
        let address: Headers = ["X-Forwarded-For": "\(network).\(number)"]
        let page = try await gateway.get("/device", address)
        let cookie = try #require(page.ownCookie)
        var form = try #require(HTMLForm.forms(in: page.text).first).submission()
        form.remove("user_code")
        form.append("user_code", code)
        return try await gateway.post("/device", form, address.with("Cookie", cookie))
      }
      var wrong = 0
      for number in 1..<100 {
        if try await attempt(number, from: "192.0.2", "BCDF-GHJK").status == 429 { break }
        wrong += 1
      }
      #expect((30..<60).contains(wrong))
      let started = try await gateway.startDevice()
      try await expectStatus(429, of: attempt(200, from: "192.0.2", started.userCode))
      try await expectStatus(303, of: attempt(1, from: "198.51.100", started.userCode))
    }
  }

  @Test("8628-5.2-device-code: a device code is long, and no page contains it")
  func deviceCode() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      #expect(started.deviceCode.utf8.count >= 22)
      var browser = gateway.browser()
      browser.keepsLog = true
      let page = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("approve", on: page, in: &browser)
      #expect(browser.log.count > 4)
      for (_, _, response) in browser.log {
        #expect(!response.text.contains(started.deviceCode))
        #expect(!(response.location ?? "").contains(started.deviceCode))
      }
    }
  }

  @Test("8628-5.6-public: a device client that sends a secret still needs the approval of a user")
  func publicClient() async throws {
    try await GatewayFixture.run { gateway in
      let basic: Headers = ["Authorization": BasicCredentials(user: "tv1", password: Secret("static")).header.reveal()]
      let started = try await gateway.startDevice(basic) { $0 = ["scope": "read"] }
      let response = try await gateway.post("/token", gateway.pollForm(started.deviceCode), basic)
      response.expectTokenError(400, "authorization_pending")
    }
  }

  @Test("8628-6.1-normalise: lower case, spaces and other characters do not matter", arguments: [" ", "", "--", ". "])
  func normalise(separator: String) async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      let halves = started.userCode.lowercased().split(separator: "-").map(String.init)
      var browser = gateway.browser()
      let login = try await gateway.enter(halves.joined(separator: separator), in: &browser)
      #expect(login.forms.first?.names(of: "password").isEmpty == false, "\(login.text)")
    }
  }

  @Test("Only with device_fresh_login is the server asked for a new login", arguments: [true, false])
  func freshLogin(isFresh: Bool) async throws {
    let policy = try FixturePolicy.with { $0.edit("tv1") { $0.deviceFreshLogin = isFresh } }
    try await GatewayFixture.run(policy) { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      _ = try await gateway.enter(started.userCode, in: &browser)
      let form = try #require(gateway.upstreamAuthorizationForms.first)
      #expect(form["prompt"] == (isFresh ? "login" : nil))
      #expect(form["redirect_uri"] == gateway.policy.callback)
      #expect(form["scope"] == "read")
    }
  }

  @Test("A code that the server no longer accepts at the poll is expired_token")
  func expiredUpstream() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.approvedDevice()
      // A server that does not know the code.
      gateway.upstream.serve(gateway.legacyServer(LegacyQuirks()))
      try await gateway.poll(started).expectTokenError(400, "expired_token")
      try await gateway.poll(started).expectTokenError(400, "invalid_grant")
    }
  }
}

extension Headers {
  fileprivate func with(_ name: String, _ value: String) -> Headers {
    var headers = self
    headers.append(name, value)
    return headers
  }
}
