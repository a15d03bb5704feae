import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// RFC 6749, section 2.3: client authentication at the token endpoint.
@Suite("Client authentication")
struct ClientAuthenticationTests {
  private static let basicW1 = "Basic dzE6dzFzZWNyZXQ="

  @Test("6749-2.2-id-not-auth: a confidential client is not authenticated by its id alone")
  func idAlone() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      let response = try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "w1"))
      #expect([400, 401].contains(response.status))
      #expect(NativeApp.error(in: response) == "invalid_client")
    }
  }

  @Test("6749-2.3-one-method: two authentication methods in one request are refused")
  func twoMethods() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, "w1") { $0.append("client_secret", "w1secret") }, "invalid_request",
        ["Authorization": Self.basicW1])
    }
  }

  @Test("6749-2.3.1-basic: the gateway checks Basic credentials and replaces them with those for the upstream")
  func basic() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      let response = try await gateway.redeem(code, "w1", headers: ["Authorization": Self.basicW1]) {
        $0.remove("client_id")
      }
      #expect(response.status == 200, "\(response.text)")
      let sent = try #require(gateway.upstream.recorder.requests(to: "/token").first?.headers["Authorization"])
      #expect(sent != Self.basicW1)
      #expect(sent.hasPrefix("Basic "))
    }
  }

  @Test("6749-2.3.1-basic-form: client id and secret are form-encoded in Basic credentials")
  func basicForm() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("web:2")
      let form = gateway.tokenForm(code, "web:2").without("client_id")
      let wrong = try await gateway.expectRefused(
        post: "/token", form, ["Authorization": "Basic d2ViOjI6YSBiJWM="], status: 400)
      #expect(NativeApp.error(in: wrong) == "invalid_client")
      let right = try await gateway.post("/token", form, ["Authorization": "Basic d2ViJTNBMjphK2IlMjVj"])
      #expect(right.status == 200, "\(right.text)")
    }
  }

  @Test("2.1-2.4.1-post-auth: credentials in the body are accepted too")
  func body() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.redeem(try await gateway.code("w1"), "w1") {
        $0.append("client_secret", "w1secret")
      }
      #expect(response.status == 200, "\(response.text)")
    }
  }

  @Test("6749-5.2-401: wrong Basic credentials get 401 with a Basic challenge")
  func challenge() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      let response = try await gateway.expectTokenRefusal(
        gateway.tokenForm(code, "w1") { $0.remove("client_id") }, "invalid_client", status: 401,
        ["Authorization": "Basic dzE6d3Jvbmc="])
      #expect(response.headers["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
      let inBody = try await gateway.expectRefused(
        post: "/token", gateway.tokenForm(code, "w1") { $0.append("client_secret", "wrong") })
      #expect([400, 401].contains(inBody.status))
      #expect(NativeApp.error(in: inBody) == "invalid_client")
      let right = try await gateway.redeem(code, "w1", headers: ["Authorization": Self.basicW1]) {
        $0.remove("client_id")
      }
      #expect(right.status == 200)
    }
  }

  @Test("6749-2.3.1-brute-force: guesses of a secret are throttled for that client and that source only")
  func bruteForce() async throws {
    try await GatewayFixture.run { gateway in
      let form = gateway.tokenForm("x", "w1").without("client_id")
      var last: Response?
      var throttled = 0
      for guess in 0..<50 {
        let response = try await gateway.expectRefused(
          post: "/token", form,
          ["Authorization": BasicCredentials(user: "w1", password: Secret("g\(guess)")).header.reveal()])
        if response.status == 429 { throttled += 1 }
        last = response
      }
      #expect(throttled > 0)
      #expect(last?.status == 429)
      #expect(last?.headers["Retry-After"] != nil)
      try await expectStatus(200, of: gateway.redeem(gateway.code("n1")))
      // Another source can still authenticate.
      let code = try await gateway.code("w1")
      let elsewhere = try await gateway.redeem(
        code, "w1", headers: ["Authorization": Self.basicW1, "X-Forwarded-For": "192.0.2.9"]
      ) { $0.remove("client_id") }
      #expect(elsewhere.status == 200, "\(elsewhere.text)")
    }
  }
}
