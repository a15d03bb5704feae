import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Reactor
import Sealing
import Stores
import Testing
import Time

@Suite("I-failure")
struct FailureTests {
  /// Expects this error from a gateway whose upstream fails: at the authorization endpoint, in a transaction, at the
  /// token and revocation endpoints, and on a path that passes.
  private func expect(
    _ status: Int, _ error: String, from broken: GatewayFixture, knownTo gateway: GatewayFixture,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let begun = try await gateway.begin()
    let code = try await gateway.code("p1")
    let sealed = try await gateway.sealedRefreshToken()

    let first = try await broken.get(gateway.authorizationTarget("p1"))
    let told = try first.expectErrorRedirect(to: "com.example.p1:/cb", sourceLocation: sourceLocation)
    #expect(told["error"] == error, sourceLocation: sourceLocation)
    #expect(told["state"] == "s1", sourceLocation: sourceLocation)
    #expect(told["iss"] == "https://gw.example", sourceLocation: sourceLocation)
    let later = try await broken.get(begun.target, Headers.cookies([begun.cookie]))
    #expect(try later.expectErrorRedirect(to: "com.example.p1:/cb", sourceLocation: sourceLocation)["error"] == error)

    let form = try await broken.post("/authorize", ["password": "x"], Headers.cookies([begun.cookie]))
    #expect(form.status == status, sourceLocation: sourceLocation)
    let refresh: Form = ["grant_type": "refresh_token", "refresh_token": sealed, "client_id": "p1"]
    for response in [
      try await broken.redeem(code, "p1"), try await broken.post("/token", refresh),
      try await broken.post("/revoke", ["token": sealed, "client_id": "p1"]),
    ] {
      response.expectTokenError(status, error, sourceLocation: sourceLocation)
      #expect(response.headers.contains("Retry-After") == (status == 503), sourceLocation: sourceLocation)
    }
    let passed = try await broken.get("/login")
    #expect(passed.status == status, sourceLocation: sourceLocation)
    for response in [form, passed] {
      #expect(response.headers.contains("Retry-After") == (status == 503), sourceLocation: sourceLocation)
    }
  }

  @Test("I-failure: an upstream that refuses connections gives 503, temporarily_unavailable")
  func dead() async throws {
    try await GatewayFixture.run { gateway in
      try await gateway.withReplica(upstream: .dead) { broken in
        try await expect(503, "temporarily_unavailable", from: broken, knownTo: gateway)
      }
    }
  }

  @Test("I-failure: an upstream that does not respond in time gives 504, temporarily_unavailable")
  func hanging() async throws {
    let raw = try await RawUpstream(.silence)
    try await GatewayFixture.run { gateway in
      var impatient = FixturePolicy(gateway.policy)
      impatient.upstream.responseTimeout = 20
      try await gateway.withReplica(policy: impatient.policy, upstream: .raw(raw)) { broken in
        try await expect(504, "temporarily_unavailable", from: broken, knownTo: gateway)
      }
    }
    await raw.stop()
  }

  @Test(
    "I-failure: an upstream that breaks off or sends garbage gives 502, server_error",
    arguments: [
      "", "HTTP/1.1 200", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 99 No\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
    ])
  func garbage(answer: String) async throws {
    let raw = try await RawUpstream(answer.isEmpty ? .reset : .bytes(answer))
    try await GatewayFixture.run { gateway in
      try await gateway.withReplica(upstream: .raw(raw)) { broken in
        try await expect(502, "server_error", from: broken, knownTo: gateway)
      }
    }
    await raw.stop()
  }

