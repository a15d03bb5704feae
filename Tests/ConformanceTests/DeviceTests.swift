import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

/// RFC 8628: the device grant of the gateway, in front of a server that has only the code flow.
@Suite("Device grant")
struct DeviceTests {
  // MARK: The device authorization endpoint

  @Test("8628-3.1-request: a form is answered, and a GET, a JSON body and parameters in the query are refused")
  func request() async throws {
    try await GatewayFixture.run { gateway in
      try await expectStatus(200, of: gateway.authorizeDevice())
      let get = try await gateway.expectRefused(get: "/device_authorization?client_id=tv1", status: 405)
      #expect(get.headers["Allow"] == "POST")
      let json = try await gateway.expectRefused(
        post: "/device_authorization", ["client_id": "tv1"], ["Content-Type": "application/json"])
      json.expectTokenError(400, "invalid_request")
      let query = try await gateway.expectRefused(post: "/device_authorization?client_id=tv1", Form())
      query.expectTokenError(400, "invalid_request")
    }
  }

  @Test("8628-3.1-client: unknown clients and clients without their secret get invalid_client")
  func client() async throws {
    try await GatewayFixture.run { gateway in
      for client in ["nobody", "w1"] {
        let response = try await gateway.authorizeDevice { $0 = ["client_id": client] }
        #expect([400, 401].contains(response.status))
        #expect(NativeApp.error(in: response) == "invalid_client", "\(response.text)")
      }
    }
  }

  @Test("8628-3.1-client: HTTP Basic with an empty secret, and a scope that is repeated at the poll, are accepted")
  func emptySecret() async throws {
    try await GatewayFixture.run { gateway in
      let basic: Headers = ["Authorization": BasicCredentials(user: "tv1", password: Secret("")).header.reveal()]
      let started = try await gateway.startDevice(basic) { $0 = ["scope": "read"] }
      var form = gateway.pollForm(started.deviceCode).without("client_id")
      form.append("scope", "read")
      let response = try await gateway.post("/token", form, basic)
      response.expectTokenError(400, "authorization_pending")
    }
  }

