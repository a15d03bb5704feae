import Demo
import GatewayTestSupport
import HTTP
import JSON
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

/// The response with the tokens of a device, which the gateway keeps for a device that did not receive it.
@Suite("Repeated polls")
struct DeviceRepeatTests {
  @Test("A repeated poll gets the same response, with the rest of the lifetime of the access token")
  func repeated() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.approvedDevice()
      let first = try #require(JSONValue.members(of: try await gateway.poll(started).body))
      gateway.clock.advance(by: 30)
      let second = try #require(JSONValue.members(of: try await gateway.poll(started).body))
      guard case .integer(let lifetime) = try #require(first["expires_in"]) else {
        Issue.record("\(first)")
        return
      }
      var expected = first
      expected["expires_in"] = .integer(lifetime - 30)
      #expect(second == expected)
      #expect(gateway.upstreamTokenForms.count == 1)
      #expect(gateway.logLines.contains { $0.contains("poll-repeated") })
      gateway.clock.advance(by: 29)
      try await expectStatus(200, of: gateway.poll(started))
      gateway.clock.advance(by: 1)
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
    }
  }

  @Test("8628-3.4-client-binding: another client cannot get the response by a repeated poll")
  func otherClient() async throws {
    let policy = try FixturePolicy.with { $0.edit("n2") { $0.grants = [.deviceCode] } }
    try await GatewayFixture.run(policy) { gateway in
      let started = try await gateway.approvedDevice()
      try await expectStatus(200, of: gateway.poll(started))
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode, "n2"), "invalid_grant")
      try await expectStatus(200, of: gateway.poll(started))
    }
  }

  @Test("A client whose secret only the server compares gets the response only with the same secret")
  func credentials() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("w3") { client in
        client.grants = [.deviceCode, .refreshToken]
        client.upstream.redirectURI = .callback
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      func basic(_ secret: String) -> Headers {
        ["Authorization": BasicCredentials(user: "w3", password: Secret(secret)).header.reveal()]
      }
      let right = "w3secret"
      let started = try await gateway.startDevice(basic(right)) { $0 = ["scope": "read"] }
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("approve", on: page, in: &browser)
      func poll(_ secret: String) async throws -> Response {
        let form = gateway.pollForm(started.deviceCode, "w3")
        return try await gateway.post("/token", form, basic(secret))
      }
      try await expectStatus(200, of: poll(right))
      try await poll("wrong").expectTokenError(400, "invalid_grant")
      try await expectStatus(200, of: poll(right))
    }
  }

  @Test("The response is gone once the device has refreshed, whatever the reuse window is", arguments: [0, 60])
  func refreshed(window: Int) async throws {
    let policy = try FixturePolicy.with { $0.edit("tv1") { $0.refreshReuseWindow = Seconds(window) } }
    try await GatewayFixture.run(policy) { gateway in
      let started = try await gateway.approvedDevice()
      let tokens = try await gateway.poll(started)
      let refreshed = try await gateway.refresh(tokens.refreshToken(), "tv1")
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
      // The login goes on.
      try await expectStatus(200, of: gateway.refresh(refreshed.refreshToken(), "tv1"))
    }
  }

  @Test("The response is deleted when the login ends")
  func revoked() async throws {
    let store = MemoryStore()
    try await GatewayFixture.run(store: store) { gateway in
      let started = try await gateway.approvedDevice()
      let tokens = try await gateway.poll(started)
      let held = try #require(store.usage.first { $0.kind == .answer })
      #expect(held.entries == 1)
      let response = try await gateway.post("/revoke", ["token": tokens.refreshToken(), "client_id": "tv1"])
      #expect(response.status == 200)
      #expect(store.usage.first { $0.kind == .answer }?.entries == 0)
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
    }
  }

  @Test("Without room for the response the device gets its tokens, and a repeated poll gets invalid_grant at once")
  func noRoom() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.answer: 0])
    try await GatewayFixture.run(store: store) { gateway in
      let started = try await gateway.approvedDevice()
      try await expectStatus(200, of: gateway.poll(started))
      #expect(gateway.logLines.contains { $0.contains("answer-not-held") })
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
    }
  }

  @Test("A poll that arrives while the server answers another one waits for the same response")
  func concurrent() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.approvedDevice()
      let gate = Gate()
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        await gate.pass()
        return nil
      }
      async let first = gateway.poll(started)
      await gate.someoneWaits()
      async let second = gateway.poll(started)
      await gate.open()
      let (tokens, repeated) = try await (first, second)
      #expect(tokens.status == 200 && tokens.text == repeated.text, "\(tokens.text) \(repeated.text)")
      #expect(gateway.upstreamTokenForms.count == 1)
    }
  }

  @Test("A denial while the server redeems the code revokes the tokens, and the device gets access_denied")
  func deniedMeanwhile() async throws {
    try await GatewayFixture.run { gateway in
      let started = try await gateway.startDevice()
      var browser = gateway.browser()
      let page = try await gateway.confirmation(of: started, in: &browser)
      _ = try await gateway.decide("approve", on: page, in: &browser)
      let gate = Gate()
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        await gate.pass()
        return nil
      }
      async let poll = gateway.poll(started)
      await gate.someoneWaits()
      let denied = try await gateway.decide("deny", on: page, in: &browser)
      await gate.open()
      try await poll.expectTokenError(400, "access_denied")
      #expect(denied.status == 200, "\(denied.text)")
      // The access token and the refresh token.
      #expect(gateway.upstream.recorder.requests(to: "/revoke").count == 2)
      #expect(gateway.logLines.contains { $0.contains("token-revoked") })
      for _ in 0..<2 { try await gateway.poll(started).expectTokenError(400, "access_denied") }
      #expect(gateway.upstreamTokenForms.count == 1)
    }
  }

  @Test("A refusal of the server is not kept: the poll gets expired_token, and a repeated one invalid_grant")
  func refused() async throws {
    let store = MemoryStore()
    try await GatewayFixture.run(store: store) { gateway in
      let started = try await gateway.approvedDevice()
      gateway.upstream.serve(gateway.legacyServer(LegacyQuirks()))
      try await gateway.poll(started).expectTokenError(400, "expired_token")
      #expect(store.usage.first { $0.kind == .answer }?.entries == 0)
      try await gateway.poll(started).expectTokenError(400, "invalid_grant")
    }
  }
}
