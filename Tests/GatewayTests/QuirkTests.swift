import Compression
import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("Legacy servers with quirks")
struct QuirkTests {
  static let quirks: [(String, LegacyQuirks)] = [
    ("refuses PKCE parameters", .with { $0.refusesPKCEParameters = true }),
    ("shows errors as pages", .with { $0.errorsAsPages = true }),
    ("answers with forms", .with { $0.tokenFormat = .form }),
    ("hands out tokens over GET", .with { $0.tokensOverGET = true }),
    ("remembers consent", .with { $0.remembersConsent = true }),
    ("redirects errors anywhere", .with { $0.redirectsErrorsAnywhere = true }),
    ("makes redirects absolute", .with { $0.absoluteRedirects = true }),
    ("separates scopes with commas", .with { $0.commaSeparatedScopes = true }),
    ("rotates refresh tokens", .with { $0.rotatesRefreshTokens = true }),
    (
      "everything at once",
      .with {
        $0.refusesPKCEParameters = true
        $0.errorsAsPages = true
        $0.tokenFormat = .form
        $0.tokensOverGET = true
        $0.remembersConsent = true
        $0.redirectsErrorsAnywhere = true
        $0.absoluteRedirects = true
        $0.commaSeparatedScopes = true
        $0.rotatesRefreshTokens = true
        $0.tokenErrorsAre200 = true
      }
    ),
  ]

  @Test("A native app gets working JSON tokens from a server with this quirk", arguments: quirks.indices)
  func flow(index: Int) async throws {
    try await GatewayFixture.run(quirks: Self.quirks[index].1) { gateway in
      let code = try await gateway.code("n1") { $0.append("scope", "read write") }
      let response = try await gateway.redeem(code)
      #expect(response.headers["Content-Type"] == "application/json")
      let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
      #expect(tokens.tokenType.lowercased() == "bearer")
      #expect(tokens.scope == "read write")
      #expect(response.text.contains("\"expires_in\":3600"))
      let user = try await gateway.get("/api/me", ["Authorization": "Bearer \(tokens.accessToken.reveal())"])
      #expect(user.status == 200)
      let refresh: Form = [
        "grant_type": "refresh_token", "refresh_token": try #require(tokens.refreshToken).reveal(), "client_id": "n1",
      ]
      let again = try await gateway.post("/token", refresh)
      #expect(NativeApp.tokens(in: again) != nil, "\(again.text)")
    }
  }

