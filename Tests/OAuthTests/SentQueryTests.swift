import Testing

@testable import OAuth

@Suite("The query of a redirect URI in a response")
struct SentQueryTests {
  private func isKept(_ sent: String, _ query: String) -> Bool {
    SentQuery(sent.utf8.span).isKept(in: query.utf8.span)
  }

  @Test(
    "The sent pairs may be in any place, with any other pairs",
    arguments: [
      ("", ""), ("", "code=c&x=y"), ("&&", "&"), ("tenant=1", "tenant=1"), ("tenant=1", "tenant=1&code=c&x=y"),
      ("tenant=1", "code=c&x=y&tenant=1"), ("tenant=1", "&&code=c&&tenant=1&"), ("b=2&a=1", "a=1&b=2&code=c"),
      ("a=1&a=1", "a=1&a=1&code=c"), ("a=1&a=2", "a=2&a=1"), ("a", "a&b"), ("a=%20%zz", "a=%20%zz&b=%zz&%zz=1"),
      ("tenant=1", "tenant=1&Tenant=2&tenant[]=3"), ("=", "=&x=1"),
    ])
  func kept(sent: String, query: String) {
    #expect(isKept(sent, query))
  }

  @Test(
    "A pair that is missing, changed or repeated is found",
    arguments: [
      ("tenant=1", ""), ("tenant=1", "code=c"), ("tenant=1", "tenant=2"), ("tenant=1", "tenant=1&tenant=2"),
      ("tenant=1", "tenant=2&tenant=1"), ("tenant=1", "tenant=1&tenant=1"), ("tenant=1", "tenant=1&ten%61nt=2"),
      ("tenant=1", "ten%61nt=1"), ("tenant=1", "tenant=%31"), ("tenant=1", "tenant"), ("tenant=1", "tenant=1;x=2"),
      ("tenant=1", "tenant=1&tenant=%zz"), ("a=1&a=1", "a=1"), ("a=1&b=2", "a=1"), ("a", "a="), ("a=b%20c", "a=b+c"),
      ("%zz=1", "%zz=2&%zz=1"), ("\u{e9}=1", "e\u{301}=1"),
    ])
  func changed(sent: String, query: String) {
    #expect(!isKept(sent, query))
  }

  @Test("A query of many pairs is read in linear time")
  func long() {
    let sent = (0..<500).map { "p\($0)=\($0)" }.joined(separator: "&")
    let query = (0..<20_000).map { "q\($0)=" }.joined(separator: "&") + "&" + sent
    #expect(isKept(sent, query))
    #expect(!isKept(sent, query + "&p7=7"))
  }
}
