import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Stores
import Testing
import Time

/// RFC 6749, section 6, and RFC 9700, sections 2.2.2 and 4.14.2.
@Suite("Refresh tokens of public clients")
struct RefreshTokenTests {
  /// Upstreams that do not rotate refresh tokens, and upstreams that do.
  private static let upstreams = [false, true]

  private static func quirks(_ rotates: Bool) -> LegacyQuirks { .with { $0.rotatesRefreshTokens = rotates } }

  @Test(
    "9700-2.2.2-refresh-rotation: a token works once, even if the upstream does not rotate, and a reuse ends the family",
    arguments: upstreams)
  func rotation(rotates: Bool) async throws {
    try await GatewayFixture.run(quirks: Self.quirks(rotates)) { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      #expect(second != first)
      let third = try await gateway.refresh(second).refreshToken()
      try await gateway.expectRefreshReuse(first)
      try await gateway.expectRefreshReuse(third)
      try await gateway.expectTokenRefusal(gateway.refreshForm(second), "invalid_grant")
    }
  }

  @Test("9700-2.2.2-refresh-rotation: the newest token ends with the family when the previous one is reused")
  func immediateReuse() async throws {
    try await GatewayFixture.run { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      try await gateway.expectRefreshReuse(first)
      try await gateway.expectRefreshReuse(second)
    }
  }

  @Test("9700-2.2.2-refresh-rotation: other logins of the same client and user continue")
  func otherFamilies() async throws {
    try await GatewayFixture.run { gateway in
      let stolen = try await gateway.tokens().refresh()
      let other = try await gateway.tokens().refresh()
      _ = try await gateway.refresh(stolen)
      try await gateway.expectRefreshReuse(stolen)
      try await expectStatus(200, of: gateway.refresh(other))
    }
  }

  @Test("9700-2.2.2-refresh-rotation: each reused token of an ended family is revoked upstream, once")
  func revokesUpstream() async throws {
    try await GatewayFixture.run(quirks: Self.quirks(true)) { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      let third = try await gateway.refresh(second).refreshToken()
      // The upstream's own refresh tokens.
      let inner = gateway.upstreamTokenForms.compactMap { $0["refresh_token"] }
      try await gateway.expectRefreshReuse(first)
      #expect(gateway.revocations.map { $0["token"] } == [inner[0]])
      #expect(gateway.revocations.map { $0["token_type_hint"] } == ["refresh_token"])
      // The owner presents the newest token, whose upstream token is still valid until then.
      try await gateway.expectRefreshReuse(third)
      #expect(gateway.revocations.count == 2)
      #expect(gateway.revocations.last?["token"].map { !inner.contains($0) } == true)
      for token in [first, second, third] { try await gateway.expectRefreshReuse(token) }
      #expect(gateway.revocations.count == 2)
    }
  }

