import OAuth
import Testing

@Suite("The outline of a registration")
struct RegistrationOutlineTests {
  private static func outline(_ scope: String?, _ uris: [String]) throws -> RegistrationOutline {
    let metadata = ClientMetadata(
      name: "Tool", applicationType: .native, redirectURIs: try uris.map { try RedirectURI(parsing: $0) },
      scope: Scope(parsing: "mail read"), usesRefreshTokens: true)
    return RegistrationOutline(
      ClientRegistration(metadata: metadata, quarter: CalendarQuarter(number: 227)),
      redirectURI: try RedirectURI(parsing: "http://127.0.0.1:51004/cb"), scope: scope.flatMap { Scope(parsing: $0) })
  }

  @Test("The outline has the redirect URI of the sign-in, and one outline for each other host or scheme")
  func redirectURIs() throws {
    let long = String(repeating: "a", count: 300)
    let uris = [
      "http://127.0.0.1/\(long)", "http://127.0.0.1/cb", "https://app.example/\(long)", "https://app.example/b",
      "com.example.app:/\(long)", "http://localhost/\(long)",
    ]
    let outline = try Self.outline("mail", uris)
    #expect(
      outline.metadata.redirectURIs.map(\.text) == [
        "http://127.0.0.1:51004/cb", "https://app.example/", "com.example.app:/", "http://localhost/",
      ])
    #expect(outline.metadata.name == "Tool" && outline.metadata.usesRefreshTokens)
    #expect(outline.quarter == CalendarQuarter(number: 227))
  }

  @Test("The outline has the scope of the registration only if the request has none")
  func scope() throws {
    #expect(try Self.outline("mail", ["http://127.0.0.1/cb"]).metadata.scope == nil)
    #expect(try Self.outline(nil, ["http://127.0.0.1/cb"]).metadata.scope == Scope(parsing: "mail read"))
  }
}
