import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("I-consent")
struct ConsentTests {
  /// Opens AZ and returns the form of the consent page and the cookie that the page sets.
  private func asked(
    _ gateway: GatewayFixture, _ client: String = "n1", cookies: [String] = []
  ) async throws -> (form: HTMLForm, cookie: String) {
    let response = try await gateway.expectRefusedNothing(gateway.authorizationTarget(client), cookies)
    let form = try #require(HTMLForm.forms(in: response.text).first)
    return (form, try #require(response.ownCookie))
  }

  private func press(
    _ gateway: GatewayFixture, _ form: HTMLForm, _ answer: String, cookies: [String]
  ) async throws -> Response {
    let button = try #require(form.buttons.first { $0.value == answer })
    return try await gateway.post("/.proofgate/consent", form.submission(button: button), Headers.cookies(cookies))
  }

  @Test("I-consent: the page comes before any contact with the upstream")
  func before() async throws {
    try await GatewayFixture.run { gateway in
      for client in ["n1", "n2", "n4", "w1"] {
        let (form, cookie) = try await asked(gateway, client)
        #expect(form.action == "/.proofgate/consent")
        #expect(form.method == "POST")
        #expect(cookie.hasPrefix("__Host-proofgate="))
      }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test(
    "I-consent: no listed client is called unverified, and one without a claimed https redirect URI gets a sentence")
  func unverified() async throws {
    try await GatewayFixture.run { gateway in
      let claimed = try await gateway.get(
        gateway.authorizationTarget("n1") { $0.set("redirect_uri", "https://app.example.com/cb") })
      #expect(claimed.status == 200 && !claimed.text.contains("unverified") && !claimed.text.contains("Other apps"))
      let scheme = try await gateway.get(
        gateway.authorizationTarget("n1") { $0.set("redirect_uri", "com.example.app:/cb") })
      #expect(scheme.status == 200 && !scheme.text.contains("unverified") && scheme.text.contains("Other apps"))
      await gateway.reload { policy in policy.edit("n1") { $0.registration = .untrusted } }
      let untrusted = try await gateway.get(
        gateway.authorizationTarget("n1") { $0.set("redirect_uri", "com.example.app:/cb") })
      #expect(untrusted.text.contains("unverified") && !untrusted.text.contains("Other apps"))
    }
  }

  @Test("I-consent: a request is refused if the form of the page could not contain it, and a shorter one is approved")
  func longRequest() async throws {
    try await GatewayFixture.run { gateway in
      func get(_ count: Int) async throws -> Response {
        try await gateway.get(gateway.authorizationTarget("n1") + "&nonce=" + String(repeating: "=", count: count))
      }
      let long = try await get(5_400)
      #expect(long.status == 400 && HTMLForm.forms(in: long.text).isEmpty)
      let page = try await get(5_000)
      let form = try #require(HTMLForm.forms(in: page.text).first)
      let response = try await press(gateway, form, "approve", cookies: [try #require(page.ownCookie)])
      #expect(response.status == 303)
    }
  }

  @Test("I-consent: approval continues to the upstream, in the same browser only")
  func approval() async throws {
    try await GatewayFixture.run { gateway in
      let (form, cookie) = try await asked(gateway)
      let response = try await press(gateway, form, "approve", cookies: [cookie])
      #expect(response.status == 303)
      #expect(gateway.upstream.recorder.count == 0)
      let target = try #require(response.location)
      let next = try await gateway.get(target, Headers.cookies([try #require(response.ownCookie)]))
      #expect(next.location?.hasPrefix("/login?next=") == true)
      #expect(Form(decoding: target.split(separator: "?")[1])["client_id"] == "legacy-native")
      // Another browser cannot use that target.
      try await gateway.expectRefused(get: target, status: 400)
    }
  }

  @Test("I-consent: a denial goes to the app, and the upstream sees no request")
  func denial() async throws {
    try await GatewayFixture.run { gateway in
      let (form, cookie) = try await asked(gateway)
      let response = try await press(gateway, form, "deny", cookies: [cookie])
      let answer = try response.expectErrorRedirect(to: "com.example.app:/cb")
      #expect(answer["error"] == "access_denied")
      #expect(answer["state"] == "s1")
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("I-consent: an approval with another browser's token, or without a cookie, is refused")
  func forgery() async throws {
    try await GatewayFixture.run { gateway in
      let victim = try await asked(gateway)
      let thief = try await asked(gateway)
      for cookies in [[], [victim.cookie], ["__Host-proofgate=AAAA"], [thief.cookie, victim.cookie]] {
        let response = try await press(gateway, thief.form, "approve", cookies: cookies)
        #expect(response.status == 403)
        #expect(response.location == nil)
      }
      var withoutToken = victim.form.submission(button: victim.form.buttons.first)
      withoutToken.fields.removeAll { $0.value.count > 20 }
      for target in ["/.proofgate/consent", "/.proofgate/consent?decision=approve"] {
        try await gateway.expectRefused(post: target, withoutToken, Headers.cookies([victim.cookie]), status: 403)
        try await gateway.expectRefused(get: target, Headers.cookies([victim.cookie]), status: 403)
      }
      let begun = try await gateway.begin()
      var otherPurpose = withoutToken
      let tokenField = try #require(victim.form.controls.first { $0.value.count > 20 }?.name)
      otherPurpose.append(tokenField, begun.state)
      try await gateway.expectRefused(
        post: "/.proofgate/consent", otherPurpose, Headers.cookies([begun.cookie]), status: 403)
    }
  }

  @Test("I-consent: the approval applies every rule again, with the policy in force")
  func policyOfNow() async throws {
    try await GatewayFixture.run { gateway in
      let (form, cookie) = try await asked(gateway)
      await gateway.reload { policy in
        policy.edit("n1") { $0.redirectURIs.removeFirst() }
      }
      let response = try await press(gateway, form, "approve", cookies: [cookie])
      #expect(response.status == 400)
      #expect(response.location == nil)
      await gateway.reload { $0.remove("n1") }
      let gone = try await press(gateway, form, "approve", cookies: [cookie])
      #expect(gone.status == 400)
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("I-consent: consent that the upstream remembers does not apply to another app")
  func sharedUpstreamClient() async throws {
    try await GatewayFixture.run(quirks: .with { $0.remembersConsent = true }) { gateway in
      var browser = gateway.browser()
      _ = try await gateway.walk(&browser, "n1")
      browser.appRedirectURI = "com.example.app2:/cb"
      guard case .page(let page) = try await browser.open(gateway.front.at(gateway.authorizationTarget("n2"))) else {
        Issue.record("n2 got an answer without a question")
        return
      }
      #expect(page.text.contains("App n2"))
    }
  }

  @Test("I-consent: prompt=none is answered with consent_required")
  func promptNone() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(get: gateway.authorizationTarget { $0.append("prompt", "none") })
      #expect(try response.expectErrorRedirect(to: "com.example.app:/cb")["error"] == "consent_required")
      // If only the upstream asks for consent, the parameter goes upstream.
      let begun = try await gateway.begin { $0.append("prompt", "none") }
      #expect(begun.query["prompt"] == "none")
    }
  }

  @Test("I-consent: with `consent: upstream` only the upstream asks")
  func upstream() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin("p1")
      #expect(begun.response.location?.hasPrefix("/login") == true)
    }
  }

  @Test(
    "I-consent: an approval may be repeated, and all log lines of the sign-in have one transaction from the page on")
  func repeated() async throws {
    try await GatewayFixture.run { gateway in
      let (form, cookie) = try await asked(gateway)
      let first = try await press(gateway, form, "approve", cookies: [cookie])
      let second = try await press(gateway, form, "approve", cookies: [cookie])
      let states = [first, second].compactMap {
        $0.location.flatMap { Form(decoding: $0.split(separator: "?")[1])["state"] }
      }
      #expect(Set(states).count == 2)
      let ids = try Set(states.map { try gateway.transaction(in: $0).id })
      #expect(ids.count == 1)
      let id = try #require(ids.first).description
      let lines = gateway.logLines.filter { $0.contains(#""transaction":"\#(id)""#) }
      #expect(lines.count == 3)
      #expect(lines.first?.contains(#""endpoint":"authorization""#) == true)
    }
  }
}

extension GatewayFixture {
  /// Opens AZ and expects a page without any contact with the upstream.
  fileprivate func expectRefusedNothing(_ target: String, _ cookies: [String]) async throws -> Response {
    let before = upstream.recorder.count
    let response = try await get(target, Headers.cookies(cookies))
    #expect(response.status == 200)
    #expect(upstream.recorder.count == before)
    return response
  }
}
