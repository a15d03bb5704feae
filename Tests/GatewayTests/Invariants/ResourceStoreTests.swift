import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing

@Suite("Resources without the store")
struct ResourceStoreTests {
  @Test("While the store does not answer, introspection gets 503, and never an answer about the token")
  func storeAway() async throws {
    let store = BrokenStore(.unavailable("away"))
    let policy = try FixturePolicy.with { policy in
      var resource = ResourceSettings()
      resource.introspection = ResourceServer(id: "api", secret: Secret("api-secret"))
      policy.upstream.endpoints.introspection = []
      policy.resources = [resource]
    }
    try await GatewayFixture.run(policy, store: store) { gateway in
      let code = try await gateway.code { $0.append("resource", "urn:none") }
      let tokens = try #require(NativeApp.tokens(in: try await gateway.redeem(code)))
      let form: Form = [
        "token": tokens.accessToken.reveal(), "client_id": "api", "client_secret": "api-secret",
      ]
      store.isBroken = true
      let away = try await gateway.post("/.proofgate/introspect", form)
      #expect(away.status == 503 && !away.text.contains("active"))
      store.isBroken = false
      #expect(try await gateway.post("/.proofgate/introspect", form).text.contains("\"active\":true"))
      store.loseEntries()
      #expect(try await gateway.post("/.proofgate/introspect", form).text == "{\"active\":false}")
    }
  }
}
