import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

/// The tokens of devices for protected resources (RFC 8707 with RFC 8628).
@Suite("Resources of devices")
struct DeviceResourceTests {
  private static let removalSteps = ["sign-in", "approval", "poll"]

  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try ResourceTests.policy { policy in
      policy.edit("n2") { $0.grants = [.deviceCode, .refreshToken] }
      adjust(&policy)
    }
  }

  private func start(
    _ gateway: GatewayFixture, _ client: String = "tv1", for resource: String
  ) async throws
    -> StartedDevice
  {
    try await gateway.startDevice { $0 = ["client_id": client, "scope": "read", "resource": resource] }
  }

  private func approve(_ started: StartedDevice, at gateway: GatewayFixture) async throws -> String {
    var browser = gateway.browser()
    let page = try await gateway.confirmation(of: started, in: &browser)
    let decided = try await gateway.decide("approve", on: page, in: &browser)
    #expect(decided.status == 200, "\(decided.text)")
    return page.text
  }

  private func activity(_ gateway: GatewayFixture, _ token: String) async throws -> [String] {
    var active: [String] = []
    for server in ["mail", "files"] {
      let answer = try await ResourceTests.introspect(gateway, token, as: server)
      if answer.text.contains(#""active":true"#) { active.append(server) }
    }
    return active
  }

  @Test("The token of a device is active at its resource alone, also after a refresh and until it is revoked")
  func audience() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let started = try await start(gateway, for: ResourceTests.mail)
      let page = try await approve(started, at: gateway)
      #expect(page.contains("Mail") && page.contains(ResourceTests.mail))
      let tokens = try await gateway.poll(started)
      let access = try #require(NativeApp.tokens(in: tokens), "\(tokens.text)").accessToken.reveal()
      #expect(try await activity(gateway, access) == ["mail"])
      let mail = try await ResourceTests.introspect(gateway, access)
      #expect(mail.text.contains(#""client_id":"tv1""#) && mail.text.contains(#""scope":"read""#))
      let refreshed = try await gateway.refresh(tokens.refreshToken(), "tv1")
      let second = try #require(NativeApp.tokens(in: refreshed), "\(refreshed.text)").accessToken.reveal()
      #expect(try await activity(gateway, second) == ["mail"])
      try await expectStatus(200, of: gateway.post("/revoke", ["token": second, "client_id": "tv1"]))
      #expect(try await activity(gateway, second).isEmpty)
      try await expectStatus(
        200, of: gateway.post("/revoke", ["token": refreshed.refreshToken(), "client_id": "tv1"]))
      #expect(try await activity(gateway, access).isEmpty)
    }
  }

  @Test("A flow without a resource gives tokens that are active at none")
  func without() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let started = try await gateway.approvedDevice()
      let tokens = try await gateway.poll(started)
      let access = try #require(NativeApp.tokens(in: tokens), "\(tokens.text)").accessToken.reveal()
      #expect(try await activity(gateway, access).isEmpty)
    }
  }

  @Test("A poll for another resource is refused before anything is claimed, and the next one gets the tokens")
  func otherResource() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let started = try await start(gateway, for: ResourceTests.mail)
      _ = try await approve(started, at: gateway)
      for (resource, error) in [(ResourceTests.files, "invalid_target"), ("https://evil.example/", "invalid_target")] {
        var form = gateway.pollForm(started.deviceCode)
        form.append("resource", resource)
        try await gateway.expectTokenRefusal(form, error)
      }
      var form = gateway.pollForm(started.deviceCode)
      form.append("resource", "https://mail.example.com")
      try await expectStatus(200, of: gateway.post("/token", form))
      // A repeated poll is checked in the same way.
      try await expectStatus(200, of: gateway.post("/token", form))
      form.append("resource", ResourceTests.files)
      try await gateway.expectTokenRefusal(form, "invalid_target")
    }
  }

  @Test("Unlisted and several resources start no flow")
  func unlisted() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      for resources in [["https://evil.example/"], [ResourceTests.mail, ResourceTests.files]] {
        let response = try await gateway.authorizeDevice { form in
          for resource in resources { form.append("resource", resource) }
        }
        response.expectTokenError(400, "invalid_target")
      }
    }
  }

  @Test("A token that the server hands out for two resources is withheld, and a repeated poll does not get it either")
  func shared() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let mail = try await start(gateway, for: ResourceTests.mail)
      let files = try await start(gateway, "n2", for: ResourceTests.files)
      for started in [mail, files] { _ = try await approve(started, at: gateway) }
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"one-for-all","token_type":"Bearer","expires_in":600}"#.utf8))
      }
      try await expectStatus(200, of: gateway.poll(mail))
      let withheld = try await gateway.poll(files, "n2")
      #expect(withheld.status == 502 && withheld.headers["X-Proofgate-Rule"] == "token-shared", "\(withheld.text)")
      let repeated = try await gateway.poll(files, "n2")
      #expect(repeated.status == 400 && !repeated.text.contains("one-for-all"))
      #expect(try await activity(gateway, "one-for-all") == ["mail"])
    }
  }

  @Test("A flow whose resource leaves the policy ends at each of its steps", arguments: removalSteps)
  func removed(step: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let started = try await start(gateway, for: ResourceTests.mail)
      func remove() async { await gateway.reload { $0.resources.removeFirst() } }
      var browser = gateway.browser()
      if step == "sign-in" {
        await remove()
        let page = try await gateway.enter(started.userCode, in: &browser)
        #expect(page.status >= 400)
      } else {
        let page = try await gateway.confirmation(of: started, in: &browser)
        if step == "approval" { await remove() }
        _ = try await gateway.decide("approve", on: page, in: &browser)
        await remove()
      }
      try await gateway.expectTokenRefusal(gateway.pollForm(started.deviceCode), "invalid_grant")
      #expect(gateway.upstreamTokenForms.isEmpty)
    }
  }
}
