import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing
import Time

/// The owner of an upstream code is the transaction that received it first.
@Suite("I-completion: the owner of a code")
struct CodeOwnerTests {
  private static let callback = "https://gw.example/.proofgate/callback"

  private func answering(_ gateway: GatewayFixture, _ code: String, to begun: Begun) {
    let location = "\(Self.callback)?code=\(code)&state=\(begun.state)"
    gateway.upstream.script { request in
      request.path == "/authorize" ? Response(status: 302, headers: ["Location": location]) : nil
    }
  }

  /// w1 has another upstream client id than p1.
  @Test(
    "I-completion: a code of another sign-in is refused, while its own sign-in may receive it again",
    arguments: ["p1", "w1"])
  func replayed(client: String) async throws {
    let policy = try FixturePolicy.with { $0.edit("w1") { $0.consent = .upstream } }
    try await GatewayFixture.run(policy) { gateway in
      let first = try await gateway.begin()
      let second = try await gateway.begin(client)
      answering(gateway, "theOneCode012345", to: first)
      for _ in 0..<2 {
        let answer = try await gateway.get(first.target, Headers.cookies([first.cookie]))
        #expect(answer.location?.hasPrefix("com.example.p1:/cb?code=") == true)
      }
      answering(gateway, "theOneCode012345", to: second)
      let refused = try await gateway.get(second.target, Headers.cookies([second.cookie]))
      #expect(refused.status == 400)
      #expect(refused.location == nil)
      #expect(refused.text.contains("answer-replayed"))
    }
  }

