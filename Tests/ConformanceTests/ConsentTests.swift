import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

/// RFC 8252, section 8.6, and RFC 6749, section 10.12: the gateway's own consent page.
@Suite("Consent")
struct ConsentTests {
  @Test("8252-8.6-no-auto-approve: consent to an unproven app is requested each time, before a code is issued")
  func everyTime() async throws {
    try await GatewayFixture.run(quirks: .with { $0.remembersConsent = true }) { gateway in
      var browser = gateway.browser(for: "com.example.app2:/cb")
      for _ in 0..<2 {
        let stop = try await browser.open(gateway.front.at(gateway.authorizationTarget("n2")))
        guard case .page(let page) = stop else {
          Issue.record("no page was shown")
          return
        }
        #expect(page.status == 200)
        #expect(page.forms.first?.buttons.count == 2)
        let delivery = try await gateway.walk(&browser, "n2")
        #expect(delivery.parameters["code"] != nil)
      }
    }
  }

  @Test("8252-8.6-prompt-none: prompt=none of an unproven app gets consent_required")
  func silent() async throws {
    try await GatewayFixture.run { gateway in
      var browser = gateway.browser(for: "com.example.app2:/cb")
      _ = try await gateway.walk(&browser, "n2")
      let before = gateway.upstream.recorder.count
      let stop = try await browser.open(
        gateway.front.at(gateway.authorizationTarget("n2") { $0.append("prompt", "none") }))
      guard case .app(let delivery) = stop else {
        Issue.record("a page was shown")
        return
      }
      #expect(delivery.parameters["error"] == "consent_required")
      #expect(delivery.parameters["code"] == nil)
      #expect(gateway.upstream.recorder.count == before)
    }
  }

