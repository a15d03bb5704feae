import OAuth
import Testing
import Time

@testable import ClientDocuments

struct ClientDocumentTests {
  private static let url = "https://app.example/oauth/client.json"

  private static func parse(_ text: String) throws -> ClientMetadata {
    let url = try #require(ClientDocumentURL(parsing: url))
    return try ClientDocument.metadata(in: Array(text.utf8), at: url)
  }

  private static func document(_ members: String) -> String {
    #"{"client_id":"\#(url)","redirect_uris":["http://127.0.0.1/cb"]\#(members.isEmpty ? "" : ","+members)}"#
  }

  @Test("A document gives the name, the redirect URIs and the grants of its client")
  func members() throws {
    let metadata = try Self.parse(
      #"""
      {"client_id": "https://app.example/oauth/client.json", "client_name": "Caf\u00e9   \ud83d\ude00",
       "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback", "javascript:alert(1)"],
       "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
       "token_endpoint_auth_method": "none", "logo_uri": "https://app.example/logo.png", "jwks": {"keys": [1.5e3]}}
      """#)
    #expect(metadata.name == "Café 😀")
    #expect(metadata.redirectURIs.map(\.text) == ["http://localhost/callback", "http://127.0.0.1/callback"])
    #expect(metadata.applicationType == .native)
    #expect(metadata.usesRefreshTokens)
    let plain = try Self.parse(Self.document(""))
    #expect(!plain.usesRefreshTokens)
  }

  @Test(
    "A document with a violation is refused",
    arguments: [
      #"{"redirect_uris":["http://127.0.0.1/cb"]}"#,
      #"{"client_id":"https://app.example/oauth/Client.json","redirect_uris":["http://127.0.0.1/cb"]}"#,
      #"{"client_id":"https://app.example/oauth/client.json","redirect_uris":[]}"#,
      #"{"client_id":"https://app.example/oauth/client.json","redirect_uris":["http://app.example/cb"]}"#,
      #"{"client_id":"https://app.example/oauth/client.json"}"#,
      ClientDocumentTests.document(#""client_id":"https://app.example/oauth/client.json""#),
      ClientDocumentTests.document(#""token_endpoint_auth_method":"private_key_jwt""#),
      ClientDocumentTests.document(#""token_endpoint_auth_method":null"#),
      ClientDocumentTests.document(
        #""token_endpoint_auth_method":"private_key_jwt","token_endpoint_auth_methods_supported":["private_key_jwt"]"#),
      ClientDocumentTests.document(#""token_endpoint_auth_methods_supported":["private_key_jwt"]"#),
      ClientDocumentTests.document(#""token_endpoint_auth_methods_supported":[]"#),
      ClientDocumentTests.document(#""token_endpoint_auth_methods_supported":"none""#),
      ClientDocumentTests.document(#""client_secret":"x""#),
      ClientDocumentTests.document(#""client_uri":"//app.example/""#),
      ClientDocumentTests.document(#""client_uri":"https://good.example@evil.example/""#),
      ClientDocumentTests.document(#""client_uri":"ftp://app.example/""#),
      ClientDocumentTests.document(#""client_uri":"https://\u0435xample.com/""#),
      ClientDocumentTests.document(#""client_uri":["https://app.example/"]"#),
      ClientDocumentTests.document(#""grant_types":["client_credentials"]"#),
      ClientDocumentTests.document(#""response_types":["token"]"#),
      ClientDocumentTests.document(#""scope":"a\"b""#),
      ClientDocumentTests.document("") + " x",
      "[]", "", "null",
    ])
  func violations(_ text: String) throws {
    #expect(throws: DocumentFailure.self) { try Self.parse(text) }
  }

  @Test(
    "A client whose document lists the method `none` is a public client, whatever method it prefers",
    arguments: [
      #""token_endpoint_auth_method":"private_key_jwt","token_endpoint_auth_methods_supported":["none","private_key_jwt"]"#,
      #""token_endpoint_auth_methods_supported":["private_key_jwt","none"]"#,
      #""token_endpoint_auth_method":"none","token_endpoint_auth_methods_supported":["private_key_jwt"]"#,
    ])
  func methods(_ members: String) throws {
    #expect(try Self.parse(Self.document(members)).redirectURIs.count == 1)
  }

  @Test("The refusal of a client that needs a key names both members")
  func refusedMethods() {
    let expected = DocumentFailure.invalid(
      "neither its `token_endpoint_auth_method` nor its `token_endpoint_auth_methods_supported` has `none`, the only "
        + "method that the gateway offers to such clients")
    #expect(throws: expected) {
      try Self.parse(Self.document(#""token_endpoint_auth_method":"private_key_jwt""#))
    }
  }

  @Test(
    "A name that a page cannot show is replaced",
    arguments: [
      (#"a\u202eb"#, "ab"), (#"Mail\u201d by \u201cBank"#, "Mail by Bank"), ("", nil),
      (String(repeating: "x", count: 65), String(repeating: "x", count: 63) + "\u{2026}"),
    ] as [(String, String?)])
  func names(text: String, shown: String?) throws {
    #expect(try Self.parse(Self.document(#""client_name":"\#(text)""#)).name == shown)
  }

  @Test("The host of the client_uri is kept in lower case, without port and path")
  func homepage() throws {
    for text in ["https://Home.example:8443/x?y#z", "http://home.example", "HTTPS://home.example#x"] {
      let metadata = try Self.parse(Self.document(#""client_uri":"\#(text)""#))
      #expect(metadata.relatedURIs.map(\.text) == ["https://home.example/"])
    }
    #expect(try Self.parse(Self.document(#""client_uri":"""#)).relatedURIs.isEmpty)
  }

