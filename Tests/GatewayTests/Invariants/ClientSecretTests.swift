import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("I-credentials")
struct ClientSecretTests {
  /// A refresh token that is sealed to w1.
  private func refreshToken(_ gateway: GatewayFixture) async throws -> String {
    let code = try await gateway.code("w1")
    let answer = try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }
    let tokens = try #require(NativeApp.tokens(in: answer), "\(answer.text)")
    return try #require(tokens.refreshToken).reveal()
  }

  @Test("I-credentials: a client with the right secret gets on while others guess", arguments: ["/token", "/revoke"])
  func guessing(path: String) async throws {
    try await GatewayFixture.run { gateway in
      let token = try await refreshToken(gateway)
      var form: Form =
        path == "/token"
        ? ["grant_type": "refresh_token", "client_id": "w1", "refresh_token": token]
        : ["client_id": "w1", "token": token]
      let right = form
      form.append("client_secret", "guess")
      var statuses: [Int] = []
      for _ in 0..<25 { statuses.append(try await gateway.expectRefused(post: path, form).status) }
      #expect(statuses.prefix(20).allSatisfy { $0 == 401 })
      #expect(statuses.last == 429)
      // Both endpoints count the same attempts.
      let elsewhere = try await gateway.expectRefused(
        post: "/token", gateway.tk("x", "w1") { $0.append("client_secret", "guess") }, status: 429)
      #expect(elsewhere.headers.contains("Retry-After"))
      form = right
      form.append("client_secret", "w1secret")
      #expect(try await gateway.post(path, form).status == 200)
    }
  }

  @Test("I-credentials: a secret of the gateway's never passes upstream", arguments: [false, true])
  func ownSecret(inHeader: Bool) async throws {
    try await GatewayFixture.run { gateway in
      let basic: Headers = [
        "Authorization": BasicCredentials(user: "w1", password: Secret("w1secret")).header.reveal()
      ]
      for (path, form) in [("/revoke", ["token": "raw"] as Form)] {
        var form = form
        if !inHeader {
          form.set("client_id", "w1")
          form.append("client_secret", "w1secret")
        }
        _ = try await gateway.post(path, form, inHeader ? basic : [:])
        let sent = try #require(gateway.upstream.recorder.requests(to: path).last)
        #expect(!sent.headers.contains("Authorization"))
        let body = String(decoding: sent.body, as: UTF8.self)
        #expect(body.contains("raw"))
        #expect(!body.contains("w1secret"))
      }
    }
  }

  @Test("I-credentials: credentials for the upstream pass as they came")
  func upstreamsSecret() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.post("/revoke", ["token": "raw", "client_id": "w3", "client_secret": "w3secret"])
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").last)
      #expect(String(decoding: sent.body, as: UTF8.self).contains("w3secret"))
    }
  }

  @Test("I-credentials: to revoke another client's token is no error, and does nothing")
  func foreignToken() async throws {
    try await GatewayFixture.run { gateway in
      let token = try await refreshToken(gateway)
      let before = gateway.upstream.recorder.count
      let response = try await gateway.post("/revoke", ["client_id": "n1", "token": token])
      #expect(gateway.upstream.recorder.count == before)
      #expect(response.status == 200)
      #expect(response.body.isEmpty)
      let refresh: Form = [
        "grant_type": "refresh_token", "client_id": "w1", "client_secret": "w1secret", "refresh_token": token,
      ]
      #expect(try await gateway.post("/token", refresh).status == 200)
    }
  }
}
