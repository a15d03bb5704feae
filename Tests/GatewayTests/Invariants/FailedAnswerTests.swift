import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("I-failure")
struct FailedAnswerTests {
  private static func json(_ status: Int, _ body: String) -> Response {
    Response(status: status, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
  }

  @Test(
    "I-failure: a failure of the upstream is not blamed on the client and does not use up the code",
    arguments: [
      (500, "invalid_grant", 502, "server_error"), (502, "invalid_request", 502, "server_error"),
      (503, "invalid_grant", 503, "temporarily_unavailable"), (429, "invalid_grant", 503, "temporarily_unavailable"),
      (400, "ORA-12541", 502, "server_error"), (401, "invalid_client", 502, "server_error"),
    ])
  func upstreamsFault(status: Int, word: String, expected: Int, error: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      gateway.upstream.script { request in
        request.path == "/token" ? Self.json(status, #"{"error":"\#(word)"}"#) : nil
      }
      try await gateway.redeem(code).expectTokenError(expected, error)
      gateway.upstream.script(nil)
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test(
    "I-failure: a refresh token stays valid after a failure of the upstream",
    arguments: [(500, "invalid_grant", 502), (429, "invalid_grant", 503), (400, "busy", 502)])
  func refresh(status: Int, word: String, expected: Int) async throws {
    try await GatewayFixture.run { gateway in
      let answer = try await gateway.redeem(try await gateway.code())
      let tokens = try #require(NativeApp.tokens(in: answer))
      let token = try #require(tokens.refreshToken).reveal()
      let form: Form = ["grant_type": "refresh_token", "client_id": "n1", "refresh_token": token]
      gateway.upstream.script { request in
        request.path == "/token" ? Self.json(status, #"{"error":"\#(word)"}"#) : nil
      }
      #expect(try await gateway.post("/token", form).status == expected)
      gateway.upstream.script(nil)
      #expect(try await gateway.post("/token", form).status == 200)
    }
  }

  @Test(
    "I-failure: an error of the upstream about the code reaches the client as invalid_grant",
    arguments: ["invalid_grant", "bad_verification_code", "expired_code"])
  func clientsFault(word: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      gateway.upstream.script { request in
        request.path == "/token" ? Self.json(400, #"{"error":"\#(word)"}"#) : nil
      }
      try await gateway.redeem(code).expectTokenError(400, "invalid_grant")
    }
  }
}
