import Demo
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

  private func from(_ address: String) -> Headers { ["X-Forwarded-For": address] }

  @Test(
    "I-credentials: after twenty wrong secrets no endpoint compares a secret any more, not even the right one",
    arguments: ["/token", "/revoke", "/par"])
  func guessing(path: String) async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.endpoints.pushedAuthorization = ["/par"]
      policy.edit("w1") { $0.pushedAuthorization = .optional }
    }
    try await GatewayFixture.run(policy) { gateway in
      let token = try await refreshToken(gateway)
      let forms: [String: Form] = [
        "/token": ["grant_type": "refresh_token", "client_id": "w1", "refresh_token": token],
        "/revoke": ["client_id": "w1", "token": token],
        "/par": Form(decoding: gateway.authorizationTarget("w1").split(separator: "?").last ?? ""),
      ]
      let right = try #require(forms[path])
      func form(_ secret: String, at path: String) throws -> Form {
        var form = try #require(forms[path])
        form.append("client_secret", secret)
        return form
      }
      var statuses: [Int] = []
      for number in 0..<25 {
        let guess = try form("guess \(number)", at: path)
        statuses.append(try await gateway.expectRefused(post: path, guess, from("192.0.2.1")).status)
      }
      #expect(statuses.prefix(20).allSatisfy { $0 == 401 })
      #expect(statuses.last == 429)
      // Requests from another address are not affected.
      let elsewhere = try await gateway.post("/token", try form("w1secret", at: "/token"), from("192.0.2.2"))
      #expect(elsewhere.status == 200, "\(elsewhere.text)")
      for path in forms.keys.sorted() {
        // The bucket refills while a slow machine empties it.
        var last = 0
        for number in 0..<200 where last != 429 {
          last = try await gateway.post(path, try form("guess \(number)", at: path), from("192.0.2.1")).status
        }
        let response = try await gateway.expectRefused(
          post: path, try form("w1secret", at: path), from("192.0.2.1"), status: 429)
        #expect(response.headers.contains("Retry-After"))
      }
      // Without credentials there is no secret to guess.
      #expect(try await gateway.expectRefused(post: path, right, from("192.0.2.1")).status == 401)
    }
  }

  @Test(
    "I-credentials: guesses that only the upstream can compare are limited too",
    arguments: ["/token", "/revoke", "/introspect"])
  func presentedGuesses(path: String) async throws {
    let policy = try FixturePolicy.with { $0.edit("w3") { $0.grants = [.authorizationCode, .clientCredentials] } }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { request in
        guard request.path == path else { return nil }
        let isRight = String(decoding: request.body, as: UTF8.self).contains("client_secret=w3secret")
        let answer = isRight ? #"{"access_token":"x","active":true}"# : #"{"error":"invalid_client"}"#
        return Response(
          status: isRight ? 200 : 401, headers: ["Content-Type": "application/json"], body: Array(answer.utf8))
      }
      func form(_ secret: String) -> Form {
        var form: Form = ["grant_type": "client_credentials", "client_id": "w3", "token": "x"]
        form.append("client_secret", secret)
        return form
      }
      for number in 0..<20 {
        let response = try await gateway.post(path, form("guess \(number)"), from("192.0.2.1"))
        #expect(response.status == 401)
      }
      // The bucket refills while a slow machine empties it.
      var last = 0
      for number in 0..<200 where last != 429 {
        last = try await gateway.post(path, form("guess \(number)"), from("192.0.2.1")).status
      }
      let sent = gateway.upstream.recorder.count
      try await gateway.expectRefused(post: path, form("w3secret"), from("192.0.2.1"), status: 429)
      #expect(try await gateway.post(path, form("w3secret"), from("192.0.2.2")).status == 200)
      #expect(gateway.upstream.recorder.count == sent + 1)
    }
  }

  @Test("I-credentials: a secret that the gateway verifies never goes upstream", arguments: [false, true])
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

  @Test("I-credentials: credentials for the upstream pass unchanged")
  func upstreamsSecret() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.post("/revoke", ["token": "raw", "client_id": "w3", "client_secret": "w3secret"])
      let sent = try #require(gateway.upstream.recorder.requests(to: "/revoke").last)
      #expect(String(decoding: sent.body, as: UTF8.self).contains("w3secret"))
    }
  }

  @Test("I-credentials: a client that revokes another client's token gets 200, and the token stays valid")
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
