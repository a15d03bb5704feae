import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Sealing
import Testing
import Time

@Suite("Replicas")
struct ReplicaTests {
  private func keys(_ file: KeyFile) throws -> KeyRing { try #require(file.ring) }

  @Test("A flow that began on one replica continues and ends on another one with the same keys")
  func sameKeys() async throws {
    let file = KeyFile.generate(now: 1_700_000_000)
    // The keys as another process reads them from the file.
    let ring = try keys(try KeyFile(parsing: file.render()))
    try await GatewayFixture.run(keyRing: try keys(file)) { first in
      try await first.withReplica(keyRing: ring) { second in
        let session = try await first.legacySession()
        let begun = try await first.begin(cookies: [session])
        let cookies = [begun.cookie, session]
        #expect(try await second.get(begun.target, Headers.cookies(cookies)).status == 200)
        let answer = try await second.allow(begun, cookies: cookies)
        let code = try #require(answer.answer["code"])
        let response = try await first.redeem(code, "p1")
        let token = try #require(NativeApp.tokens(in: response)?.refreshToken).reveal()
        let refresh: Form = ["grant_type": "refresh_token", "refresh_token": token, "client_id": "p1"]
        #expect(try await second.post("/token", refresh).status == 200)
      }
    }
  }

  @Test("Consent that one replica requests can be given on another one")
  func consent() async throws {
    try await GatewayFixture.run { first in
      try await first.withReplica { second in
        let page = try await first.get(first.authorizationTarget("n1"))
        let form = try #require(HTMLForm.forms(in: page.text).first)
        let cookie = try #require(page.ownCookie)
        let response = try await second.post(
          form.action, form.submission(button: form.buttons.first), Headers.cookies([cookie]))
        #expect(response.status == 303)
      }
    }
  }

  @Test("A replica that does not have the key yet answers 503 and uses nothing up")
  func unknownKey() async throws {
    try await GatewayFixture.run { first in
      let begun = try await first.begin()
      let code = try await first.code("p1")
      let token = try await first.sealedRefreshToken()
      try await first.withReplica(keyRing: KeyRing.ephemeral(now: 1_700_000_000), sharesStore: true) { behind in
        let reentry = try await behind.expectRefused(get: begun.target, Headers.cookies([begun.cookie]), status: 503)
        #expect(reentry.headers.contains("Retry-After"))
        let redeemed = try await behind.expectRefused(post: "/token", behind.tokenForm(code, "p1"))
        redeemed.expectTokenError(503, "temporarily_unavailable")
        #expect(redeemed.headers.contains("Retry-After"))
        let refresh: Form = ["grant_type": "refresh_token", "refresh_token": token, "client_id": "p1"]
        try await behind.expectRefused(post: "/token", refresh).expectTokenError(503, "temporarily_unavailable")
        try await behind.expectRefused(post: "/revoke", ["token": token, "client_id": "p1"], status: 503)
      }
      #expect(try await first.redeem(code, "p1").status == 200)
    }
  }

  @Test("A value that a retired key sealed is refused with 400")
  func retiredKey() async throws {
    var file = KeyFile.generate(now: 1_700_000_000)
    let ring = try keys(file)
    let old = ring.sealingKeyID
    _ = file.rotate(now: 1_700_000_001)
    _ = file.rotate(now: 1_700_000_002)
    let isRetired = file.retire(old)
    #expect(isRetired)
    let next = try keys(file)
    try await GatewayFixture.run(keyRing: ring) { first in
      let begun = try await first.begin()
      let code = try await first.code("p1")
      try await first.withReplica(keyRing: next) { later in
        try await later.expectRefused(post: "/token", later.tokenForm(code, "p1")).expectTokenError(
          400, "invalid_grant")
        try await later.expectRefused(get: begun.target, Headers.cookies([begun.cookie]), status: 400)
      }
    }
  }

  @Test("A key rotation during a flow does not disturb it while the old key still opens values")
  func rotation() async throws {
    var file = KeyFile.generate(now: 1_700_000_000)
    let ring = try keys(file)
    _ = file.rotate(now: 1_700_000_001)
    _ = file.rotate(now: 1_700_000_002)
    let next = try keys(file)
    #expect(next.sealingKeyID != ring.sealingKeyID)
    try await GatewayFixture.run(keyRing: ring) { first in
      let code = try await first.code("p1")
      try await first.withReplica(keyRing: next) { later in
        let response = try await later.redeem(code, "p1")
        #expect(response.status == 200)
      }
    }
  }

  @Test("A code can be redeemed once across all replicas that share a store")
  func singleUse() async throws {
    try await GatewayFixture.run { first in
      try await first.withReplica(sharesStore: true) { second in
        let code = try await first.code("p1")
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<10 {
            group.addTask { try await (number.isMultiple(of: 2) ? first : second).redeem(code, "p1").status }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 1)
        #expect(first.upstream.recorder.requests(to: "/token").count == 1)
      }
    }
  }

  @Test("A value that one issuer sealed is refused by another issuer")
  func otherIssuer() async throws {
    try await GatewayFixture.run { first in
      let code = try await first.code("p1")
      var changed = FixturePolicy(first.policy)
      changed.gateway.issuer = "https://gw.example/other"
      try await first.withReplica(policy: changed.policy) { other in
        try await other.expectRefused(post: "/token", other.tokenForm(code, "p1")).expectTokenError(
          400, "invalid_grant")
      }
    }
  }
}
