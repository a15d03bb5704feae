import Demo
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// RFC 8628 in front of a server that has the device grant: the gateway checks and forwards the requests of devices.
@Suite("Forwarded device grant")
struct ForwardedDeviceTests {
  private static let path = "/oauth/device"

  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.upstream.endpoints.deviceAuthorization = [path]
      policy.edit("n2") { $0.grants = [.deviceCode, .refreshToken] }
      adjust(&policy)
    }
  }

  private func start(_ gateway: GatewayFixture, _ client: String = "tv1") async throws -> StartedDevice {
    let response = try await gateway.post(Self.path, ["client_id": client, "scope": "read"])
    try #require(response.status == 200, "\(response.text)")
    return try JSONDecoder().decode(StartedDevice.self, from: Data(response.body))
  }

  /// Signs in at the server and types the code on the server's page.
  private func decide(_ answer: String, _ started: StartedDevice, at gateway: GatewayFixture) async throws {
    var browser = gateway.browser()
    let target = String(started.verificationURI.dropFirst("https://gw.example".count))
    var page = try await browser.page(at: gateway.front.at(target))
    let login = try #require(page.forms.first, "\(page.text)")
    let (name, password) = (login.names(of: "text").first, login.names(of: "password").first)
    page = try await browser.page(
      after: login, on: page, [try #require(name): "alice", try #require(password): "wonderland"],
      button: login.buttons.first)
    let form = try #require(page.forms.first, "\(page.text)")
    page = try await browser.page(
      after: form, on: page, ["user_code": started.userCode], button: form.buttons.first { $0.value == answer })
    #expect(page.text.contains("Return to your device"), "\(page.text)")
  }

  private func forms(_ gateway: GatewayFixture, _ path: String) -> [Form] {
    gateway.upstream.recorder.requests(to: path).map { Form(decoding: String(decoding: $0.body, as: UTF8.self)) }
  }

  @Test("A device gets tokens through the server's own device grant, and its refresh token is sealed")
  func flow() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      let started = try await start(gateway)
      #expect(started.verificationURI == "https://gw.example/activate")
      #expect(started.verificationURIComplete == nil)
      #expect(started.lifetime == 600 && started.interval == 5)
      #expect(started.message?.contains("https://gw.example/activate") == true)
      let request = try #require(gateway.upstream.recorder.requests(to: Self.path).first)
      #expect(forms(gateway, Self.path) == [["scope": "read"]])
      #expect(request.headers["Authorization"]?.hasPrefix("Basic ") == true)
      let pending = try await gateway.poll(started)
      pending.expectTokenError(400, "authorization_pending")
      #expect(pending.headers["X-Proofgate-Rule"] == nil)
      try await decide("yes", started, at: gateway)
      let tokens = try await gateway.poll(started)
      #expect(tokens.status == 200, "\(tokens.text)")
      #expect(tokens.headers["Cache-Control"] == "no-store")
      let polled = try #require(forms(gateway, "/token").last)
      #expect(polled["grant_type"] == GatewayFixture.deviceGrant)
      #expect(polled["device_code"].map { $0 != started.deviceCode } == true)
      #expect(polled["client_id"] == nil && polled["client_secret"] == nil)
      let refresh = try tokens.refreshToken()
      try await expectStatus(200, of: gateway.refresh(refresh, "tv1"))
      let refreshed = try #require(forms(gateway, "/token").last)
      #expect(refreshed["refresh_token"].map { $0 != refresh } == true)
    }
  }

  @Test(
    "8628-3.4-client-binding: another client, and the server's own device code, are refused before the server is asked")
  func clientBinding() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      let started = try await start(gateway)
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      let raw = try #require(forms(gateway, "/token").first?["device_code"])
      for (code, client) in [(started.deviceCode, "n2"), (raw, "tv1"), (raw, "n2")] {
        try await gateway.expectTokenRefusal(gateway.pollForm(code, client), "invalid_grant")
      }
      try await decide("yes", started, at: gateway)
      try await expectStatus(200, of: gateway.poll(started))
    }
  }

  @Test(
    "Polls of a flow reach the server at a limited rate from each network, and other networks and flows are not affected"
  )
  func pollRate() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      let (first, second) = (try await start(gateway), try await start(gateway))
      func poll(_ started: StartedDevice, _ address: String) async throws -> Response {
        try await gateway.post("/token", gateway.pollForm(started.deviceCode), ["X-Forwarded-For": address])
      }
      for number in 0..<200 { _ = try await poll(first, "192.0.2.\(number)") }
      let polls = gateway.upstream.recorder.requests(to: "/token").count
      // The bucket refills while a slow machine empties it.
      #expect(polls >= 60 && polls < 200)
      for (started, address) in [(first, "198.51.100.1"), (second, "192.0.2.1")] {
        let before = gateway.upstream.recorder.requests(to: "/token").count
        try await poll(started, address).expectTokenError(400, "authorization_pending")
        #expect(gateway.upstream.recorder.requests(to: "/token").count == before + 1)
      }
    }
  }

  @Test("8628-3.1-allowed: a client without the grant is refused before the server is asked, as are ambiguous requests")
  func allowed() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      for (form, error) in [
        (["client_id": "n1"], "unauthorized_client"), (["client_id": "nobody"], "invalid_client"),
        (["client_id": "legacy-native"], "invalid_client"), (["scope": "read"], "invalid_client"),
        (["client_id": "tv1", "scope": "\"bad\""], "invalid_scope"),
      ] as [(Form, String)] {
        let response = try await gateway.expectRefused(post: Self.path, form)
        #expect(NativeApp.error(in: response) == error, "\(response.text)")
      }
      try await gateway.expectRefused(post: Self.path + "?client_id=tv1", Form(), status: 400)
      try await gateway.expectRefused(get: Self.path, status: 405)
    }
  }

  @Test("The gateway has no device endpoints of its own then, and the metadata document names the server's path")
  func endpoints() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway async throws in
      let document = try await gateway.get("/.well-known/oauth-authorization-server").text
      #expect(document.contains(#""device_authorization_endpoint":"https://gw.example/oauth/device""#))
      // These paths belong to the server, which has no such pages.
      for path in ["/device", "/device_authorization"] {
        let answer = try await gateway.get(path)
        #expect(answer.status == 404)
        #expect(!gateway.upstream.recorder.requests(to: path).isEmpty)
      }
      await gateway.reload { policy in
        policy.remove("tv1")
        policy.remove("n2")
      }
      try await gateway.expectRefused(post: Self.path, ["client_id": "tv1"], status: 404)
    }
  }

  @Test(
    "8628-3.5-success-once: two polls at the same time get the same tokens, even from a server that would issue others")
  func successOnce() async throws {
    try await GatewayFixture.run(Self.policy(), quirks: .with { $0.acceptsDeviceCodesAgain = true }) { gateway in
      let started = try await start(gateway)
      try await decide("yes", started, at: gateway)
      async let first = gateway.poll(started)
      async let second = gateway.poll(started)
      let (tokens, repeated) = try await (first, second)
      #expect(tokens.status == 200 && tokens.text == repeated.text, "\(tokens.text) \(repeated.text)")
      gateway.clock.advance(by: 60)
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
      #expect(forms(gateway, "/token").count == 1)
      try await expectStatus(200, of: gateway.refresh(tokens.refreshToken(), "tv1"))
    }
  }

  @Test("8628-3.5-denied: a denial at the server is access_denied, in every poll that follows")
  func denied() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      let started = try await start(gateway)
      try await decide("no", started, at: gateway)
      try await gateway.poll(started).expectTokenError(400, "access_denied")
      try await gateway.poll(started).expectTokenError(400, "access_denied")
    }
  }

  @Test("8628-3.5-expired: the shorter of the two lifetimes applies, and an expired code is refused by the gateway")
  func expired() async throws {
    let policy = try Self.policy { $0.edit("tv1") { $0.deviceCodeLifetime = 120 } }
    try await GatewayFixture.run(policy) { gateway in
      let started = try await start(gateway)
      #expect(started.lifetime == 120)
      gateway.clock.advance(by: 119)
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      gateway.clock.advance(by: 1)
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "expired_token")
    }
  }

  @Test("A server that no longer knows the device code answers expired_token")
  func lost() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      let started = try await start(gateway)
      gateway.upstream.serve(gateway.legacyServer(LegacyQuirks()))
      try await gateway.poll(started).expectTokenError(400, "expired_token")
    }
  }

  @Test(
    "A complete address is only passed on if the client has device_complete_uri, and a draft's member name is accepted")
  func complete() async throws {
    let policy = try Self.policy { $0.edit("tv1") { $0.deviceCompleteURI = true } }
    try await GatewayFixture.run(policy, quirks: .with { $0.sendsVerificationURL = true }) { gateway in
      let started = try await start(gateway)
      #expect(started.verificationURI == "https://gw.example/activate")
      #expect(
        started.verificationURIComplete == "https://gw.example/activate?user_code=\(started.userCode)")
    }
  }

  @Test("A code that was issued to another client of the server is not redeemed (I-credentials)")
  func outdated() async throws {
    try await GatewayFixture.run(Self.policy()) { gateway in
      let started = try await start(gateway)
      await gateway.reload { $0.edit("tv1") { $0.upstream.clientID = ClientID("legacy-p1") } }
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
    }
  }

  @Test(
    "A response that is not a device authorization response never reaches the device",
    arguments: [
      "{}", "[]", "not JSON", #"{"access_token":"at","token_type":"bearer"}"#,
      #"{"device_code":"d","user_code":"ABC"}"#,
      #"{"device_code":"","user_code":"ABC","verification_uri":"https://gw.example/"}"#,
      #"{"device_code":"d","user_code":"A B","verification_uri":"https://gw.example/"}"#,
      #"{"device_code":"d","user_code":"<b>é","verification_uri":"https://gw.example/"}"#,
      #"{"device_code":"d","user_code":"ABC","verification_uri":"javascript:alert(1)"}"#,
      #"{"device_code":"d","user_code":"ABC","verification_uri":"https://user@gw.example/"}"#,
    ])
  func unusable(body: String) async throws {
    let answer = RawUpstream.Answer.bytes(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    try await GatewayFixture.run(before: answer, Self.policy()) { gateway, _ in
      let response = try await gateway.post(Self.path, ["client_id": "tv1"])
      response.expectTokenError(502, "server_error")
    }
  }

  @Test(
    "A device authorization response whose status does not say that its content is the result never reaches the device")
  func otherStatus() async throws {
    let body = #"{"device_code":"d1","user_code":"ABC","verification_uri":"https://gw.example/activate"}"#
    for (status, expected) in [(200, 200), (201, 200), (205, 502), (206, 502), (302, 502)] {
      let answer = RawUpstream.Answer.bytes(
        "HTTP/1.1 \(status) S\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      try await GatewayFixture.run(before: answer, Self.policy()) { gateway, _ in
        let response = try await gateway.post(Self.path, ["client_id": "tv1"])
        #expect(response.status == expected, "\(status): \(response.text)")
      }
    }
  }

  @Test(
    "An address that belongs neither to the server nor to the gateway never reaches the device",
    arguments: [
      "https://login.example.com/device", "https://gw.example.evil.example/", "https://gw.example:8443/activate",
      "http://gw.example:81/activate", "https://evil.example/?https://gw.example/",
    ])
  func otherHost(uri: String) async throws {
    let policy = try Self.policy { $0.edit("tv1") { $0.deviceCompleteURI = true } }
    for (page, complete, status) in [
      (uri, "https://gw.example/activate", 502), ("https://gw.example/activate", uri, 200),
    ] {
      let body =
        #"{"device_code":"d1","user_code":"ABC","verification_uri":"\#(page)","#
        + #""verification_uri_complete":"\#(complete)"}"#
      let answer = RawUpstream.Answer.bytes(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      try await GatewayFixture.run(before: answer, policy) { gateway, _ in
        let response = try await gateway.post(Self.path, ["client_id": "tv1"])
        #expect(response.status == status)
        #expect(!response.text.contains(uri) && !response.text.contains("verification_uri_complete"))
        #expect(response.headers["X-Proofgate-Rule"] == (status == 502 ? "device-page-elsewhere" : nil))
      }
    }
  }

  @Test("A page at the public host with http, or at the host that the gateway sends, is that of the gateway")
  func pageOfOwnHost() async throws {
    for uri in ["http://gw.example/activate", "https://id.internal/activate", "http://id.internal/activate"] {
      let policy = try Self.policy { $0.upstream.host = uri.contains("internal") ? .name("id.internal") : nil }
      let body = #"{"device_code":"d1","user_code":"ABC","verification_uri":"\#(uri)"}"#
      let answer = RawUpstream.Answer.bytes(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      try await GatewayFixture.run(before: answer, policy) { gateway, _ in
        let response = try await gateway.post(Self.path, ["client_id": "tv1"])
        #expect(response.status == 200, "\(response.text)")
        let page = response.text.replacing(#"\/"#, with: "/")
        #expect(page.contains("https://gw.example/activate") && !page.contains(uri))
      }
    }
  }

  @Test("Only the members of RFC 8628 reach the device, with an interval and a lifetime within bounds")
  func members() async throws {
    let body =
      #"{"device_code":"d1","user_code":"ABC","verification_uri":"https://gw.example/device","#
      + #""expires_in":"90000","interval":100000,"message":"http://10.0.0.1/","client_secret":"x"}"#
    let answer = RawUpstream.Answer.bytes(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    try await GatewayFixture.run(before: answer, Self.policy()) { gateway, _ in
      let response = try await gateway.post(Self.path, ["client_id": "tv1"])
      #expect(response.status == 200, "\(response.text)")
      for text in ["\"d1\"", "10.0.0.1", "client_secret"] { #expect(!response.text.contains(text)) }
      let started = try JSONDecoder().decode(StartedDevice.self, from: Data(response.body))
      #expect(started.verificationURI == "https://gw.example/device")
      #expect(started.lifetime == 600 && started.interval == 60)
    }
  }

  @Test("The device requests of an observed client pass as they are (I-observe)")
  func observed() async throws {
    let policy = try Self.policy { $0.edit("n2") { $0.mode = .observe } }
    try await GatewayFixture.run(policy) { gateway in
      let own = try await gateway.post(Self.path, ["client_id": "n2", "client_secret": "n2secret"])
      #expect(own.status == 401)
      #expect(forms(gateway, Self.path) == [["client_id": "n2", "client_secret": "n2secret"]])
    }
  }
}