  @Test("I-completion: over the network a code that reached the callback is refused for another transaction")
  func replayedOverNetwork() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.callback = .atCallback
      $0.edit("w1") { $0.consent = .upstream }
    }
    try await GatewayFixture.run(policy) { gateway in
      let victim = try await gateway.begin()
      let thief = try await gateway.begin("w1")
      func send(_ begun: Begun) async throws -> Response {
        let answer: Form = ["code": "theOneCode012345", "state": begun.state]
        return try await gateway.get(answer.added(to: "/.proofgate/callback"), Headers.cookies([begun.cookie]))
      }
      #expect(try await send(victim).location?.hasPrefix("com.example.p1:/cb?code=") == true)
      // The upstream ids of the clients do not matter: some servers accept a code from every client.
      for begun in [thief, try await gateway.begin()] {
        let refused = try await send(begun)
        #expect(refused.location == nil)
        #expect(refused.text.contains("answer-replayed"))
      }
      #expect(try await send(victim).location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test("I-completion: a code is remembered for the upstream's code lifetime, not for the gateway's")
  func lifetime() async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.codeLifetime = 300
      $0.edit("p1") { $0.codeLifetime = 10 }
    }
    try await GatewayFixture.run(policy) { gateway in
      let first = try await gateway.begin()
      answering(gateway, "theOneCode012345", to: first)
      #expect(try await gateway.get(first.target, Headers.cookies([first.cookie])).location?.contains("code=") == true)
      gateway.upstream.script(nil)
      let second = try await gateway.begin()
      answering(gateway, "theOneCode012345", to: second)
      gateway.clock.advance(by: 290)
      #expect(try await gateway.get(second.target, Headers.cookies([second.cookie])).location == nil)
      gateway.clock.advance(by: 30)
      #expect(
        try await gateway.get(second.target, Headers.cookies([second.cookie])).location?.contains("code=") == true)
    }
  }

  @Test("I-completion: without a store the app gets temporarily_unavailable, and the code is not delivered")
  func noStore() async throws {
    let store = BrokenStore(.unavailable("gone"))
    try await GatewayFixture.run(store: store) { gateway in
      let begun = try await gateway.begin()
      answering(gateway, "theOneCode012345", to: begun)
      store.isBroken = true
      let answer = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      let told = try answer.expectErrorRedirect(to: "com.example.p1:/cb")
      #expect(told["error"] == "temporarily_unavailable")
      #expect(told["state"] == "s1")
      store.isBroken = false
      let later = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      #expect(later.location?.hasPrefix("com.example.p1:/cb?code=") == true)
    }
  }

  @Test("I-token: a second code of one transaction is a separate login, and the first login stays valid")
  func backButton() async throws {
    try await GatewayFixture.run { gateway in
      let session = try await gateway.legacySession()
      let begun = try await gateway.begin(cookies: [session])
      var tokens: [String] = []
      for _ in 0..<2 {
        let answer = try await gateway.allow(begun, cookies: [begun.cookie, session])
        let code = try #require(answer.answer["code"])
        let redeemed = try await gateway.redeem(code, "p1")
        #expect(redeemed.status == 200, "\(redeemed.text)")
        let token = try #require(redeemed.text.firstMatch(of: /"refresh_token":"([^"]+)"/)?.1)
        tokens.append(String(token))
      }
      for token in tokens {
        let refreshed = try await gateway.post(
          "/token", ["grant_type": "refresh_token", "refresh_token": token, "client_id": "p1"])
        #expect(refreshed.status == 200, "\(refreshed.text)")
      }
      let redemptions = gateway.logLines.filter { $0.contains(#""endpoint":"token""#) }
      let families = redemptions.compactMap { $0.firstMatch(of: /"family":"([0-9a-f]{32})"/)?.1 }
      #expect(families.count == 4)
      #expect(Set(families).count == 2)
    }
  }

  @Test("I-token: two logins have different families, even if the server issues the same code again")
  func equalCodes() async throws {
    let policy = try FixturePolicy.with { $0.upstream.codeLifetime = 300 }
    try await GatewayFixture.run(policy) { gateway in
      for _ in 0..<2 {
        gateway.upstream.script(nil)
        let begun = try await gateway.begin()
        let location = "\(Self.callback)?code=theOneCode012345&state=\(begun.state)"
        gateway.upstream.script { request in
          switch request.path {
          case "/authorize": Response(status: 302, headers: ["Location": location])
          case "/token":
            Response(
              status: 200, headers: ["Content-Type": "application/json"],
              body: Array(#"{"access_token":"at","refresh_token":"upstream-refresh"}"#.utf8))
          default: nil
          }
        }
        let answer = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
        let code = try #require(answer.answer["code"])
        let redeemed = try await gateway.redeem(code, "p1")
        #expect(redeemed.status == 200, "\(redeemed.text)")
        gateway.clock.advance(by: 400)
      }
      let redemptions = gateway.logLines.filter { $0.contains(#""endpoint":"token""#) }
      let families = redemptions.compactMap { $0.firstMatch(of: /"family":"([0-9a-f]{32})"/)?.1 }
      #expect(families.count == 2)
      #expect(Set(families).count == 2)
    }
  }

  /// p1 is enforced with the upstream client `legacy-p1`, which the policy also lists as an observed client. `watched`
  /// is an observed client with another id.
  private static func watched() throws -> Policy {
    try FixturePolicy.with { policy in
      policy.edit("p1") {
        $0.upstream = UpstreamClient(clientID: ClientID("legacy-p1"), authentication: .none, redirectURI: .callback)
      }
      if let uri = try? RedirectURI(parsing: "https://watched.example/cb") {
        for id in [ClientID("legacy-p1"), ClientID("watched")] {
          policy.clients[id] = ClientSettings(
            id: id, kind: .public, application: .web, redirectURIs: [uri], mode: .observe, consent: .upstream,
            upstream: UpstreamClient(clientID: id, authentication: .none, redirectURI: .requested))
        }
      }
    }
  }

  @Test(
    "I-token: a raw code of a transaction is refused at the token endpoint, for an observed client too",
    arguments: ["legacy-p1", "watched"])
  func rawCode(client: String) async throws {
    try await GatewayFixture.run(try Self.watched()) { gateway in
      let begun = try await gateway.begin()
      answering(gateway, "theOneCode012345", to: begun)
      #expect(try await gateway.get(begun.target, Headers.cookies([begun.cookie])).location?.contains("code=") == true)
      func redeem(_ code: String, _ headers: Headers = [:], _ form: Form = [:]) async throws -> Response {
        var body: Form = [
          "grant_type": "authorization_code", "code": code, "redirect_uri": "https://watched.example/cb",
        ]
        for field in form.fields { body.append(field.name, field.value) }
        return try await gateway.post("/token", body, headers)
      }
      let before = gateway.upstream.recorder.count
      let refused = try await redeem("theOneCode012345", [:], ["client_id": client])
      refused.expectTokenError(400, "invalid_grant")
      #expect(gateway.upstream.recorder.count == before)
      // A code of the observed client itself goes upstream.
      _ = try await redeem("anotherCode01234", [:], ["client_id": client])
      #expect(gateway.upstream.recorder.count == before + 1)
    }
  }

  @Test(
    "I-completion: a code that passed to an observed client is refused in every transaction",
    arguments: ["legacy-p1", "watched"])
  func passingCode(client: String) async throws {
    try await GatewayFixture.run(try Self.watched()) { gateway in
      let begun = try await gateway.begin()
      gateway.upstream.script { request in
        let location = "https://watched.example/cb?code=passedCode012345&state=s1"
        return request.path == "/authorize" ? Response(status: 302, headers: ["Location": location]) : nil
      }
      let passed = try await gateway.get(gateway.authorizationTarget(client, "https://watched.example/cb"))
      #expect(passed.location == "https://watched.example/cb?code=passedCode012345&state=s1")
      answering(gateway, "passedCode012345", to: begun)
      let refused = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      #expect(refused.location == nil)
      #expect(refused.text.contains("answer-replayed"))
    }
  }
}
