import Rollout
import Testing

@testable import AccessLog

/// `proofgate learn` reads access logs in the combined format.
@Suite("Clients in the access log")
struct LearnTests {
  @Test("`learn` finds clients, redirect URIs and PKCE in the combined format, in which secrets are replaced")
  func learned() {
    let query =
      "response_type=code&client_id=web&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&scope=openid&state=abc&"
      + "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
    let authorization = Entries.entry {
      $0.setPath("/authorize".utf8.span)
      $0.setQuery(query.utf8.span, isEndpoint: true)
      $0.setUserAgent("a \"b\" \\c".utf8.span)
      $0.status = 302
    }
    let token = Entries.entry {
      $0.setMethod("POST".utf8.span)
      $0.setPath("/token".utf8.span)
    }
    var traffic = Traffic()
    for entry in [authorization, token, Entries.entry()] {
      traffic.add(Array(LineTests.combined(entry).utf8.dropLast()))
    }
    #expect(traffic.requestLines == 2 && traffic.otherLines == 1 && traffic.unreadableLines == 0)
    #expect(traffic.anonymousTokenRequests == 1)
    let client = traffic.clients["web"]
    #expect(client != nil)
    #expect(traffic.clients.count == 1)
    let policy = StarterPolicy(traffic, upstream: "http://127.0.0.1:9000").text
    #expect(policy.contains("https://app.example/cb"), "\(policy)")
    #expect(!policy.contains("E9Melhoa2Owv") && !policy.contains("abc"))
  }
}
