import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// RFC 8252, section 8.6: consent is remembered only where the redirect URI proves the identity of the app.
@Suite("Remembered consent")
struct RememberedConsentTests {
  private static let claimed = "https://app.example.com/cb"

  /// A policy that remembers consents for a day. The client `n1` has three redirect URIs, of which one is https.
  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.editAll { $0.consentRemembered = 86_400 }
      adjust(&policy)
    }
  }

  private static func request(_ scope: String?, _ parameters: (String, String)...) -> (inout Form) -> Void {
    {
      if let scope { $0.append("scope", scope) }
      for (name, value) in parameters { $0.append(name, value) }
    }
  }

  /// Opens an authorization request in the browser, and expects that the consent page is shown, or is not shown.
  private func expect(
    page isExpected: Bool, _ browser: inout DemoBrowser, _ gateway: GatewayFixture, _ client: String = "n1",
    _ redirectURI: String = claimed, _ request: (inout Form) -> Void = request("read"),
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    browser.appRedirectURI = redirectURI
    let target = gateway.authorizationTarget(client, redirectURI, adjusting: request)
    let stop = try await browser.open(gateway.front.at(target))
    var isShown = false
    if case .page(let page) = stop { isShown = page.forms.first?.action == "/.proofgate/consent" }
    #expect(isShown == isExpected, "\(client) \(target)", sourceLocation: location)
  }

  /// Runs with a browser whose user has approved `n1` with two scopes and signed in.
  private func afterApproval(
    _ policy: Policy? = nil, scope: String? = "read write",
    _ body: (GatewayFixture, inout DemoBrowser) async throws -> Void
  ) async throws {
    try await GatewayFixture.run(try policy ?? Self.policy(), quirks: .with { $0.remembersConsent = true }) { gateway in
      var browser = gateway.browser(for: Self.claimed)
      _ = try await gateway.walk(&browser, "n1", Self.claimed, adjusting: Self.request(scope))
      try await body(gateway, &browser)
    }
  }

  @Test("8252-8.6-https-identity: the same request, or one with fewer scopes, gets its code without the page")
  func remembered() async throws {
    try await afterApproval { gateway, browser in
      for scope in ["read write", "write read", "read"] {
        let target = gateway.authorizationTarget("n1", Self.claimed, adjusting: Self.request(scope))
        guard case .app(let delivery) = try await browser.open(gateway.front.at(target)) else {
          Issue.record("the user was asked again for \(scope)")
          return
        }
        #expect(delivery.parameters["code"] != nil)
      }
      #expect(gateway.logLines.filter { $0.contains(#""consent-remembered""#) }.count == 3)
    }
  }

  @Test("8252-8.6-https-identity: any other redirect URI, client, scope, resource or browser is asked for")
  func others() async throws {
    try await afterApproval { gateway, browser in
      for scope in ["read admin", nil] {
        try await expect(page: true, &browser, gateway, "n1", Self.claimed, Self.request(scope))
      }
      for other in ["com.example.app:/cb", "http://127.0.0.1:5000/cb"] {
        try await expect(page: true, &browser, gateway, "n1", other)
      }
      try await expect(page: true, &browser, gateway, "w1", "https://web.example.com/cb?x=1")
      var stranger = gateway.browser(for: Self.claimed)
      try await expect(page: true, &stranger, gateway)
      try await expect(page: false, &browser, gateway)
    }
  }

  @Test("Scope tokens that the policy adds after the approval are asked for")
  func addedScope() async throws {
    try await afterApproval { gateway, browser in
      await gateway.reload { $0.upstream.scopes = ScopeRules(drop: ["read"], default: ["admin"]) }
      try await expect(page: true, &browser, gateway)
      try await expect(page: false, &browser, gateway, "n1", Self.claimed, Self.request("read write"))
      await gateway.reload { $0.upstream.scopes = nil }
      try await expect(page: false, &browser, gateway)
    }
  }

  @Test("8252-8.6-https-identity: an approval without a scope is not one for any scope")
  func noScope() async throws {
    try await afterApproval(scope: nil) { gateway, browser in
      try await expect(page: false, &browser, gateway, "n1", Self.claimed, Self.request(nil))
      try await expect(page: true, &browser, gateway)
    }
  }

  @Test(
    "8252-8.6-https-identity: the page is shown if the request asks for it, for another user, or for more than it shows",
    arguments: [("prompt", "consent"), ("prompt", "login"), ("claims", "{}"), ("authorization_details", "[]")])
  func parameters(_ name: String, _ value: String) async throws {
    try await afterApproval { gateway, browser in
      try await expect(page: true, &browser, gateway, "n1", Self.claimed, Self.request("read", (name, value)))
    }
  }

  @Test("An approval is for the parameters of the policy that it was given for, which the page does not show")
  func forwardedParameters() async throws {
    let policy = try Self.policy { $0.upstream.parameters = ["audience", "resource", "tenant"] }
    try await afterApproval(policy) { gateway, browser in
      for (name, value) in [
        ("audience", "https://bank.example"), ("resource", "https://bank.example/"), ("tenant", "t"),
      ] {
        try await expect(page: true, &browser, gateway, "n1", Self.claimed, Self.request("read", (name, value)))
        let request = Self.request("read", (name, value), ("nonce", "n1"))
        _ = try await gateway.walk(&browser, "n1", Self.claimed, adjusting: request)
        let again = Self.request("read", ("login_hint", "x"), (name, value), ("nonce", "n2"))
        try await expect(page: false, &browser, gateway, "n1", Self.claimed, again)
        try await expect(page: true, &browser, gateway, "n1", Self.claimed, Self.request("read", (name, value + "x")))
        // A parameter that is not forwarded changes nothing.
        try await expect(
          page: false, &browser, gateway, "n1", Self.claimed, Self.request("read", (name, value), ("other", "x")))
      }
      try await expect(page: false, &browser, gateway)
    }
  }

  @Test("8252-8.6-no-auto-approve: an approval is never remembered for a redirect URI that proves nothing")
  func unproven() async throws {
    try await GatewayFixture.run(try Self.policy(), quirks: .with { $0.remembersConsent = true }) { gateway in
      for (client, uri) in [
        ("n1", "com.example.app:/cb"), ("n1", "http://127.0.0.1:5000/cb"), ("d1", "https://dyn.example.net/cb"),
      ] {
        var browser = gateway.browser(for: uri)
        _ = try await gateway.walk(&browser, client, uri, adjusting: Self.request("read"))
        try await expect(page: true, &browser, gateway, client, uri)
      }
    }
  }

  @Test("A confidential client with an https redirect URI is remembered, and without the setting it is not")
  func confidential() async throws {
    let uri = "https://web.example.com/cb?x=1"
    for lifetime: Seconds in [86_400, 0] {
      let policy = try Self.policy { $0.edit("w1") { $0.consentRemembered = lifetime } }
      try await GatewayFixture.run(policy, quirks: .with { $0.remembersConsent = true }) { gateway in
        var browser = gateway.browser(for: uri)
        _ = try await gateway.walk(&browser, "w1", uri, adjusting: Self.request("read"))
        try await expect(page: lifetime == 0, &browser, gateway, "w1", uri)
      }
    }
  }

  @Test("A user who refuses the client on a later page is asked again, and other clients stay remembered")
  func denied() async throws {
    let other = "https://web.example.com/cb?x=1"
    try await afterApproval { gateway, browser in
      browser.appRedirectURI = other
      _ = try await gateway.walk(&browser, "w1", other, adjusting: Self.request("read"))
      browser.appRedirectURI = Self.claimed
      let target = gateway.authorizationTarget("n1", Self.claimed, adjusting: Self.request("read admin"))
      guard case .page(let page) = try await browser.open(gateway.front.at(target)) else {
        Issue.record("no consent page")
        return
      }
      let form = try #require(page.forms.first)
      let button = try #require(form.buttons.first { $0.value == "deny" })
      guard case .app(let delivery) = try await browser.submit(form, on: page, button: button) else {
        Issue.record("the app has no answer")
        return
      }
      #expect(delivery.parameters["error"] == "access_denied")
      try await expect(page: true, &browser, gateway)
      try await expect(page: false, &browser, gateway, "w1", other)
    }
  }

  @Test("A consent ends with its time, and with a policy in which it is shorter, or not asked for in this way")
  func expiry() async throws {
    try await afterApproval { gateway, browser in
      gateway.clock.advance(by: 7_200)
      try await expect(page: false, &browser, gateway)
      let shorter = try Self.policy { $0.editAll { $0.consentRemembered = 3_600 } }
      let renamed = try Self.policy { $0.edit("n1") { $0.name = "Another name" } }
      // Requests of other sites carry this cookie.
      let crossSite = try Self.policy { $0.upstream.crossSiteLogin = true }
      for changed in [shorter, renamed, crossSite] {
        try await gateway.withReplica(policy: changed) { replica in
          let cookie = try #require(browser.cookies.field(for: gateway.front))
          let response = try await replica.get(
            replica.authorizationTarget("n1", Self.claimed, adjusting: Self.request("read")), ["Cookie": cookie])
          #expect(response.status == 200 && response.text.contains("/.proofgate/consent"))
        }
      }
      gateway.clock.advance(by: 86_400)
      try await expect(page: true, &browser, gateway)
    }
  }

  @Test("The cookie keeps four consents until the last one expires, and stays below 4 KiB")
  func bounds() async throws {
    try await GatewayFixture.run(try Self.policy(), quirks: .with { $0.remembersConsent = true }) { gateway in
      var browser = gateway.browser(for: Self.claimed)
      let scopes = (0..<5).map { index in (0..<47).map { "scope\(index)-\($0)" }.joined(separator: " ") }
      for scope in scopes {
        #expect(scope.utf8.count <= 480)
        _ = try await gateway.walk(&browser, "n1", Self.claimed, adjusting: Self.request(scope))
        gateway.clock.advance(by: 1)
      }
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      #expect(cookie.utf8.count < 4_096)
      try await expect(page: true, &browser, gateway, "n1", Self.claimed, Self.request(scopes[0]))
      for scope in scopes.dropFirst() {
        try await expect(page: false, &browser, gateway, "n1", Self.claimed, Self.request(scope))
      }
      try await expect(
        page: true, &browser, gateway, "n1", Self.claimed, Self.request(String(repeating: "x", count: 481)))
    }
  }

  @Test("The cookie expires with the consent, and without a consent with the browser")
  func attributes() async throws {
    try await afterApproval { gateway, browser in
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      let response = try await gateway.get(
        gateway.authorizationTarget("n1", Self.claimed, adjusting: Self.request("read")), ["Cookie": cookie])
      let set = try #require(response.headers.all("Set-Cookie").first { $0.hasPrefix("__Host-proofgate=") })
      #expect(set.contains("; Path=/; HttpOnly; SameSite=Lax; Secure; Expires="))
      let new = try await gateway.get(
        gateway.authorizationTarget("n1", Self.claimed, adjusting: Self.request("read")))
      #expect(new.headers.all("Set-Cookie").allSatisfy { $0.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure") })
    }
  }

  @Test("The cookie outlives the sign-ins that it belongs to, also if the last approval expires earlier")
  func cookieOfSignIn() async throws {
    try await afterApproval { gateway, browser in
      gateway.clock.advance(by: 86_400 - 60)
      let cookie = try #require(browser.cookies.field(for: gateway.front))
      let response = try await gateway.get(
        gateway.authorizationTarget("n1", Self.claimed, adjusting: Self.request("other")), ["Cookie": cookie])
      let set = try #require(response.headers.all("Set-Cookie").first { $0.hasPrefix("__Host-proofgate=") })
      // A sign-in may take 15 minutes.
      #expect(set.hasSuffix("; Expires=" + HTTPDate.format(gateway.clock.now + 900)))
    }
  }
}
