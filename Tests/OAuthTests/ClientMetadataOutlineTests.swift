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

  @Test("Metadata for one redirect URI keep each other host and scheme once, and not the host of the document")
  func reduced() throws {
    let uris = try [
      "http://127.0.0.1:1/cb", "http://localhost/cb", "https://app.example/cb", "https://other.example/a",
      "https://other.example/b", "cursor://x/cb", "https://doc.example/cb",
    ].map { try RedirectURI(parsing: $0) }
    let homepage = try #require(RedirectURI(outlineOfHomepage: "https://home.example/"))
    let metadata = ClientMetadata(applicationType: .native, redirectURIs: uris, relatedURIs: [homepage])
    let reduced = metadata.reduced(to: uris[2], documentHost: "doc.example")
    #expect(reduced.redirectURIs.map(\.text) == ["https://app.example/cb"])
    let others = ["http://127.0.0.1/", "https://other.example/", "cursor:/", "https://home.example/"]
    #expect(reduced.relatedURIs.map(\.text) == others)
    #expect(metadata.deniableNameCount == 6)
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
