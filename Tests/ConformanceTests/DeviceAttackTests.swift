import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

/// Attacks on the device grant of the gateway: phishing, guessed codes, moved links and forms, and a store that fails.
@Suite("Attacks on device flows")
struct DeviceAttackTests {
  /// Types a code without following the redirect. Returns the response.
  private func enter(_ code: String, at gateway: GatewayFixture, cookie: String?) async throws -> Response {
    let page = try await gateway.get("/device", Headers.with(cookie: cookie))
    var form = try #require(HTMLForm.forms(in: page.text).first).submission()
    form.remove("user_code")
    form.append("user_code", code)
    return try await gateway.post("/device", form, Headers.with(cookie: cookie ?? page.ownCookie))
  }

  @Test("The link of a sign-in that another browser began leads to no confirmation, and the flow stays open")
  func movedSignIn() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      let entered = try await enter(started.userCode, at: gateway, cookie: nil)
      let target = try #require(entered.location, "\(entered.status) \(entered.text)")
      #expect(target.hasPrefix("/authorize?"))
      var victim = gateway.browser()
      let page = try await victim.page(at: gateway.front.at(target))
      #expect(page.status >= 400, "\(page.text)")
      #expect(page.forms.allSatisfy { $0.action != "/device" && $0.names(of: "password").isEmpty })
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
    }
  }

  @Test("Only the body of a form counts: a link with a token and a decision decides nothing")
  func parametersInQuery() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      var form = try #require(page.forms.first).submission()
      form.append("decision", "approve")
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      let target = "/device?" + form.encoded
      try await gateway.expectRefused(post: target, Form(), ["Cookie": cookie], status: 403)
      try await expectStatus(200, of: gateway.get(target, ["Cookie": cookie]))
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      try await expectStatus(200, of: gateway.post("/device", form, ["Cookie": cookie]))
      try await expectStatus(200, of: gateway.poll(started))
    }
  }

  @Test("The token of the first form approves nothing, and a confirmation decides its own flow alone")
  func otherToken() async throws {
    try await GatewayFixture.run { gateway in
      let (first, second) = (try await gateway.startDevice(), try await gateway.startDevice())
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: first, in: &browser)
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      let entry = try #require(HTMLForm.forms(in: try await gateway.get("/device", ["Cookie": cookie]).text).first)
      var forged: Form = ["decision": "approve", "user_code": second.userCode]
      forged.append("device_token", try #require(entry.submission()["device_token"]))
      // The decision is no denial, so the form leads to the sign-in, as with any other button.
      try await expectStatus(303, of: gateway.post("/device", forged, ["Cookie": cookie]))
      for started in [first, second] {
        try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      }
      var form = try #require(page.forms.first).submission()
      form.append("decision", "approve")
      form.append("user_code", second.userCode)
      try await expectStatus(200, of: gateway.post("/device", form, ["Cookie": cookie]))
      try await expectStatus(200, of: gateway.poll(first))
      gateway.clock.advance(by: 6)
      try await gateway.poll(second).expectTokenError(400, "authorization_pending")
    }
  }

  @Test("A replayed confirmation changes nothing after the device has its tokens, or after a denial")
  func replayedConfirmation() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("approve", on: page, in: &browser)
      let tokens = try await gateway.poll(started)
      for decision in ["approve", "deny"] {
        let repeated = try await gateway.decide(decision, on: page, in: &browser)
        #expect(repeated.status == 400)
      }
      try await expectStatus(200, of: gateway.refresh(tokens.refreshToken(), "tv1"))
      let denied = try await gateway.startDevice()
      let other = try await gateway.confirmation(of: denied, in: &browser)
      _ = try await gateway.decide("deny", on: other, in: &browser)
      let approved = try await gateway.decide("approve", on: other, in: &browser)
      #expect(approved.status == 400)
      try await gateway.expectTokenRefusal(gateway.pollForm(denied.deviceCode), "access_denied")
      #expect(gateway.upstreamTokenForms.filter { $0["grant_type"] == "authorization_code" }.count == 1)
    }
  }

  @Test("A flow that expires between the approval and the poll gives no tokens, and neither does a late approval")
  func expiry() async throws {
    try await GatewayFixture.run { gateway in
      let approved = try await gateway.approvedDevice()
      let open = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: open, in: &browser)
      gateway.clock.advance(by: Seconds(approved.lifetime))
      try await gateway.expectTokenRefusal(gateway.pollForm(approved.deviceCode), "expired_token")
      let late = try await gateway.decide("approve", on: page, in: &browser)
      #expect(late.status == 400)
      try await gateway.expectTokenRefusal(gateway.pollForm(open.deviceCode), "expired_token")
      #expect(gateway.upstreamTokenForms.isEmpty)
    }
  }

  @Test("A right code does not restore the attempts of a browser that guesses")
  func ownCodes() async throws {
    try await GatewayFixture.run { gateway in
      var browser = gateway.browser()
      for _ in 0..<5 {
        let page = try await gateway.enter("BCDF-GHJK", in: &browser)
        #expect(page.status == 400)
      }
      let own = try await gateway.startDevice()
      let login = try await gateway.enter(own.userCode, in: &browser)
      #expect(login.status == 200)
      let sixth = try await gateway.enter("BCDF-GHJK", in: &browser)
      #expect(sixth.status == 400)
      let seventh = try await gateway.enter("BCDF-GHJK", in: &browser)
      #expect(seventh.status == 429)
    }
  }

  @Test(
    "A text that is no code costs no look-up",
    arguments: ["", "AEIO-UAEI", "BCDF", String(repeating: "B", count: 5_000), "ＢＣＤＦＧＨＪＫ"])
  func malformedCode(text: String) async throws {
    let store = SpyStore()
    try await GatewayFixture.run(store: store) { gateway in
      let response = try await enter(text, at: gateway, cookie: nil)
      #expect(response.status == 400)
      #expect(store.operationCount(.userCode) == 0)
    }
  }

  @Test("A store that fails ends no flow: each step is refused with 503, and works when the store is back")
  func storeAway() async throws {
    let store = BrittleStore()
    try await GatewayFixture.run(store: store) { gateway in
      func whileAway(_ status: Int = 503, _ step: () async throws -> Response) async throws {
        store.isAway = true
        let response = try await step()
        #expect(response.status == status, "\(response.text)")
        store.isAway = false
      }
      try await whileAway { try await gateway.authorizeDevice() }
      let started = try await gateway.startDevice()
      try await whileAway { try await gateway.poll(started) }
      try await whileAway { try await enter(started.userCode, at: gateway, cookie: nil) }
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      var form = try #require(page.forms.first).submission()
      form.append("decision", "approve")
      let cookie: Headers = ["Cookie": try #require(browser.cookies.field(for: gateway.front))]
      try await whileAway { try await gateway.post("/device", form, cookie) }
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      try await expectStatus(200, of: gateway.post("/device", form, cookie))
      try await whileAway { try await gateway.poll(started) }
      #expect(gateway.upstreamTokenForms.isEmpty)
      let tokens = try await gateway.poll(started)
      #expect(tokens.status == 200, "\(tokens.text)")
      try await whileAway { try await gateway.poll(started) }
      let repeated = try await gateway.poll(started)
      #expect(repeated.text == tokens.text)
      #expect(gateway.upstreamTokenForms.count == 1)
    }
  }

  @Test("A store that fails at the confirmation gives the user a page, and the code of the server stays unused")
  func storeAwayAtConfirmation() async throws {
    let store = BrittleStore()
    try await GatewayFixture.run(store: store) { gateway in
      let started = try await gateway.startDevice()
      gateway.upstream.script { request in
        if request.method == "POST", request.path != "/token" { store.isAway = true }
        return nil
      }
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      #expect(page.status == 503, "\(page.text)")
      #expect(page.forms.allSatisfy { $0.action != "/device" })
      gateway.upstream.script(nil)
      store.isAway = false
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      // The same browser can sign in again.
      let again = try await gateway.confirmation(of: started, in: &browser)
      let decided = try await gateway.decide("approve", on: again, in: &browser)
      #expect(decided.status == 200, "\(decided.text)")
      gateway.clock.advance(by: 6)
      try await expectStatus(200, of: gateway.poll(started))
    }
  }
}

extension Headers {
  /// A request with a cookie; without fields if there is none.
  fileprivate static func with(cookie: String?) -> Headers {
    var headers = Headers()
    if let cookie { headers.append("Cookie", cookie) }
    return headers
  }
}
