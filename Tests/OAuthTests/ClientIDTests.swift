import OAuth
import Testing

@Suite("Client ids")
struct ClientIDTests {
  private static let issued = ClientID("pg1." + String(repeating: "A", count: 1_020))

  @Test("The short form of an issued id has a fixed length and is that of this id alone")
  func shortForm() throws {
    let short = Self.issued.shortForm
    #expect(short.rawValue.utf8.count == 33 && ClientID.isIssued(short.rawValue))
    #expect(short.shortForm == short)
    #expect(ClientID(digest: try #require(short.digest)) == short)
    #expect(Self.issued.digest == nil)
    for other in [Self.issued.rawValue + "A", String(Self.issued.rawValue.dropLast()) + "B", "pg1."] {
      #expect(ClientID(other).shortForm != short, "\(other)")
    }
  }

  @Test(
    "An id that the gateway did not issue is its own short form",
    arguments: ["com.example.app", "https://app.example/client.json", "", "p", "PG1.x", "pg2.x", "xpg1."])
  func otherIDs(_ id: String) {
    #expect(ClientID(id).shortForm == ClientID(id))
    #expect(ClientID(id).digest == nil)
  }

  @Test(
    "A text that only resembles a short form is not one, and has a short form of its own",
    arguments: [
      "pg1.digest.", "pg1.digest.AAAA", "pg1.digest.AAAAAAAAAAAAAAAAAAAAAB", "pg1.digest.AAAAAAAAAAAAAAAAAAAAAA=",
      "pg1.digest.AAAAAAAAAAAAAAAAAAAAAAAA", "pg1.Digest.AAAAAAAAAAAAAAAAAAAAAA",
    ])
  func resembling(_ id: String) {
    #expect(ClientID(id).digest == nil)
    #expect(ClientID(id).shortForm != ClientID(id))
  }
}
