import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@testable import Gateway

/// The members of the decision log that describe a request.
@Suite("The content of requests in the log")
struct RequestDetailsTests {
  @Test("A refused request is logged with its redirect URI, without query, loopback port and any other text")
  func refused() async throws {
    try await GatewayFixture.run { gateway in
      for (uri, logged) in [
        ("http://127.0.0.1:5123/other?ticket=very-secret", "http://127.0.0.1/other"),
        ("com.example.elsewhere:/cb?ticket=very-secret", "com.example.elsewhere:/cb"),
        ("https://user:very-secret@evil.example/cb", "malformed"),
        ("https://evil.example/cb#very-secret", "malformed"),
      ] {
        let target = gateway.authorizationTarget("n1") { form in form.set("redirect_uri", uri) }
        #expect(try await gateway.get(target).status == 400)
        let line = try #require(gateway.logLines.last)
        #expect(line.member("redirect_uri") == logged, "\(line)")
        #expect(line.member("pkce") == "S256" && line.member("response_type") == "code", "\(line)")
        #expect(!"\(line)".contains("very-secret"), "\(line)")
      }
      let long = "https://evil.example/" + String(repeating: "x", count: 1_000)
      _ = try await gateway.get(gateway.authorizationTarget("n1") { form in form.set("redirect_uri", long) })
      #expect(gateway.logLines.last?.member("redirect_uri")?.utf8.count == 259)
    }
  }

  @Test("The lines of an enforced sign-in describe the authorization request and the token request")
  func forwarded() async throws {
    try await GatewayFixture.run { gateway in
      let code = try await gateway.code("p1")
      let begun = try #require(gateway.logLines.first { $0.member("response_type") != nil })
      #expect(begun.member("redirect_uri") != nil && begun.member("pkce") == "S256")
      #expect(begun.member("decision") == "forward")
      #expect(try await gateway.post("/token", gateway.tokenForm(code, "p1")).status == 200)
      let line = try #require(gateway.logLines.last)
      #expect(line.member("grant") == "authorization_code" && line.member("pkce") == "verifier", "\(line)")
      #expect(line.member("client_authentication") == "none" && line.member("redirect_uri") != nil, "\(line)")
      #expect(!"\(line)".contains(code))
    }
  }
}
