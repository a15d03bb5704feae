import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Telemetry
import Testing

/// The contents of the log and the metrics.
@Suite("Logs and metrics")
struct LogTests {
  @Test("6819-4.4.1.1-no-secrets-logged: log and metrics contain no code, verifier, token, secret or credential")
  func noSecrets() async throws {
    try await GatewayFixture.run { gateway in
      var browser = gateway.browser(for: "com.example.app:/cb")
      browser.keepsLog = true
      let delivery = try await gateway.walk(&browser)
      let code = try #require(delivery.parameters["code"])
      let tokens = try #require(NativeApp.tokens(in: try await gateway.redeem(code)))
      _ = try await gateway.refresh(tokens.refresh())
      _ = try await gateway.refresh(tokens.refresh())
      _ = try await gateway.redeem(code)
      let webCode = try await gateway.code("w1")
      _ = try await gateway.redeem(webCode, "w1") { $0.append("client_secret", "w1secret") }
      _ = try await gateway.redeem(webCode, "w1", headers: ["Authorization": "Basic dzE6d3Jvbmc="])
      var secrets = [
        code, webCode, GatewayFixture.verifier, GatewayFixture.challenge, tokens.accessToken.reveal(),
        try tokens.refresh(), "w1secret", FixturePolicy.nativeSecret, "dzE6d3Jvbmc", "wonderland",
      ]
      for form in gateway.upstreamTokenForms { secrets += [form["code"], form["refresh_token"]].compactMap(\.self) }
      for form in gateway.upstreamAuthorizationForms { secrets += [form["state"]].compactMap(\.self) }
      let written = gateway.logLines.joined(separator: "\n") + "\(gateway.metrics.snapshot())"
      #expect(gateway.logLines.count > 5)
      for secret in secrets where secret.utf8.count > 3 {
        #expect(!written.contains(secret), "a secret was written down")
      }
    }
  }

  @Test("9700-2.1.1-constant-challenge: a challenge that two browsers use is noted", arguments: ["n1", "p1"])
  func constantChallenge(client: String) async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.walk(client)
      #expect(!gateway.logLines.contains { $0.contains("challenge-reused") })
      _ = try await gateway.walk(client)
      #expect(gateway.logLines.contains { $0.contains("challenge-reused") })
    }
  }
}
