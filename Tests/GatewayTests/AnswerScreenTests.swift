import Demo
import GatewayTestSupport
import HTTP
import JSON
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing

@testable import Gateway

/// Response members beyond RFC 6749, section 5.1, that a legacy server sends in answer to requests with the gateway's
/// credentials.
@Suite("Screening of the upstream's token response")
struct AnswerScreenTests {
  private func answer(_ gateway: GatewayFixture, status: Int = 200, _ text: String) {
    gateway.upstream.script { request in
      guard request.path == "/token" || request.path == "/revoke" else { return nil }
      return Response(status: status, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
    }
  }

  static let members = [
    #""refreshToken":"RAW-refresh""#, #""Refresh_Token":"RAW-refresh""#, #""refresh-token":"RAW-refresh""#,
    #""refresh_token_v2":"RAW-refresh""#, #""data":{"refresh_token":"RAW-refresh"}"#, #""rt":"RAW-refresh""#,
    #""list":[{"x":[{"refreshToken":"RAW-refresh"}]}]"#, #""refresh_token":["RAW-refresh"]"#,
    #""refresh_token":{"value":"RAW-refresh"}"#, #""refresh_token":"RAW-refresh","copy":"RAW-refresh""#,
    #""refresh_expires_in":"RAW-refresh""#, #""client_secret":"RAW-refresh""#,
    #""refresh_token":"RAW-refresh","RAW-refresh":1"#, #""refresh_token":"RAW-refresh","scope":"RAW-refresh""#,
    #""refresh_token":"RAW-refresh","id_token":"RAW-refresh""#,
    #""refresh_token":"RAW-refresh","scope":["RAW-refresh"]"#,
    #""refresh_token":"RAW-refresh","data":{"list":[["RAW-refresh"],{"x":"RAW-refresh"}]}"#,
    #""refresh_token":["RAW-refresh"],"copy":"RAW-refresh""#,
  ]

  @Test("A refresh token reaches the app only sealed, whatever the name of its member", arguments: members)
  func refreshTokens(member: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      answer(gateway, #"{"access_token":"at","token_type":"Bearer",\#(member)}"#)
      let response = try await gateway.redeem(code)
      #expect(response.status == 200)
      #expect(!response.text.contains("RAW-refresh"), "\(response.text)")
      let tokens = try #require(NativeApp.tokens(in: response))
      #expect(tokens.accessToken.reveal() == "at")
      if let sealed = tokens.refreshToken {
        #expect(
          try gateway.sealer.open(RefreshGrant.self, from: sealed.reveal()).upstreamRefreshToken.reveal()
            == "RAW-refresh")
      }
      #expect(gateway.logLines.last?.contains("answer-screened") == true)
    }
  }

  @Test("A short refresh token is masked where it is a whole text, and not where it is a part of one")
  func shortToken() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      answer(
        gateway,
        #"{"access_token":"at","expires_in":60,"scope":"a rt-1","refresh_token":"rt-1","copy":"rt-1","#
          + #""id_token":"rt-1","empty":"","data":{"list":["rt-1","rt-12"]}}"#)
      let response = try await gateway.redeem(code)
      let members = try #require(JSONValue.members(of: response.body))
      #expect(members["copy"] == .string("***"))
      #expect(members["id_token"] == nil)
      #expect(members["data"] == .object(["list": .array([.string("***"), .string("rt-12")])]))
      #expect(members["scope"] == .string("a rt-1"))
      #expect(members["empty"] == .string(""))
      #expect(members["expires_in"] == .integer(60))
    }
  }

  @Test("A refresh token that is a JSON number is sealed as its digits")
  func number() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      answer(gateway, #"{"access_token":"at","refresh_token":1234567890123}"#)
      let response = try await gateway.redeem(code)
      #expect(!response.text.contains("1234567890123"))
      let sealed = try #require(NativeApp.tokens(in: response)?.refreshToken)
      let grant = try gateway.sealer.open(RefreshGrant.self, from: sealed.reveal())
      #expect(grant.upstreamRefreshToken.reveal() == "1234567890123")
    }
  }

  @Test("Known members and harmless unknown members pass unchanged")
  func others() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      answer(
        gateway,
        #"{"access_token":"at","id_token":"a.b.c","expires_in":60,"refresh_expires_in":1800,"refresh_token_expires_in":"#
          + #""1800","session_state":"s","user":{"name":"alice","roles":["a","b"]},"not-before-policy":0}"#)
      let response = try await gateway.redeem(code)
      let members = try #require(JSONValue.members(of: response.body))
      #expect(members["refresh_expires_in"] == .integer(1800))
      #expect(members["refresh_token_expires_in"] == .string("1800"))
      #expect(members["id_token"] == .string("a.b.c"))
      #expect(members["session_state"] == .string("s"))
      #expect(members["not-before-policy"] == .integer(0))
      #expect(members["user"] == .object(["name": .string("alice"), "roles": .array([.string("a"), .string("b")])]))
      #expect(gateway.logLines.last?.contains("answer-screened") == false)
    }
  }

  @Test("A confidential client with its own credentials gets its own refresh token and all members")
  func ownTokens() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w3")
      answer(gateway, #"{"access_token":"at","refresh_token":"own","refreshToken":"own"}"#)
      let response = try await gateway.redeem(code, "w3") { $0.append("client_secret", "w3secret") }
      let members = try #require(JSONValue.members(of: response.body))
      #expect(members["refresh_token"] == .string("own"))
      #expect(members["refreshToken"] == .string("own"))
    }
  }

  @Test("The held secret and the upstream's code are replaced in every text of the response", arguments: [200, 400])
  func secrets(status: Int) async throws {
    try await GatewayFixture.run { gateway in
      let sealed = try await gateway.code()
      let code = try gateway.sealer.open(IssuedCode.self, from: sealed).upstreamCode.reveal()
      let secret = FixturePolicy.nativeSecret
      let pair = BasicCredentials(user: "legacy-native", password: Secret(secret)).header.reveal().dropFirst(6)
      let text = "secret \(secret) of \(pair): code \(code) not found"
      answer(
        gateway, status: status,
        status == 200
          ? #"{"access_token":"at","debug":{"\#(code)":1,"text":["\#(text)"]}}"#
          : #"{"error":"invalid_grant","error_description":"\#(text)"}"#)
      let response = try await gateway.redeem(sealed)
      #expect(response.status == status)
      #expect(response.text.contains("secret *** of ***: code *** not found"), "\(response.text)")
      for hidden in [secret, code, String(pair)] { #expect(!response.text.contains(hidden)) }
    }
  }

  @Test("The responses to a refresh and to a revocation do not show the upstream's token")
  func refresh() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.redeem(try await gateway.code())
      let sealed = try #require(NativeApp.tokens(in: response)?.refreshToken).reveal()
      let raw = try gateway.sealer.open(RefreshGrant.self, from: sealed).upstreamRefreshToken.reveal()
      answer(gateway, status: 400, #"{"error":"invalid_scope","error_description":"\#(raw) is for less"}"#)
      let refresh: Form = ["grant_type": "refresh_token", "refresh_token": sealed, "client_id": "n1"]
      let refused = try await gateway.post("/token", refresh)
      refused.expectTokenError(400, "invalid_scope")
      #expect(!refused.text.contains(raw))
      let revoked = try await gateway.post("/revoke", ["token": sealed, "client_id": "n1"])
      #expect(!revoked.text.contains(raw))
    }
  }
}