  @Test("I-failure: the operator learns why responses of the upstream were refused, for five requests a minute")
  func reason() async throws {
    let raw = try await RawUpstream(.bytes("HTTP/1.1 200 OK\nContent-Length: 0\n\n"))
    try await GatewayFixture.run { gateway in
      try await gateway.withReplica(upstream: .raw(raw)) { broken in
        var ids: [String] = []
        for _ in 0..<8 {
          let response = try await broken.get("/page?code=secret")
          #expect(response.status == 502)
          ids.append(response.headers["X-Request-ID"] ?? "-")
        }
        let notices = try await broken.notices(5).sorted()
        #expect(
          notices
            == ids.prefix(5).map {
              "502 for GET /page from 127.0.0.1 (request \($0)): the answer of the upstream was refused: a bare line feed "
                + "in the head"
            }.sorted())
      }
    }
    await raw.stop()
  }

  @Test("I-failure: a truncated token response gives 502, whatever its beginning says")
  func truncated() async throws {
    let body = #"{"access_token":"at","token_type":"bearer"}"#
    let raw = try await RawUpstream(
      .bytes(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count + 1)\r\n\r\n\(body)"))
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      try await gateway.withReplica(upstream: .raw(raw)) { broken in
        let response = try await broken.redeem(code, "p1")
        response.expectTokenError(502, "server_error")
        #expect(!response.text.contains("\"at\""))
      }
    }
    await raw.stop()
  }

  @Test(
    "I-failure: an unusable token response gives 502, server_error, or 503 if the upstream sent 503",
    arguments: [
      (200, "text/html", "<html>Internal error</html>"), (200, "application/json", "{"),
      (200, "application/json", "[]"),
      (200, "application/json", "{}"), (200, "application/json", #"{"access_token":""}"#), (200, "text/plain", ""),
      (500, "text/html", "oops"), (500, "application/json", #"{"error":"invalid_grant"}"#),
      (503, "application/json", #"{"error":"invalid_grant"}"#), (302, "text/html", ""), (404, "text/html", "no"),
      (500, "application/json", #"{"access_token":"at","token_type":"bearer"}"#),
      (200, "application/json", #"{"error":"server_error"}"#),
      (401, "application/json", #"{"error":"invalid_client"}"#),
    ])
  func unusable(status: Int, type: String, body: String) async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      let sealed = try await gateway.sealedRefreshToken()
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(status: status, headers: ["Content-Type": type, "Location": "/login"], body: Array(body.utf8))
      }
      let refresh: Form = ["grant_type": "refresh_token", "refresh_token": sealed, "client_id": "p1"]
      for response in [try await gateway.redeem(code, "p1"), try await gateway.post("/token", refresh)] {
        #expect(response.status == (status == 503 ? 503 : 502), "\(response.text)")
        #expect(NativeApp.error(in: response) == (status == 503 ? "temporarily_unavailable" : "server_error"))
        #expect(response.location == nil)
      }
    }
  }

  @Test("I-failure: an internal error of the upstream at the first request reaches the app as server_error")
  func internalError() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in Response(status: 500, body: Array("SQL state 42".utf8)) }
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(try response.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "server_error")
      #expect(!response.text.contains("SQL state"))
    }
  }

  @Test("I-failure: a state that is too long for the upstream gives an error redirect")
  func stateTooLong() async throws {
    try await GatewayFixture.run(quirks: .with { $0.stateLimit = 64 }) { gateway in
      let response = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(try response.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "server_error")
    }
  }

  @Test("I-failure: the upstream's refusal of a code is 400, invalid_grant")
  func clientsFault() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      gateway.upstream.serve(gateway.legacyServer(LegacyQuirks()))
      try await gateway.redeem(code, "p1").expectTokenError(400, "invalid_grant")
    }
  }

  @Test(
    "I-failure: a store that is full or unavailable gives 503, and never invalid_grant",
    arguments: [StoreError.full, .unavailable("gone")])
  func store(error: StoreError) async throws {
    let policy = try FixturePolicy.with { $0.upstream.stateLimit = 24 }
    let store = BrokenStore(error)
    try await GatewayFixture.run(policy, store: store) { gateway in
      let begun = try await gateway.begin()
      let code = try await gateway.code("p1")
      store.isBroken = true
      let response = try await gateway.expectRefused(get: gateway.authorizationTarget("p1"))
      #expect(try response.expectErrorRedirect(to: "com.example.p1:/cb")["error"] == "temporarily_unavailable")
      let redeemed = try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "p1"))
      redeemed.expectTokenError(503, "temporarily_unavailable")
      #expect(redeemed.headers.contains("Retry-After"))
      let later = try await gateway.expectRefused(get: begun.target, Headers.cookies([begun.cookie]), status: 503)
      #expect(later.headers.contains("Retry-After"))
      store.isBroken = false
      #expect(try await gateway.redeem(code, "p1").status == 200)
      #expect(try await gateway.get(begun.target, Headers.cookies([begun.cookie])).status == 302)
    }
  }

  @Test("I-failure: the gateway keeps working after connections that the upstream broke off")
  func livesOn() async throws {
    for answer in [RawUpstream.Answer.reset, .bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")] {
      try await GatewayFixture.run(before: answer) { gateway, _ in
        for _ in 0..<5 {
          _ = try? await gateway.get("/login")
          _ = try await gateway.get(gateway.authorizationTarget("p1"))
        }
        #expect(try await gateway.get(gateway.authorizationTarget("nobody")).status == 400)
      }
    }
  }
}

extension GatewayFixture {
  /// Signs in with p1 and returns the refresh token.
  func sealedRefreshToken() async throws -> String {
    let code = try await code("p1")
    let response = try await redeem(code, "p1")
    return try #require(NativeApp.tokens(in: response)?.refreshToken).reveal()
  }
}