  @Test("6819-5.2.3.2-consent: the page names the app, its destination and the requested scopes")
  func page() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(
        get: gateway.authorizationTarget("n2") { $0.append("scope", "read mail.send") }, status: 200)
      #expect(response.text.contains("n2"))
      #expect(response.text.contains("com.example.app2"))
      #expect(response.text.contains("mail.send"))
      #expect(response.text.contains("read"))
    }
  }

  @Test(
    "7591-5-self-asserted: a client that registered itself is marked as unverified, and its resources are not loaded")
  func unverified() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(get: gateway.authorizationTarget("d1"), status: 200)
      #expect(response.text.contains("unverified"))
      #expect(!response.text.contains("<img"))
      #expect(response.headers["Content-Security-Policy"]?.contains("img-src") != true)
    }
  }

  @Test("6749-10.12-csrf: an approval without this browser's token is refused")
  func forged() async throws {
    try await GatewayFixture.run { gateway in
      var victim = gateway.browser()
      guard case .page(let page) = try await victim.open(gateway.front.at(gateway.authorizationTarget("n2"))),
        let form = page.forms.first, let approve = form.buttons.first
      else {
        Issue.record("no consent page")
        return
      }
      let whole = form.submission(button: approve)
      let cookie = try #require(victim.cookies.field(for: gateway.front))
      var other = gateway.browser()
      _ = try await other.open(gateway.front.at(gateway.authorizationTarget("n2")))
      let otherCookie = try #require(other.cookies.field(for: gateway.front))

      for (form, cookie) in [
        (whole, nil), (whole, otherCookie), (Form(), cookie),
        (whole.without("token", "ticket", whole.fields[0].name), cookie),
      ] {
        var headers = Headers()
        if let cookie { headers.append("Cookie", cookie) }
        let response = try await gateway.expectRefused(post: "/.proofgate/consent", form, headers, status: 403)
        #expect(response.location == nil)
      }
      let approved = try await gateway.post("/.proofgate/consent", whole, ["Cookie": cookie])
      #expect(approved.status == 303)
    }
  }

  @Test(
    "8252-8.6-no-auto-approve: an approval is for what the page showed; if the policy has changed that, it is shown again",
    arguments: ["scope", "upstream client", "name", "nothing"])
  func changedMeanwhile(_ part: String) async throws {
    try await GatewayFixture.run { gateway in
      var browser = gateway.browser()
      let target = gateway.authorizationTarget("n2") { $0.append("scope", "read") }
      guard case .page(let page) = try await browser.open(gateway.front.at(target)), let form = page.forms.first,
        let approve = form.buttons.first(where: { $0.value == "approve" })
      else {
        Issue.record("no consent page")
        return
      }
      let headers: Headers = ["Cookie": try #require(browser.cookies.field(for: gateway.front))]
      await gateway.reload { policy in
        policy.edit("n2") { client in
          switch part {
          case "scope": client.upstream.scopes = ScopeRules(drop: ["read"], default: ["mail.send"])
          case "upstream client": client.upstream.clientID = ClientID("other")
          case "name": client.name = "Another app"
          default: client.codeLifetime = 30
          }
        }
      }
      let answer = try await gateway.post("/.proofgate/consent", form.submission(button: approve), headers)
      guard part != "nothing" else {
        #expect(answer.status == 303)
        return
      }
      #expect(answer.status == 200 && answer.location == nil, "\(answer.status)")
      if part == "scope" { #expect(answer.text.contains("mail.send")) }
      #expect(gateway.logLines.last?.contains(#""consent-outdated""#) == true)
      let again = try #require(HTMLForm.forms(in: answer.text).first)
      let approval = try #require(again.buttons.first { $0.value == "approve" })
      let approved = try await gateway.post(
        "/.proofgate/consent", again.submission(button: approval), Headers.cookies([try #require(answer.ownCookie)]))
      #expect(approved.status == 303)
      #expect(approved.location?.contains("/authorize?") == true)
    }
  }

  @Test("8252-8.6-https-identity: a claimed https redirect URI replaces consent only if the policy says so")
  func claimedHTTPS() async throws {
    let policy = try FixturePolicy.with { $0.edit("n1") { $0.consent = .unlessClaimedHTTPS } }
    try await GatewayFixture.run(policy, quirks: .with { $0.remembersConsent = true }) { gateway in
      let claimed = "https://app.example.com/cb"
      var browser = gateway.browser(for: claimed)
      _ = try await gateway.walk(&browser, "n1", claimed)
      guard
        case .app(let delivery) = try await browser.open(gateway.front.at(gateway.authorizationTarget("n1", claimed)))
      else {
        Issue.record("the user was asked again")
        return
      }
      #expect(delivery.parameters["code"] != nil)
      for other in ["com.example.app:/cb", "http://127.0.0.1:5000/cb"] {
        guard case .page(let page) = try await browser.open(gateway.front.at(gateway.authorizationTarget("n1", other)))
        else {
          Issue.record("the user was not asked for \(other)")
          return
        }
        #expect(page.forms.first?.action == "/.proofgate/consent")
      }
    }
  }

  @Test("6819-4.4.1.11-exhaustion: unfinished requests take no memory, and earlier flows still complete")
  func exhaustion() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize)
    try await GatewayFixture.run(store: store) { gateway in
      var early = gateway.browser(for: "com.example.p1:/cb")
      let stop = try await early.open(gateway.front.at(gateway.authorizationTarget("p1")))
      guard case .page = stop else { return }
      for _ in 0..<200 {
        try await expectStatus(200, of: gateway.get(gateway.authorizationTarget()))
        _ = try await gateway.get(gateway.authorizationTarget("p1"))
      }
      #expect(store.count == 0)
      let delivery = try await gateway.walk(&early, "p1")
      let code = try #require(delivery.parameters["code"])
      try await expectStatus(200, of: gateway.redeem(code, "p1"))
    }
  }

  @Test("6819-4.4.1.11-exhaustion: in a store full of states, flows of other addresses begin and earlier ones complete")
  func fullStore() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.state: 3])
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 40 }
    try await GatewayFixture.run(policy, store: store) { gateway in
      var early = gateway.browser(for: "com.example.p1:/cb")
      guard case .page(let login) = try await early.open(gateway.front.at(gateway.authorizationTarget("p1"))) else {
        return
      }
      for address in ["192.0.2.1", "192.0.2.1", "192.0.2.1", "198.51.100.1"] {
        let begun = try await gateway.get(gateway.authorizationTarget("p1"), ["X-Forwarded-For": address])
        #expect(try #require(begun.location).contains("error=") == false)
      }
      #expect(store.usage.contains { $0.kind == .state && $0.evictions == 2 })
      let delivery = try await DemoUser().signIn(in: &early, from: login.address)
      guard case .app(let answer) = delivery else {
        Issue.record("the earlier flow did not complete")
        return
      }
      #expect(answer.parameters["code"] != nil)
    }
  }
}