  @Test("A document may name 16 hosts and schemes, and no more")
  func hosts() throws {
    func document(_ count: Int) -> String {
      let uris = (0..<count).flatMap { ["\"https://h\($0).example/a\"", "\"https://h\($0).example/b\""] }
      return #"{"client_id":"\#(Self.url)","redirect_uris":[\#(uris.joined(separator: ","))]}"#
    }
    #expect(try Self.parse(document(16)).redirectURIs.count == 32)
    #expect(throws: DocumentFailure.self) { try Self.parse(document(17)) }
  }

  @Test("A document of more than 5 KiB is refused")
  func length() throws {
    let padding = String(repeating: " ", count: 5 * 1024)
    #expect(throws: DocumentFailure.invalid("it is longer than 5120 bytes")) {
      try Self.parse(Self.document("") + padding)
    }
  }

  @Test(
    "The lifetime follows Cache-Control between five minutes and a day",
    arguments: [
      ([], 300), (["max-age=60"], 300), (["public, max-age=3600"], 3_600), (["max-age=99999999"], 86_400),
      (["max-age=3600", "no-store"], 300), (["max-age=x"], 300), (["max-age=3600, max-age=600"], 600),
    ] as [([String], Int)])
  func lifetime(_ values: [String], _ seconds: Int) {
    #expect(DocumentLifetime.lifetime(cacheControl: values).count == seconds)
  }
}

struct ClientDocumentURLTests {
  @Test(
    "A URL of a document has exactly one accepted spelling",
    arguments: [
      "http://app.example/c", "https://app.example", "https://App.example/c", "HTTPS://app.example/c",
      "https://user@app.example/c", "https://user:pw@app.example/c", "https://app.example/c#f",
      "https://app.example/c?x=1", "https://app.example/a/../c", "https://app.example/./c",
      "https://app.example/a/..%20/c", "https://app.example/a/.%20./c", "https://app.example/a/%EF%BC%8E%EF%BC%8E/c",
      "https://app.example/a/%E2%80%A4./c", "https://app.example/a/%C0%AE%C0%AE/c", "https://app.example/a/..+/c",
      "https://app.example/%2e%2e/c", "https://app.example/a%2fc", "https://app.example:443/c",
      "https://app.example:/c", "https://app.example:0/c", "https://127.0.0.1/c", "https://[::1]/c",
      "https://2130706433/c", "https://0x7f.1/c", "https://1.0x1/c", "https://app.example\\c", "https://app.exámple/c",
      "https://app.example./c", "https://app.example/c d", "https://app.example/a;b",
      "https://app.example/%63", "https://app.example/a%3a", "https://app.example//c", "https://app.example/a//c",
      "https://app.example/" + String(repeating: "a", count: 500),
    ])
  func refused(_ text: String) {
    #expect(ClientDocumentURL(parsing: text) == nil)
  }

  @Test("A URL is split into host, port and path")
  func parts() throws {
    let url = try #require(ClientDocumentURL(parsing: "https://app.example:8443/oauth/client.json"))
    #expect(url.host == "app.example")
    #expect(url.port == 8443)
    #expect(url.path == "/oauth/client.json")
    #expect(url.authority == "app.example:8443")
    #expect(ClientDocumentURL(parsing: "https://app.example/c")?.authority == "app.example")
    // Names that contain more than dots.
    for path in ["..a", "a%20b", "%E3%82%A2%E3%83%97%E3%83%AA", "-", "_.", "c.json"] {
      #expect(ClientDocumentURL(parsing: "https://app.example/\(path)/c") != nil, "\(path)")
    }
  }
}