  @Test("Until a date, older refresh tokens go upstream with the client's own credentials if it sends some")
  func rawWithOwnCredentials() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("n1") { client in
        // The legacy server knows the app by its own id and by the secret in older copies of the app.
        client.upstream.clientID = client.id
        client.upstream.clientSecret = nil
        client.upstream.authentication = .none
        client.acceptOldVersionUntil = 1_000_000_000_000
        client.rawRefreshUntil = 1_000_000_000_000
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let form = Form(decoding: String(decoding: request.body, as: UTF8.self))
        guard form["refresh_token"] == "from-before", form["client_id"] == "n1", form["client_secret"] == "in-the-app",
          request.headers["Authorization"] == nil
        else {
          return Response(
            status: 401, headers: ["Content-Type": "application/json"], body: Array(#"{"error":"invalid_client"}"#.utf8)
          )
        }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"a1","token_type":"bearer"}"#.utf8))
      }
      // The app gets no tokens without its own credentials, because the gateway has none.
      let bare = try await gateway.refresh("from-before")
      bare.expectTokenError(400, "invalid_grant")
      let sealed = try await gateway.refresh("from-before") { $0.append("client_secret", "in-the-app") }.refreshToken()
      #expect(sealed != "from-before")
      #expect(gateway.logLines.contains { $0.contains("refresh-token-raw") })
      // Like any other, the sealed token works only for its client.
      try await gateway.expectTokenRefusal(gateway.refreshForm(sealed, "n2"), "invalid_grant")
    }
  }

  @Test("Without the date, or after it, a refresh token that the gateway did not seal is refused")
  func rawWithoutDate() async throws {
    for until in [nil, UnixTime(seconds: 1)] {
      let policy = try FixturePolicy.with { policy in
        policy.edit("n1") { client in
          client.upstream.clientID = client.id
          client.rawRefreshUntil = until
        }
      }
      try await GatewayFixture.run(policy) { gateway in
        try await gateway.expectTokenRefusal(gateway.refreshForm("from-before"), "invalid_grant")
      }
    }
    // The client has another id upstream, so older tokens do not belong to it.
    let shared = try FixturePolicy.with { $0.edit("n1") { $0.rawRefreshUntil = 1_000_000_000_000 } }
    try await GatewayFixture.run(shared) { gateway in
      try await gateway.expectTokenRefusal(gateway.refreshForm("from-before"), "invalid_grant")
    }
  }

  @Test("9700-2.2.2-refresh-rotation: if the upstream cannot revoke, the log reports that access tokens stay valid")
  func cannotRevoke() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.upstream.endpoints.revocation = [] }) { gateway in
      let first = try await gateway.tokens().refresh()
      _ = try await gateway.refresh(first)
      try await gateway.expectTokenRefusal(gateway.refreshForm(first), "invalid_grant")
      #expect(gateway.logLines.contains { $0.contains("refresh-token-reused") && $0.contains("tokens-not-revoked") })
    }
  }

  @Test("9700-2.2.2-refresh-rotation: a token stays valid after a failure of the upstream")
  func upstreamFailure() async throws {
    try await GatewayFixture.run { gateway in
      let first = try await gateway.tokens().refresh()
      gateway.upstream.script { $0.path == "/token" ? Response(status: 500) : nil }
      let failed = try await gateway.refresh(first)
      failed.expectTokenError(502, "server_error")
      gateway.upstream.script(nil)
      try await expectStatus(200, of: gateway.refresh(first))
    }
  }

  @Test("9700-2.2.2-refresh-rotation: a second request during the first gets 503 and may retry")
  func concurrent() async throws {
    try await GatewayFixture.run { gateway in
      let first = try await gateway.tokens().refresh()
      let gate = Gate()
      gateway.upstream.script { request in
        if request.path == "/token" { await gate.pass() }
        return nil
      }
      async let slow = gateway.refresh(first)
      await gate.someoneWaits()
      let busy = try await gateway.refresh(first)
      busy.expectTokenError(503, "temporarily_unavailable")
      #expect(busy.headers["Retry-After"] != nil)
      await gate.open()
      #expect(try await slow.status == 200)
    }
  }

  @Test(
    "9700-2.2.2-refresh-rotation: within the window a repeat gets the same response, and after it a repeat is a reuse")
  func window() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = 10 } }) { gateway in
      let first = try await gateway.tokens().refresh()
      let answer = try await gateway.refresh(first)
      let again = try await gateway.expectRefused(post: "/token", gateway.refreshForm(first), status: 200)
      // `expires_in` may have become one second less.
      let (repeated, original) = (NativeApp.tokens(in: again), NativeApp.tokens(in: answer))
      #expect(repeated?.accessToken.reveal() == original?.accessToken.reveal() && original != nil)
      #expect(repeated?.refreshToken?.reveal() == original?.refreshToken?.reveal())
      try await gateway.expectTokenRefusal(gateway.refreshForm(first, "n2"), "invalid_grant")
      gateway.clock.advance(by: 11)
      try await gateway.expectRefreshReuse(first)
      try await gateway.expectRefreshReuse(try answer.refreshToken())
    }
  }

  @Test(
    "9700-2.2.2-refresh-rotation: 64 repeats within the window get the same response, and further ones 503; none ends the family"
  )
  func manyRepeats() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = 10 } }) { gateway in
      let first = try await gateway.tokens().refresh()
      let newest = try await gateway.refresh(first).refreshToken()
      for _ in 0..<64 { #expect(try await gateway.refresh(first).refreshToken() == newest) }
      for _ in 0..<20 {
        let refused = try await gateway.refresh(first)
        refused.expectTokenError(503, "temporarily_unavailable")
        #expect(refused.headers["Retry-After"] != nil)
        #expect(refused.headers["X-Proofgate-Rule"] == "refresh-repeated-often")
      }
      try await expectStatus(200, of: gateway.refresh(newest))
    }
  }

  @Test("9700-2.2.2-refresh-rotation: the window closes when the new token is used")
  func windowCloses() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = 10 } }) { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      let third = try await gateway.refresh(second).refreshToken()
      try await gateway.expectRefreshReuse(first)
      try await gateway.expectRefreshReuse(third)
    }
  }

  @Test("A longer refresh_idle applies to tokens that are issued later, so no used or ended token becomes valid again")
  func longerIdleTime() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.refreshIdle = 60 } }) { gateway in
      let used = try await gateway.tokens().refresh()
      try await expectStatus(200, of: gateway.refresh(used))
      let ended = try await gateway.tokens().refresh()
      try await expectStatus(200, of: gateway.post("/revoke", ["token": ended, "client_id": "n1"]))
      gateway.clock.advance(by: 130)
      await gateway.reload { $0.editAll { $0.refreshIdle = 86_400 } }
      for token in [used, ended] { try await gateway.expectTokenRefusal(gateway.refreshForm(token), "invalid_grant") }
      // A token that was issued under the longer time, and is used under a shorter and again under a longer one.
      let later = try await gateway.tokens().refresh()
      await gateway.reload { $0.editAll { $0.refreshIdle = 60 } }
      try await expectStatus(200, of: gateway.refresh(later))
      gateway.clock.advance(by: 130)
      await gateway.reload { $0.editAll { $0.refreshIdle = 86_400 } }
      try await gateway.expectRefreshReuse(later)
    }
  }

  @Test("9700-4.14.2-idle: a refresh token expires if it is not used, and its scope does not change")
  func idle() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.editAll { $0.refreshIdle = 3_600 } }) { gateway in
      var token = try await gateway.tokens { $0.append("scope", "read write") }.refresh()
      for _ in 0..<3 {
        gateway.clock.advance(by: 3_000)
        let response = try await gateway.refresh(token)
        let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
        #expect(tokens.scope == "read write")
        token = try tokens.refresh()
      }
      gateway.clock.advance(by: 3_660)
      try await gateway.expectTokenRefusal(gateway.refreshForm(token), "invalid_grant")
    }
  }

  @Test("6749-6-refresh-binding: a refresh token works only for its client, and its scope cannot grow")
  func binding() async throws {
    try await GatewayFixture.run { gateway in
      let token = try await gateway.tokens { $0.append("scope", "read") }.refresh()
      try await gateway.expectTokenRefusal(gateway.refreshForm(token, "n2"), "invalid_grant")
      try await gateway.expectTokenRefusal(
        gateway.refreshForm(token) { $0.append("scope", "read admin") }, "invalid_scope")
      try await gateway.expectTokenRefusal(
        gateway.refreshForm(token) { $0.append("scope", "re\"ad") }, "invalid_scope")
      try await expectStatus(200, of: gateway.refresh(token) { $0.append("scope", "read") })
    }
  }

  @Test("6749-6-refresh-binding: the upstream's own refresh token is refused from a public client")
  func raw() async throws {
    try await GatewayFixture.run { gateway in
      let token = try await gateway.tokens().refresh()
      _ = try await gateway.refresh(token)
      let raw = try #require(gateway.upstreamTokenForms.last?["refresh_token"])
      #expect(raw != token)
      try await gateway.expectTokenRefusal(gateway.refreshForm(raw), "invalid_grant")
    }
  }

  @Test("6749-4.1.2-revoke: a replayed code revokes all tokens of the first redemption, at the gateway and upstream")
  func replay() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let response = try await gateway.redeem(code)
      let tokens = try #require(NativeApp.tokens(in: response))
      let replayed = try await gateway.redeem(code)
      replayed.expectTokenError(400, "invalid_grant")
      #expect(gateway.revocations.count == 2)
      try await gateway.expectTokenRefusal(gateway.refreshForm(tokens.refresh()), "invalid_grant")
      let user = try await gateway.get(
        "/api/me", ["Authorization": "Bearer \(tokens.accessToken.reveal())"])
      #expect(user.status == 401)
    }
  }

  @Test(
    "6749-4.1.2-revoke: without a revocation endpoint a replay ends the refresh token, and the log reports the rest")
  func replayWithoutRevocation() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.upstream.endpoints.revocation = [] }) { gateway in
      let code = try await gateway.code()
      let token = try await gateway.redeem(code).refreshToken()
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_grant")
      try await gateway.expectTokenRefusal(gateway.refreshForm(token), "invalid_grant")
      #expect(gateway.logLines.contains { $0.contains("code-used") && $0.contains("tokens-not-revoked") })
    }
  }

  @Test("2.1-7.5.2-replay: a replay with a wrong verifier or failed authentication revokes nothing")
  func invalidReplay() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code()
      let token = try await gateway.redeem(code).refreshToken()
      try await gateway.expectTokenRefusal(
        gateway.tokenForm(code) { $0.set("code_verifier", String(repeating: "a", count: 43)) }, "invalid_grant")
      try await gateway.expectTokenRefusal(gateway.tokenForm(code) { $0.set("client_id", "n2") }, "invalid_grant")
      try await expectStatus(200, of: gateway.refresh(token))

      let webCode = try await gateway.code("w1")
      let web = try await gateway.redeem(webCode, "w1") { $0.append("client_secret", "w1secret") }
      let replay = try await gateway.expectRefused(
        post: "/token", gateway.tokenForm(webCode, "w1") { $0.append("client_secret", "wrong") })
      #expect(NativeApp.error(in: replay) == "invalid_client")
      let refreshed = try await gateway.refresh(web.refreshToken(), "w1") { $0.append("client_secret", "w1secret") }
      #expect(refreshed.status == 200, "\(refreshed.text)")
    }
  }

  @Test("6749-4.1.2-revoke: a replayed code revokes a confidential client's sealed token too")
  func replayOfWeb() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      let web = try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }
      let replay = try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }
      replay.expectTokenError(400, "invalid_grant")
      try await gateway.expectTokenRefusal(
        gateway.refreshForm(try web.refreshToken(), "w1") { $0.append("client_secret", "w1secret") }, "invalid_grant")
    }
  }

  @Test("9700-2.2.2-refresh-rotation: a confidential client may use its token again")
  func confidential() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("w1")
      let token = try await gateway.redeem(code, "w1") { $0.append("client_secret", "w1secret") }.refreshToken()
      for _ in 0..<2 {
        let response = try await gateway.refresh(token, "w1") { $0.append("client_secret", "w1secret") }
        #expect(response.status == 200, "\(response.text)")
      }
    }
  }

  @Test("9700-2.2.2-refresh-rotation: with an unavailable store a refresh gets 503, without the upstream")
  func storeAway() async throws {
    let store = BrittleStore()
    try await GatewayFixture.run(store: store) { gateway in
      let token = try await gateway.tokens().refresh()
      store.isAway = true
      try await gateway.expectTokenRefusal(gateway.refreshForm(token), "temporarily_unavailable", status: 503)
      store.isAway = false
      try await expectStatus(200, of: gateway.refresh(token))
    }
  }

  @Test("6749-6-refresh-binding: after a revocation no token of the family is accepted")
  func revoked() async throws {
    try await GatewayFixture.run { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      let response = try await gateway.post("/revoke", ["token": second, "client_id": "n1"])
      #expect(response.status == 200)
      try await gateway.expectTokenRefusal(gateway.refreshForm(second), "invalid_grant")
      try await gateway.expectTokenRefusal(gateway.refreshForm(first), "invalid_grant")
    }
  }

  @Test("9700-2.2.2-refresh-rotation: a response of the upstream reaches the app although the store became unavailable")
  func storeAwayAtAnswer() async throws {
    let store = BrittleStore()
    try await GatewayFixture.run(quirks: Self.quirks(true), store: store) { gateway in
      let code = try await gateway.code()
      gateway.upstream.script { request in
        if request.path == "/token" { store.isAway = true }
        return nil
      }
      let first = try await gateway.redeem(code).refreshToken()
      // A replay is not answered before the store can record the end of its family.
      #expect(store.isAway)
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "temporarily_unavailable", status: 503)
      store.isAway = false
      let second = try await gateway.refresh(first).refreshToken()
      store.isAway = false
      gateway.upstream.script(nil)
      let third = try await gateway.refresh(second).refreshToken()
      try await gateway.expectRefreshReuse(first)
      try await gateway.expectRefreshReuse(third)
      // A second use of the code is still refused.
      try await gateway.expectTokenRefusal(gateway.tokenForm(code), "invalid_grant")
      #expect(gateway.logLines.contains { $0.contains("claim-not-spent") })
      #expect(gateway.logLines.contains { $0.contains("family-not-settled") })
    }
  }

  @Test("9700-2.2.2-refresh-rotation: in a full store redemptions and live families continue, and new families get 503")
  func fullStore() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.family: 1, .tokens: 0])
    try await GatewayFixture.run(quirks: Self.quirks(true), store: store) { gateway in
      var token = try await gateway.refresh(gateway.tokens().refresh()).refreshToken()
      let late = try await gateway.tokens().refresh()
      let refused = try await gateway.expectRefused(post: "/token", gateway.refreshForm(late), status: 503)
      #expect(NativeApp.error(in: refused) == "temporarily_unavailable")
      #expect(refused.headers["X-Proofgate-Rule"] == "store-unavailable")
      for _ in 0..<3 { token = try await gateway.refresh(token).refreshToken() }
      #expect(gateway.logLines.contains { $0.contains("tokens-not-kept") })
    }
  }

  // MARK: Families without a record in the store

  @Test("A token of generation 1 or above without a record is refused without the upstream")
  func familyMissing() async throws {
    try await GatewayFixture.run { gateway in
      let store = try #require(gateway.store as? MemoryStore)
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      let grant = try gateway.sealer.open(RefreshGrant.self, from: second)
      #expect(try await store.take(StoreKey(.family, id: grant.family), now: gateway.clock.now) != nil)
      let before = gateway.upstreamTokenForms.count
      let response = try await gateway.expectRefused(post: "/token", gateway.refreshForm(second), status: 400)
      #expect(NativeApp.error(in: response) == "invalid_grant")
      #expect(response.headers["X-Proofgate-Rule"] == "family-missing")
      #expect(gateway.upstreamTokenForms.count == before)
    }
  }

  @Test("After a restart of the store each family is refreshed once more, by the first token that is presented")
  func restart() async throws {
    try await GatewayFixture.run { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      try await gateway.withReplica { restarted in
        let third = try await restarted.refresh(second).refreshToken()
        #expect(restarted.logLines.contains { $0.contains("epoch-family") })
        try await restarted.expectRefreshReuse(first)
        try await restarted.expectRefreshReuse(third)
      }
    }
  }

  @Test("Until a date, a token from before the gateway starts one family, and its reuse ends the family")
  func rawOnce() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.edit("n1") { client in
        client.upstream.clientID = client.id
        client.upstream.clientSecret = nil
        client.rawRefreshUntil = 1_000_000_000_000
      }
    }
    try await GatewayFixture.run(policy) { gateway in
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"a1","token_type":"bearer"}"#.utf8))
      }
      let sealed = try await gateway.refresh("from-before").refreshToken()
      gateway.clock.advance(by: 3_600)
      try await gateway.expectRefreshReuse("from-before")
      try await gateway.expectRefreshReuse(sealed)
      #expect(gateway.revocations.first?["token"] == "from-before")
    }
  }

  // MARK: Repeats

  @Test("A repeat with another scope is a reuse, and expires_in of a repeat is the remaining time")
  func repeatOfAnother() async throws {
    let policy = try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = 100 } }
    try await GatewayFixture.run(policy) { gateway in
      let first = try await gateway.tokens { $0.append("scope", "read write") }.refresh()
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"a1","token_type":"bearer","expires_in":600}"#.utf8))
      }
      let answer = try await gateway.refresh(first)
      gateway.clock.advance(by: 40)
      let again = try await gateway.refresh(first)
      #expect(try again.refreshToken() == answer.refreshToken())
      #expect(again.text.contains("\"expires_in\":560"))
      try await gateway.expectRefreshReuse(first) { $0.append("scope", "read") }
      try await gateway.expectRefreshReuse(try answer.refreshToken())
    }
  }

  @Test("A repeat of a response with the smallest number as its lifetime has a lifetime of 0")
  func repeatOfSmallestLifetime() async throws {
    let policy = try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = 100 } }
    try await GatewayFixture.run(policy) { gateway in
      let first = try await gateway.tokens().refresh()
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        return Response(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"access_token":"a1","token_type":"bearer","expires_in":\#(Int64.min)}"#.utf8))
      }
      _ = try await gateway.refresh(first)
      gateway.clock.advance(by: 40)
      #expect(try await gateway.refresh(first).text.contains("\"expires_in\":0"))
    }
  }

  @Test("A repeat without a held response gets 503 and does not end the family")
  func answerMissing() async throws {
    let policy = try FixturePolicy.with { $0.editAll { $0.refreshReuseWindow = 100 } }
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.answer: 0])
    try await GatewayFixture.run(policy, store: store) { gateway in
      let first = try await gateway.tokens().refresh()
      let second = try await gateway.refresh(first).refreshToken()
      let missing = try await gateway.expectRefused(post: "/token", gateway.refreshForm(first), status: 503)
      #expect(missing.headers["X-Proofgate-Rule"] == "refresh-answer-missing")
      try await expectStatus(200, of: gateway.refresh(second))
      #expect(gateway.logLines.contains { $0.contains("answer-not-held") })
    }
  }
}

extension GatewayFixture {
  /// The revocation requests that the upstream received.
  fileprivate var revocations: [Form] {
    upstream.recorder.requests(to: "/revoke").map { Form(decoding: String(decoding: $0.body, as: UTF8.self)) }
  }

  /// Expects that a used token is refused; the upstream sees at most a revocation.
  fileprivate func expectRefreshReuse(
    _ token: String, sourceLocation: SourceLocation = #_sourceLocation,
    adjusting adjust: (inout Form) -> Void = { _ in }
  ) async throws {
    let before = upstreamTokenForms.count
    let response = try await refresh(token, adjusting: adjust)
    response.expectTokenError(400, "invalid_grant", sourceLocation: sourceLocation)
    #expect(response.headers["X-Proofgate-Rule"] == "refresh-token-reused", sourceLocation: sourceLocation)
    #expect(upstreamTokenForms.count == before, sourceLocation: sourceLocation)
  }
}