  /// A response of the token endpoint and the finding that says why it is unusable.
  static let unusableAnswers: [(status: Int, body: [UInt8], finding: String)] = [
    (200, Array(#"{"data":{"access_token":"a"},"message":"success"}"#.utf8), "answer-lacks-access_token"),
    (200, Array(#"{"accessToken":"a"}"#.utf8), "answer-lacks-access_token"),
    (200, Array(#"{"access_token":""}"#.utf8), "answer-lacks-access_token"),
    (200, Array(#"{"access_token":12}"#.utf8), "answer-token-not-text"),
    (200, Array(#"{"access_token":"a"#.utf8) + [0xf6] + Array(#""}"#.utf8), "answer-token-not-text"),
    (
      200, Array(#"{"access_token":"a","refresh_token":"b"#.utf8) + [0xf6] + Array(#""}"#.utf8),
      "answer-token-not-text"
    ),
    (200, Array(#"{"access_token":"a"} // ok"#.utf8), "answer-not-json"),
    (200, Array(#"["a"]"#.utf8), "answer-not-json"),
    (302, [], "answer-status"),
    (500, Array(#"{"access_token":"a"}"#.utf8), "answer-status"),
  ]

  @Test("The log says why a token response is unusable", arguments: unusableAnswers.indices)
  func unusable(index: Int) async throws {
    let (status, body, finding) = Self.unusableAnswers[index]
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(status: status, headers: ["Content-Type": "application/json"], body: body)
      }
      let response = try await gateway.redeem(try await gateway.code())
      #expect(response.status == 502)
      #expect(gateway.logLines.last?.contains("\"\(finding)\"") == true, "\(gateway.logLines.last ?? "")")
    }
  }

  @Test("A name that is not UTF-8 loses no tokens, and members without a value are left out")
  func tolerant() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let members = #","refresh_token":"","error":null,"error_description":"","note":null}"#
        let body = Array(#"{"access_token":"a","token_type":"bearer","name":"M"#.utf8) + [0xfc] + Array(#"ller""#.utf8)
        return Response(
          status: 200, headers: ["Content-Type": "application/json"], body: body + Array(members.utf8))
      }
      let response = try await gateway.redeem(try await gateway.code())
      #expect(response.status == 200)
      let expected = #"{"access_token":"a","name":"M\#u{fffd}ller","note":null,"token_type":"bearer"}"#
      #expect(response.text == expected)
    }
  }

  @Test(
    "A token response is read even if the upstream compresses it unasked", arguments: ["gzip", "GZIP", "x-gzip"])
  func compressed(coding: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let body = try #require(
        Encoder.gzip(Array(#"{"access_token":"compressed","token_type":"Bearer","expires_in":60}"#.utf8)))
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json", "Content-Encoding": coding], body: body)
      }
      let response = try await gateway.redeem(code)
      #expect(response.headers["Content-Encoding"] == nil)
      let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
      #expect(tokens.accessToken.reveal() == "compressed")
    }
  }

  @Test(
    "A token response with an unreadable coding gives 502, and the code stays valid",
    arguments: ["br", "gzip, gzip", "deflate"])
  func unreadable(coding: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let body = Array(#"{"access_token":"compressed","token_type":"Bearer"}"#.utf8)
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json", "Content-Encoding": coding], body: body)
      }
      try await gateway.redeem(code).expectTokenError(502, "server_error")
      gateway.upstream.script(nil)
      #expect(try await gateway.redeem(code).status == 200)
    }
  }

  @Test(
    "Tokens and errors are read from a response with content only if its status says that the content is the result")
  func statuses() async throws {
    try await GatewayFixture.run { gateway in
      for (status, isRead) in [
        (200, true), (201, true), (203, true), (205, false), (206, false), (207, false), (226, false), (302, false),
      ] {
        let code = try await gateway.code()
        for (body, expected) in [
          (#"{"error":"invalid_grant"}"#, (400, "invalid_grant")),
          (#"{"access_token":"a","token_type":"Bearer","expires_in":60}"#, (200, "")),
        ] {
          gateway.upstream.script { request in
            guard request.path == "/token" else { return nil }
            return Response(
              status: status, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
          }
          let response = try await gateway.redeem(expected.0 == 200 ? code : try await gateway.code())
          gateway.upstream.script(nil)
          if !isRead {
            response.expectTokenError(502, "server_error")
          } else if expected.0 == 200 {
            #expect(NativeApp.tokens(in: response) != nil, "\(status): \(response.text)")
          } else {
            response.expectTokenError(expected.0, expected.1)
          }
        }
        // No client has to sign in again because of a status that says nothing about its code.
        if !isRead { #expect(try await gateway.redeem(code).status == 200, "\(status)") }
      }
    }
  }

  @Test("The gateway's pages are not compressed, whatever the browser accepts")
  func pages() async throws {
    try await GatewayFixture.run { gateway in
      let page = try await gateway.get("/authorize?client_id=unknown", ["Accept-Encoding": "gzip, deflate"])
      #expect(page.status == 400 && page.headers["Content-Encoding"] == nil)
      #expect(page.text.contains("</html>"))
    }
  }

  @Test(
    "A refused code always gives invalid_grant, whatever error the upstream sends",
    arguments: [
      .with { $0.badCodeError = "invalid_code" }, .with { $0.tokenErrorName = "error_message" },
      .with { $0.tokenErrorStatus = 401 }, .with { $0.tokenErrorStatus = 403 }, .with { $0.tokenErrorsAre200 = true },
      .with {
        $0.tokenFormat = .form
        $0.tokenErrorsAre200 = true
      },
    ] as [LegacyQuirks])
  func badCodes(quirks: LegacyQuirks) async throws {
    try await GatewayFixture.run(quirks: quirks) { gateway in
      let code = try await gateway.code("p1")
      // A new legacy server, which does not know the code.
      gateway.upstream.serve(gateway.legacyServer(quirks))
      let response = try await gateway.redeem(code, "p1")
      response.expectTokenError(400, "invalid_grant")
      #expect(response.headers["Content-Type"] == "application/json")
      #expect(response.headers["Cache-Control"] == "no-store")
    }
  }

  @Test("After a denial that the upstream shows as a page, the app can try again")
  func denialAsPage() async throws {
    try await GatewayFixture.run(quirks: .with { $0.errorsAsPages = true }) { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      let response = try await gateway.allow(begun, cookies: [begun.cookie, session]) { $0.set("confirm", "no") }
      #expect(response.status == 200)
      #expect(response.text.contains("access_denied"))
      let again = try await gateway.begin(cookies: [begun.cookie, session]) { $0.set("state", "s2") }
      let answer = try await gateway.allow(again, cookies: [again.cookie, session])
      #expect(answer.location?.contains("state=s2") == true)
    }
  }

  @Test("An upstream that redirects errors to any URI never gets an unverified redirect URI")
  func redirectsAnywhere() async throws {
    try await GatewayFixture.run(quirks: .with { $0.redirectsErrorsAnywhere = true }) { gateway in
      for uri in ["com.evil:/cb", "https://evil.example/cb", "com.example.p1:/cb/../x"] {
        let response = try await gateway.expectRefused(get: gateway.authorizationTarget("p1", uri), status: 400)
        #expect(response.location == nil)
        #expect(!response.text.contains("href=\"https://evil"))
      }
    }
  }

  @Test("An upstream that refuses challenges gets one only if the policy says that it supports PKCE")
  func glewlwyd() async throws {
    try await GatewayFixture.run(quirks: .with { $0.refusesPKCEParameters = true }) { gateway in
      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
      // If the policy is wrong about the upstream, the app gets the error with its own state.
      await gateway.reload { $0.upstream.usesPKCE = true }
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      let answer = try response.expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(answer["error"] == "invalid_request")
      #expect(answer["state"] == "s1")
    }
  }

  @Test("The gateway refuses token requests by GET, even if the upstream accepts them")
  func tokensOverGET() async throws {
    try await GatewayFixture.run(quirks: .with { $0.tokensOverGET = true }) { gateway in
      let code = try await gateway.code("p1")
      try await gateway.expectRefused(get: gateway.tokenForm(code, "p1").added(to: "/token"), status: 405)
      try await gateway.expectRefused(
        Request(method: "HEAD", target: gateway.tokenForm(code, "p1").added(to: "/token")), status: 405)
    }
  }
}
