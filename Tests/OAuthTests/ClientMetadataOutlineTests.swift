import Testing

@testable import OAuth

@Suite("The outline of client metadata")
struct ClientMetadataOutlineTests {
  @Test(
    "The outline of a redirect URI has its kind, host and scheme, and neither port nor path",
    arguments: [
      ("https://app.example/callback?x=1", "https://app.example/"), ("http://127.0.0.1:8080/cb", "http://127.0.0.1/"),
      ("http://[::1]:1/cb", "http://[::1]/"), ("http://localhost:3000/cb", "http://localhost/"),
      ("com.example.app:/oauth/callback", "com.example.app:/"), ("cursor://anysphere.x/cb", "cursor:/"),
      // Not longer than its outline.
      ("https://a.example/", "https://a.example/"),
    ])
  func redirectURIs(_ text: String, _ outline: String) throws {
    let uri = try RedirectURI(parsing: text)
    #expect(uri.outline.text == outline)
  }

  @Test("The outline keeps the name and the application type, and omits the scope")
  func metadata() throws {
    let uri = try RedirectURI(parsing: "https://app.example/" + String(repeating: "a", count: 2_000))
    let metadata = ClientMetadata(
      name: "Tool", applicationType: .web, redirectURIs: [uri], scope: Scope(parsing: "a b"), usesRefreshTokens: false)
    let outline = metadata.outline
    #expect(outline.name == "Tool" && outline.applicationType == .web && outline.scope == nil)
    #expect(outline.redirectURIs.map(\.text) == ["https://app.example/"])
    #expect(!outline.usesRefreshTokens)
  }
}
