import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import VectorsTestSupport

/// RFC 8252, sections 7 and 8.4: the comparison with registered redirect URIs.
@Suite("Redirect URIs")
struct RedirectURITests {
  @Test(
    "8252-6-code-grant, 8252-6-pkce-support, 8252-7.3-any-port-v4, 8252-7.3-any-port-v6: a native app gets its code and tokens at every kind of redirect URI",
    arguments: [
      "com.example.app:/cb", "https://app.example.com/cb", "http://127.0.0.1:51004/cb", "http://[::1]:61023/cb",
      "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", "http://127.0.0.1/cb",
    ])
  func everyKind(redirectURI: String) async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk("n1", redirectURI)
      #expect(delivery.address.hasPrefix(redirectURI + "?"))
      #expect(delivery.parameters["state"] == "s1")
      let code = try #require(delivery.parameters["code"])
      try await expectStatus(200, of: gateway.redeem(code, "n1", redirectURI))
    }
  }

  @Test("8252-7.1-redirect: a private-use URI with one slash works like any other URI")
  func singleSlash() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk("n2")
      #expect(delivery.address.hasPrefix("com.example.app2:/cb?"))
      #expect(delivery.parameters["code"] != nil)
    }
  }

  @Test("8252-7.1-single-slash: a registered double slash gives a warning and is compared exactly")
  func doubleSlash() async throws {
    let report = try Lint.check(
      clients: "  - { id: n1, type: public, redirect_uris: [\"com.example.app://cb\"] }")
    #expect(report.warnings.contains { $0.contains("[scheme-authority]") && $0.contains(":/") })
    let uri = try RedirectURI(parsing: "com.example.app://cb")
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.redirectURIs = [uri] } }) { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("n1", "com.example.app:/cb"))
      #expect(try await gateway.walk("n1", "com.example.app://cb").parameters["code"] != nil)
    }
  }

  @Test(
    "8252-7.3-no-cross-family, 8252-7.3-literal-only, 8252-7.3-http-only, 8252-8.3-localhost-no-alias, 8252-8.4-loopback-path: only the port of a loopback address may differ",
    arguments: [
      "http://[::1]:5000/cb", "http://127.0.0.2:5000/cb", "http://127.1:5000/cb", "http://2130706433:5000/cb",
      "http://0x7f000001:5000/cb", "http://[0:0:0:0:0:0:0:1]:5000/cb", "http://[::ffff:127.0.0.1]:5000/cb",
      "https://127.0.0.1:5000/cb", "http://localhost:51004/cb", "http://localhost/cb", "http://127.0.0.1:51004/other",
      "http://127.0.0.1:51004/cb/", "http://127.0.0.1:51004/cb?x=1",
    ])
  func loopback(redirectURI: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("n4", redirectURI))
    }
  }

  @Test("8252-7.3-http-only: a confidential client cannot register a loopback URI")
  func loopbackOfWeb() throws {
    let report = try Lint.check(
      clients: """
          - id: w1
            type: confidential
            secret: { env: SECRET }
            redirect_uris: ["http://127.0.0.1/cb"]
        """)
    #expect(report.errors.contains { $0.contains("[loopback-not-native]") })
    #expect(!report.isServable)
  }

  @Test(
    "8252-7.3-port-syntax: only a port from 1 to 65535 in plain digits is accepted",
    arguments: ["0", "65536", "080", "", "8o80", "+80", "80a", "99999999999999999999", "-1"])
  func ports(port: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("n4", "http://127.0.0.1:\(port)/cb"))
    }
  }

  @Test(
    "8252-7.3-userinfo: a redirect URI with user information is refused",
    arguments: ["http://127.0.0.1:80@evil.example/cb", "http://127.0.0.1@evil.example/cb", "http://u@127.0.0.1/cb"])
  func userinfo(redirectURI: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("n4", redirectURI))
    }
  }

  @Test(
    "8252-8.4-exact, 8252-8.4-exact-query, 8252-8.4-exact-case, 8252-8.4-https-port: any text but the registered one is refused on a page, without the upstream",
    arguments: [
      "com.example.app:/other", "com.example.app:/cb/", "com.example.app:/cb?x=1", "com.example.app:/cb?",
      "Com.Example.App:/cb", "com.example.app:/CB", "com.example.app://cb", "https://APP.example.com/cb",
      "https://app.example.com:8443/cb", "https://app.example.com:443/cb", "https://app.example.com/cb/../cb",
      "https://app.example.com//cb", "com.example.app:/cb#", "https://app.example.com/cb#x",
      "https://app.example.com.evil.example/cb", "https://app.example.com@evil.example/cb",
      "https://app.example.com\\@evil.example/cb",
    ])
  func exact(redirectURI: String) async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("n1", redirectURI))
    }
  }

  @Test("8252-8.4-exact-query: the parameters of a registered URI must be complete and in order")
  func query() async throws {
    let uri = try RedirectURI(parsing: "https://app.example.com/cb?a=1&b=2")
    try await GatewayFixture.run(try FixturePolicy.with { $0.edit("n1") { $0.redirectURIs = [uri] } }) { gateway in
      for other in ["?b=2&a=1", "?a=1", "", "?a=1&b=2&c=3"] {
        try await gateway.expectErrorPage(gateway.authorizationTarget("n1", "https://app.example.com/cb" + other))
      }
      #expect(try await gateway.walk("n1", uri.text).address.hasPrefix(uri.text + "&"))
    }
  }

  @Test("8252-8.4-exact-encoding: the parameter is decoded once and then compared exactly")
  func encoding() async throws {
    try await GatewayFixture.run { gateway in
      let bare = gateway.authorizationTarget { $0.remove("redirect_uri") }
      try await gateway.expectErrorPage(bare + "&redirect_uri=com.example.app%3A%2F%2563b")
      try await gateway.expectErrorPage(bare + "&redirect_uri=com.example.app%253A%252Fcb")
      try await gateway.expectErrorPage(bare + "&redirect_uri=com.example.app%3A%2F.%2Fcb")
      try await expectStatus(200, of: gateway.get(bare + "&redirect_uri=com.example.app%3a%2f%63b"))
    }
  }

  @Test(
    "9700-4.1.3-localhost-word, 8252-8.4-exact: localhost may vary the port only if the policy allows it",
    arguments: [(LocalhostPolicy.exact, 400), (.reject, 400), (.anyPort, 200)])
  func localhost(rule: LocalhostPolicy, status: Int) async throws {
    let uri = try RedirectURI(parsing: "http://localhost/cb")
    let policy = try FixturePolicy.with {
      $0.edit("n4") {
        $0.redirectURIs = [uri]
        $0.localhost = rule
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let response = try await gateway.get(gateway.authorizationTarget("n4", "http://localhost:5000/cb"))
      #expect(response.status == status)
      #expect(gateway.upstream.recorder.count == 0)
      try await expectStatus(
        rule == .reject ? 400 : 200, of: gateway.get(gateway.authorizationTarget("n4", "http://localhost/cb")))
      // Under every setting, localhost and 127.0.0.1 are different hosts.
      try await gateway.expectErrorPage(gateway.authorizationTarget("n4", "http://127.0.0.1:5000/cb"))
    }
  }

  @Test(
    "8252-8.4-exact, 8252-7.3-any-port-v4, 6749-3.1.2.3-omitted: every redirect vector gets its expected verdict",
    arguments: Vectors.all.redirectUriMatch.vectors)
  func vector(vector: Vectors.RedirectMatch) async throws {
    // The one setting of the drafts that the gateway does not have, because RFC 8252, section 8.4, forbids it.
    if vector.policy.contains("loopback_any_path"), vector.expected == "match" { return }
    guard let registered = try? vector.registered.map({ try RedirectURI(parsing: $0) }) else {
      // A policy cannot contain this URI, so a request cannot match it.
      #expect(vector.expected == "reject")
      return
    }
    let isNative = vector.clientType == "native-public"
    let policy = try FixturePolicy.with {
      $0.edit(isNative ? "n1" : "w1") {
        $0.redirectURIs = registered
        $0.localhost = vector.policy.contains("localhost_any_port") ? .anyPort : .exact
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      let target = gateway.authorizationTarget(isNative ? "n1" : "w1", vector.requested ?? "") {
        if vector.requested == nil { $0.remove("redirect_uri") }
      }
      let response = try await gateway.get(target)
      // An empty value counts as absent, and then the only registered URI applies (RFC 6749, section 3.1.2.3).
      let matches = vector.expected == "match" || vector.requested == "" && registered.count == 1
      #expect(response.status == (matches ? 200 : 400), "\(response.text)")
      if !matches { response.expectPage() }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("6749-3.1.2-append: a registered query is kept, and the response parameters are appended")
  func append() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk("w1")
      #expect(delivery.address.hasPrefix("https://web.example.com/cb?x=1&"))
      #expect(delivery.parameters["code"] != nil)
    }
  }

  @Test("6749-3.1.2.3-omitted: the only registered URI may be omitted, unless it is a loopback URI")
  func omitted() async throws {
    try await GatewayFixture.run { gateway in
      let delivery = try await gateway.walk("n2") { $0.remove("redirect_uri") }
      #expect(delivery.address.hasPrefix("com.example.app2:/cb?"))
      let code = try #require(delivery.parameters["code"])
      try await expectStatus(200, of: gateway.post("/token", gateway.tokenForm(code, "n2").without("redirect_uri")))
      try await gateway.expectErrorPage(gateway.authorizationTarget("n1") { $0.remove("redirect_uri") })
      try await gateway.expectErrorPage(gateway.authorizationTarget("n4") { $0.remove("redirect_uri") })
    }
  }

  @Test("6749-3.1.2.4-no-redirect: the user is never sent to an unregistered address")
  func noRedirect() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectErrorPage(gateway.authorizationTarget("n1", "https://evil.example/"))
      #expect(!response.text.contains("evil.example"))
      #expect(!response.headers.fields.contains { $0.value.contains("evil.example") })
    }
  }

  @Test("6749-4.1.2.1-client: a request without a known client is never redirected, not even to a registered URI")
  func unknownClient() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("nobody", "com.example.app:/cb"))
      try await gateway.expectErrorPage(gateway.authorizationTarget("n1") { $0.remove("client_id") })
      try await gateway.expectErrorPage(gateway.authorizationTarget("n1") { $0.set("client_id", "") })
    }
  }
}
