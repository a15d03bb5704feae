import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Sealing
import Stores
import Testing

@Suite("The epochs of a store")
struct EpochTests {
  private func refresh(_ token: String) -> Form {
    ["grant_type": "refresh_token", "refresh_token": token, "client_id": "p1"]
  }

  @Test("I-token: a code from before the store lost its entries gets 503, and later codes are redeemed")
  func code() async throws {
    let store = BrokenStore(.unavailable("gone"))
    try await GatewayFixture.run(store: store) { gateway in
      let code = try await gateway.code("p1")
      store.loseEntries()
      let refused = try await gateway.expectRefused(post: "/token", gateway.tokenForm(code, "p1"))
      refused.expectTokenError(503, "temporarily_unavailable")
      #expect(refused.headers.contains("Retry-After"))
      #expect(try await gateway.redeem(try await gateway.code("p1"), "p1").status == 200)
    }
  }

  @Test("I-token: with a store in memory a code from before a restart is redeemed with its verifier")
  func restartInMemory() async throws {
    try await GatewayFixture.run { first in
      let code = try await first.code("p1")
      try await first.withReplica { restarted async throws in
        #expect(try await restarted.redeem(code, "p1").status == 200)
      }
    }
  }

  @Test("I-renewal: a refresh during which the store loses its entries succeeds, and its successor works once more")
  func refreshDuringLoss() async throws {
    let store = BrokenStore(.unavailable("gone"))
    try await GatewayFixture.run(store: store) { gateway in
      let token = try await gateway.sealedRefreshToken()
      gateway.upstream.script { request in
        if request.path == "/token" { store.loseEntries() }
        return nil
      }
      let first = try await gateway.post("/token", refresh(token))
      gateway.upstream.script(nil)
      #expect(first.status == 200)
      let successor = try #require(NativeApp.tokens(in: first)?.refreshToken).reveal()
      #expect(try gateway.sealer.open(RefreshGrant.self, from: successor).epoch != store.epoch)
      #expect(try await gateway.post("/token", refresh(successor)).status == 200)
    }
  }
}
