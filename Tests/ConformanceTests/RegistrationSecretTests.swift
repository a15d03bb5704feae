import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// RFC 7591: registered clients with a secret.
@Suite("Dynamic registration with secrets")
struct RegistrationSecretTests {
  @Test(
    "8252-8.4-instance-secret: each registration has an id and a secret of its own, which fails for the other",
    arguments: ["client_secret_basic", "client_secret_post"])
  func instanceSecret(method: String) async throws {
    let policy = try GatewayFixture.registering { $0.issuesSecrets = true }
    try await GatewayFixture.run(policy) { gateway in
      let members = """
        "application_type":"native","token_endpoint_auth_method":"\(method)",\
        "grant_types":["authorization_code","refresh_token"]
        """
      let response = try await gateway.register([RegistrationTests.native], members)
      #expect(response.text.contains("\"client_secret_expires_at\":0"))
      let first = try response.registration()
      let second = try await gateway.register([RegistrationTests.native], members).registration()
      #expect(first.method == method)
      #expect(first.clientID != second.clientID)
      let (own, others) = (try #require(first.secret), try #require(second.secret))
      #expect(own != others)

      let withoutChallenge = gateway.authorizationTarget(first.clientID, RegistrationTests.native) {
        $0.remove("code_challenge")
      }
      _ = try await gateway.expectErrorPage(withoutChallenge)
      _ = try await gateway.expectErrorPage(
        gateway.authorizationTarget(first.clientID, RegistrationTests.native + "/x"))

      let code = try await gateway.code(first.clientID, RegistrationTests.native)
      for wrong in [others, nil] {
        let form = gateway.tokenForm(code, first.clientID, RegistrationTests.native)
        let refused = try await gateway.post("/token", form, as: first.clientID, secret: wrong, method)
        #expect([400, 401].contains(refused.status))
        #expect(refused.text.contains("\"error\":\"invalid_client\""), "\(refused.text)")
      }
      let form = gateway.tokenForm(code, first.clientID, RegistrationTests.native)
      let answer = try await gateway.post("/token", form, as: first.clientID, secret: own, method)
      let token = try #require(NativeApp.tokens(in: answer)?.refreshToken, "\(answer.text)")
      let refresh = gateway.refreshForm(token.reveal(), first.clientID)
      for wrong in [others, nil] {
        let refused = try await gateway.post("/token", refresh, as: first.clientID, secret: wrong, method)
        #expect(refused.text.contains("\"error\":\"invalid_client\""), "\(refused.text)")
      }
      // The secret does not depend on the setting, so that the client cannot be used without it afterwards.
      await gateway.reload { $0.registration?.issuesSecrets = false }
      let refused = try await gateway.post("/token", refresh, as: first.clientID, secret: nil, method)
      #expect(refused.text.contains("\"error\":\"invalid_client\""), "\(refused.text)")
      let refreshed = try await gateway.post("/token", refresh, as: first.clientID, secret: own, method)
      #expect(refreshed.status == 200, "\(refreshed.text)")
    }
  }

  @Test("The secret and the refresh token of a registered client stay at the gateway if the upstream client is public")
  func publicUpstreamClient() async throws {
    let policy = try GatewayFixture.registering { settings in
      settings.issuesSecrets = true
      settings.rules.upstream.clientSecret = nil
      settings.rules.upstream.authentication = .none
    }
    try await GatewayFixture.run(policy) { gateway in
      let uri = RegistrationTests.native
      let client = try await gateway.register(
        [uri], "\"grant_types\":[\"authorization_code\",\"refresh_token\"]"
      ).registration()
      let (id, secret) = (client.clientID, try #require(client.secret))
      let code = try await gateway.code(id, uri)
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let json = #"{"access_token":"access","token_type":"Bearer","expires_in":60,"refresh_token":"raw-refresh"}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(json.utf8))
      }
      let answer = try await gateway.post(
        "/token", gateway.tokenForm(code, id, uri), as: id, secret: secret, client.method)
      #expect(!answer.text.contains("raw-refresh"), "\(answer.text)")
      let token = try #require(NativeApp.tokens(in: answer)?.refreshToken, "\(answer.text)")
      let refresh = gateway.refreshForm(token.reveal(), id)
      #expect(try await gateway.post("/token", refresh).text.contains("invalid_client"))
      let refreshed = try await gateway.post("/token", refresh, as: id, secret: secret, client.method)
      #expect(refreshed.status == 200, "\(refreshed.text)")
      #expect(!refreshed.text.contains("raw-refresh"))
      for request in gateway.upstream.recorder.requests(to: "/token") {
        #expect(!String(decoding: request.body, as: UTF8.self).contains(secret))
        #expect(!request.headers.contains("Authorization"))
      }
    }
  }
}
