import GatewayTestSupport
import HTTP
import Testing

@Suite("Redirect URIs that do not match")
struct MismatchTests {
  @Test("The page is the same for every wrong redirect URI, and the decision log has the first difference")
  func noOracle() async throws {
    try await GatewayFixture.run { gateway in
      var pages: Set<String> = []
      for guess in ["com.example.p1:/x", "com.example.p1:/cx", "com.example.other:/cb"] {
        let response = try await gateway.expectRefused(
          get: "/authorize?response_type=code&client_id=p1&redirect_uri=\(guess)", status: 400)
        #expect(response.text.contains("redirect_uri is not one of the registered URIs"))
        let id = try #require(response.headers["X-Request-ID"])
        pages.insert(response.text.replacing(id, with: "ID"))
      }
      #expect(pages.count == 1)
      #expect(gateway.logLines.contains { $0.contains("redirect-uri-differs:") })
    }
  }
}