  @Test("8628-3.1-params: repeated parameters are refused, unknown ones are ignored, and empty ones are omitted")
  func parameters() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.authorizeDevice { $0.append("client_id", "tv1") }.expectTokenError(400, "invalid_request")
      try await expectStatus(200, of: gateway.authorizeDevice { $0.append("foo", "1") })
      let empty = try await gateway.authorizeDevice { $0 = ["client_id": ""] }
      #expect([400, 401].contains(empty.status))
      #expect(["invalid_client", "invalid_request"].contains(NativeApp.error(in: empty)))
    }
  }

  @Test("8628-3.1-allowed: a client without the grant gets unauthorized_client, and without any such client 404")
  func allowed() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.authorizeDevice { $0 = ["client_id": "n1"] }
      response.expectTokenError(400, "unauthorized_client")
      await gateway.reload { $0.remove("tv1") }
      try await expectStatus(404, of: gateway.authorizeDevice())
    }
  }

  @Test("8628-3.1-tls: the endpoint and the page refuse plain http from another machine")
  func tls() async throws {
    try await GatewayFixture.run { gateway in
      let plain: Headers = ["X-Forwarded-Proto": "http", "X-Forwarded-For": "203.0.113.9"]
      let response = try await gateway.authorizeDevice(plain)
      #expect(response.status == 403 && !response.text.contains("device_code"))
      try await expectStatus(403, of: gateway.get("/device", plain))
    }
  }

  @Test("8628-3.2-response, 8628-3.2-no-store, 8628-3.3-short-uri: the response has all members and is not stored")
  func response() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.authorizeDevice()
      #expect(response.headers["Content-Type"] == "application/json")
      #expect(response.headers["Cache-Control"] == "no-store")
      let started = try await gateway.startDevice()
      #expect(started.verificationURI == "https://gw.example/device")
      #expect(started.verificationURI.utf8.count < 40)
      #expect(started.lifetime == 600)
      #expect(started.interval == 5)
      #expect(started.verificationURIComplete == nil)
      let message = try #require(started.message)
      #expect(message.contains(started.userCode) && message.contains(started.verificationURI))
    }
  }

  @Test("8628-3.2-errors: a malformed scope, or one that is too long, is invalid_scope")
  func errors() async throws {
    try await GatewayFixture.run { gateway in
      for scope in ["\"bad\"", String(repeating: "x", count: 2_000)] {
        let response = try await gateway.authorizeDevice { $0 = ["client_id": "tv1", "scope": scope] }
        response.expectTokenError(400, "invalid_scope")
      }
    }
  }

  @Test("8628-5.1-entropy: 1,000 user codes have eight consonants, and none repeats")
  func entropy() async throws {
    // One address may have a 64th of the user codes, about 340 in a store of the default size.
    try await GatewayFixture.run(store: MemoryStore(size: 1 << 30)) { gateway in
      var codes: Set<String> = []
      for _ in 0..<1_000 { codes.insert(try await gateway.startDevice().userCode) }
      #expect(codes.count == 1_000)
      for code in codes {
        #expect(code.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil, "\(code)")
      }
    }
  }

  @Test("8628-5.4-lifetime: a lifetime of two hours is an error of the policy")
  func lifetime() throws {
    let report = try Lint.check(enforcement: "device_code_lifetime: 7200s")
    #expect(report.errors.contains { $0.contains("device-code-lifetime") })
  }

  // MARK: The poll

  @Test("8628-3.4-params: a poll without a device code is invalid_request, and one with an unknown code invalid_grant")
  func pollParameters() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.expectTokenRefusal(gateway.pollForm("x").without("device_code"), "invalid_request")
      try await gateway.expectTokenRefusal(gateway.pollForm("xyz"), "invalid_grant")
    }
  }

  @Test("8628-3.4-client-binding: another device client cannot use the device code")
  func clientBinding() async throws {
    let policy = try FixturePolicy.with { $0.edit("n2") { $0.grants = [.deviceCode] } }
    try await GatewayFixture.run(policy) { gateway in
      let started = try await gateway.approvedDevice()
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode, "n2"), "invalid_grant")
      try await expectStatus(200, of: gateway.poll(started))
    }
  }

  @Test("8628-3.5-pending: a poll before the decision is authorization_pending")
  func pending() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      let response = try await gateway.expectTokenRefusal(
        gateway.pollForm(started.deviceCode), "authorization_pending")
      #expect(response.headers["Cache-Control"] == "no-store")
    }
  }

  @Test("8628-3.2-interval: a poll after less than 3 s is too fast, and polls with the announced interval never are")
  func interval() async throws {
    try await GatewayFixture.run { gateway in
      let fast = try await gateway.startDevice()
      try await gateway.poll(fast).expectTokenError(400, "authorization_pending")
      gateway.clock.advance(by: 2)
      try await gateway.poll(fast).expectTokenError(400, "slow_down")
      let exact = try await gateway.startDevice()
      for _ in 0..<4 {
        try await gateway.poll(exact).expectTokenError(400, "authorization_pending")
        gateway.clock.advance(by: Seconds(exact.interval))
      }
    }
  }

  @Test("8628-3.5-slow-down: each poll that is too fast lengthens the interval by five seconds for good")
  func slowDown() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      try await gateway.poll(started).expectTokenError(400, "authorization_pending")
      for (wait, error) in [(1, "slow_down"), (6, "slow_down"), (15, "authorization_pending"), (12, "slow_down")] {
        gateway.clock.advance(by: Seconds(wait))
        try await gateway.poll(started).expectTokenError(400, error)
      }
    }
  }

  @Test("8628-3.5-expired: a poll after the lifetime is expired_token, and stays so")
  func expired() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      gateway.clock.advance(by: Seconds(started.lifetime + 1))
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "expired_token")
      gateway.clock.advance(by: 3_600)
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "expired_token")
    }
  }

  @Test("8628-3.5-success-once: two polls at the same time get the same tokens, and a poll 60 seconds later gets none")
  func successOnce() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.approvedDevice()
      #expect(gateway.upstreamTokenForms.isEmpty)
      async let first = gateway.poll(started)
      async let second = gateway.poll(started)
      let (tokens, repeated) = try await (first, second)
      for response in [tokens, repeated] {
        #expect(response.status == 200, "\(response.text)")
        #expect(response.headers["Cache-Control"] == "no-store")
      }
      #expect(tokens.text == repeated.text)
      gateway.clock.advance(by: 60)
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
      #expect(gateway.upstreamTokenForms.count == 1)
      // The refused poll has revoked nothing.
      #expect(gateway.upstream.recorder.requests(to: "/revoke").isEmpty)
      try await expectStatus(200, of: gateway.refresh(tokens.refreshToken(), "tv1"))
    }
  }

  @Test("8628-3.4-no-redirect-clients: device codes and authorization codes cannot replace each other")
  func noMixUp() async throws {
    let policy = try FixturePolicy.with {
      $0.edit("n1") { $0.grants = [.authorizationCode, .refreshToken, .deviceCode] }
    }
    try await GatewayFixture.run(policy) { gateway in
      try await gateway.expectErrorPage(gateway.authorizationTarget("tv1", "https://gw.example/.proofgate/callback"))
      let started = try await gateway.startDevice { $0 = ["client_id": "n1"] }
      try await gateway.expectTokenRefusal(gateway.tokenForm(started.deviceCode, "n1"), "invalid_grant")
      let code = try await gateway.code("n1")
      try await gateway.expectTokenRefusal(gateway.pollForm(code, "n1"), "invalid_grant")
    }
  }
}
