import ByteText
import Testing
import VectorsTestSupport

@testable import OAuth

@Suite("OAuth values")
struct ValueTests {
  @Test("8252-8.12: every user agent vector gets its expected verdict", arguments: Vectors.all.userAgents.vectors)
  func userAgent(_ vector: Vectors.Agent) {
    let usesBroker = vector.label.contains("msapp://")
    #expect(UserAgent.looksEmbedded(vector.userAgent, usesBroker: usesBroker) == vector.expectedEmbedded)
  }

  @Test("8252-B.3-wab-sso: the Windows broker without its redirect URI counts as embedded")
  func broker() {
    #expect(UserAgent.looksEmbedded("Mozilla/5.0 (compatible; MSIE 10.0; MSAuthHost/1.0)"))
    #expect(!UserAgent.looksEmbedded(""))
    #expect(UserAgent.looksEmbedded(String(repeating: "x", count: 1_000) + " GSA/"))
    #expect(!UserAgent.looksEmbedded(String(repeating: "x", count: 1_024) + " GSA/"))
  }

  @Test(
    "6749-2.3.1-basic-form: Basic credentials with colons, spaces and percent signs are decoded and encoded unchanged")
  func basic() throws {
    let parsed = try BasicCredentials(parsing: "Basic d2ViJTNBMjphK2IlMjVj")
    #expect(parsed.user == "web:2")
    #expect(parsed.password.reveal() == "a b%c")
    let again = try BasicCredentials(parsing: parsed.header.reveal())
    #expect(again.user == "web:2")
    #expect(again.password.reveal() == "a b%c")
    #expect(try BasicCredentials(parsing: "bAsIc bjE6").user == "n1")
  }

  @Test(
    "Malformed Basic credentials are refused",
    arguments: [
      "", "Basic", "Basic bjE", "Basic bjE=", "Bearer bjE6", "Basic  ", "Basic OnNlY3JldA==", "Basic JTo=",
    ])
  func malformedBasic(header: String) {
    #expect(throws: ClientAuthenticationError.malformedHeader) { try BasicCredentials(parsing: header) }
  }

  @Test(
    "Basic credentials without form encoding are read, too, if the user is the same in both readings",
    arguments: [
      ("n1:a+b/c=", "a b/c=", "a+b/c="), ("n1:xxx%yyy", "xxx%yyy", nil), ("n1:%", "%", nil), ("n1:a%0Ab", "a%0Ab", nil),
      ("n1:plain", "plain", nil), ("web%3A2:a+b", "a b", nil), ("n1:a:b+c", "a:b c", "a:b+c"),
    ] as [(String, String, String?)])
  func rawBasic(pair: String, password: String, raw: String?) throws {
    let parsed = try BasicCredentials(parsing: "Basic " + Base64.encode(Array(pair.utf8)))
    #expect(parsed.password.reveal() == password)
    #expect(parsed.rawPassword?.reveal() == raw)
  }

  @Test("A raw header has the pair as it is")
  func rawHeader() {
    let credentials = BasicCredentials(user: "legacy", password: Secret("z/t+%="))
    #expect(credentials.rawHeader.reveal() == "Basic " + Base64.encode(Array("legacy:z/t+%=".utf8)))
  }

  @Test("A user outside ASCII of more than 1,024 bytes is not read, because a comparison would cost too much")
  func longUser() throws {
    func header(_ count: Int) -> String {
      "Basic " + Base64.encode(Array((String(repeating: "é", count: count) + ":s").utf8))
    }
    #expect(try BasicCredentials(parsing: header(512)).user.utf8.count == 1_024)
    #expect(throws: ClientAuthenticationError.malformedHeader) { try BasicCredentials(parsing: header(513)) }
    let request = TokenRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], authorization: [header(513)],
      body: [])
    #expect(request.basicUsers.isEmpty && !request.authorizationIsReadable)
    #expect(throws: ClientAuthenticationError.malformedHeader) { try request.clientAuthentication() }
  }

  @Test("A `Content-Type` of more than 256 bytes is that of no form, and may name another charset")
  func longType() {
    let type = "application/x-www-form-urlencoded;" + String(repeating: " ", count: 256)
    #expect(!FormContent.isForm(types: [type], encodings: []))
    #expect(FormContent.isForm(types: [String(type.prefix(256))], encodings: []))
    let request = TokenRequest(method: "POST", query: nil, contentTypes: [type], body: [])
    #expect(!request.isReadable)
  }

  @Test("Two client ids are equal if their bytes are")
  func clientIDs() {
    #expect(ClientID("K") != ClientID("\u{212a}"))
    #expect(ClientID("\u{e9}") != ClientID("e\u{301}"))
    #expect(
      Set([ClientID("\u{e9}"), ClientID("e\u{301}"), ClientID("\u{e9}"), ClientID("e"), ClientID("e")]).count == 3)
  }

  @Test(
    "A bearer token has one scheme, spaces and a token in base64 (RFC 6750, section 2.1)",
    arguments: [
      ("Bearer a", "a"), ("bEARER   a-._~+/==", "a-._~+/=="), ("Bearer", nil), ("Bearer ", nil), (" Bearer a", nil),
      ("Bearer a ", nil), ("Bearer a b", nil), ("Bearer a=b", nil), ("Bearer\u{301} a", nil), ("Bearer é", nil),
      ("Basic a", nil), ("Bearer ==", nil),
    ] as [(String, String?)])
  func bearer(_ field: String, _ token: String?) {
    #expect(BearerToken(parsing: field)?.token.reveal() == token)
  }

  @Test("Base64 is decoded only in the one form that the encoder writes")
  func base64() {
    for text in ["", "f", "fo", "foo", "foob", "fooba", "foobar"] {
      #expect(Base64.decode(Base64.encode(Array(text.utf8)).utf8.span) == Array(text.utf8))
    }
    #expect(Base64.encode(Array("fooba".utf8)) == "Zm9vYmE=")
    for text in ["Zg", "Zg=", "Zh==", "Z===", "Zm9v====", "Zm 9v", "Zm9v\n", "Zm-v"] {
      #expect(Base64.decode(text.utf8.span) == nil)
    }
  }

  @Test("A scope is a list of tokens that is compared as a set")
  func scope() throws {
    let wide = try #require(Scope(parsing: "read write"))
    #expect(try #require(Scope(parsing: "write")).isWithin(wide))
    #expect(try #require(Scope(parsing: "write read")).isWithin(wide))
    #expect(!(try #require(Scope(parsing: "admin")).isWithin(wide)))
    for text in ["", " ", "  ", "\"a\"", "a\\b", "a\tb", "\u{e9}"] { #expect(Scope(parsing: text) == nil) }
    for text in [" a b", "a  b", "a b "] { #expect(Scope(parsing: text)?.text == "a b") }
  }

  @Test("6749-3.1.1: the order of the values in a response type does not matter")
  func responseType() {
    #expect(ResponseType(parsing: "code token") == ResponseType(parsing: "token code"))
    #expect(ResponseType(parsing: "code") == .code)
    #expect(ResponseType(parsing: "code id_token")?.returnsTokens == true)
    #expect(ResponseType(parsing: "foo")?.isKnown == false)
    #expect(ResponseType(parsing: "code code") != .code)
    #expect(ResponseType(parsing: String(repeating: "code ", count: 16) + "token") == nil)
    #expect(ResponseType(parsing: "code code")?.isKnown == false)
  }

  @Test(
    "RFC 6749, appendix A.3: a response type is names of letters, digits and _ that are separated by single spaces",
    arguments: [
      "", " ", " code", "code ", "code  token", "co de ", "c-de", "code\ttoken", "code,token", "cod\u{e9}", "code\0",
    ])
  func responseTypeGrammar(text: String) {
    #expect(ResponseType(parsing: text) == nil)
  }

  @Test(
    "6749-3.1.2-append: the response parameters are appended to the query of the redirect URI",
    arguments: [
      ("com.example.app:/cb", "com.example.app:/cb?code=x&iss=i"),
      ("https://a.example/cb?x=1", "https://a.example/cb?x=1&code=x&iss=i"),
      ("https://a.example/cb?", "https://a.example/cb?code=x&iss=i"),
      ("https://a.example/cb?x&", "https://a.example/cb?x&code=x&iss=i"),
      ("http://[::1]:61023/cb", "http://[::1]:61023/cb?code=x&iss=i"),
    ])
  func location(uri: String, location: String) throws {
    let response = AuthorizationResponse(
      redirectURI: try RedirectURI(parsing: uri), mode: .query, issuer: "i", state: nil,
      parameters: [.init("code", "x"), .init("iss", "another")])
    #expect(response.location == location)
  }

  @Test(
    "6749-4.1.2.1-charset: a description is cut to its length, and characters that it must not contain are replaced")
  func description() {
    #expect(ErrorDescription.sanitised("a\"b\\c\u{fc}\r\nd") == "a?b?c???d")
    #expect(ErrorDescription.sanitised("\r\nSet-Cookie: x") == "??Set-Cookie: x")
    #expect(ErrorDescription.sanitised(String(repeating: "x", count: 999)).utf8.count == ErrorDescription.maximumLength)
  }

  @Test(
    "6749-3.2-content-type: only application/x-www-form-urlencoded in UTF-8 is a form",
    arguments: [
      ("application/x-www-form-urlencoded", true), ("APPLICATION/x-www-form-urlencoded;charset=UTF-8", true),
      ("application/x-www-form-urlencoded; charset=\"utf-8\"", true),
      ("application/x-www-form-urlencoded; charset=ibm037", false),
      ("application/x-www-form-urlencoded; charset = utf-7", false), ("text/plain", false), ("", false),
      ("application/x-www-form-urlencoded, text/plain", false),
      ("application/x-www-form-urlencoded; charset=us-ascii", false),
      ("application/x-www-form-urlencoded; charset=UTF8", true),
      ("application/x-www-form-urlencoded;charset=\"utf8\"", true),
      ("application/x-www-form-urlencoded;", true), ("application/x-www-form-urlencoded ; ;charset=utf-8", true),
      ("application/x-www-form-urlencoded; x=1", false),
      ("application/x-www-form-urlencoded; x=1, charset=utf-7", false),
      ("application/x-www-form-urlencoded; x charset=utf-7", false),
      ("application/x-www-form-urlencoded charset=utf-7", false),
      ("application/x-www-form-urlencoded, charset=utf-7", false),
      ("application/x-www-form-urlencoded; charset=utf-8; charset=utf-8", false),
      ("application/x-www-form-urlencoded; charset=utf-8, charset=utf-7", false),
      ("application/x-www-form-urlencoded; charset='utf-8'", false),
      ("application/x-www-form-urlencoded; a=b\u{600};charset=utf-16", false),
      ("application/x-www-form-urlencoded;\u{301}; charset=utf-16", false),
    ])
  func formContent(type: String, isForm: Bool) {
    #expect(FormContent.isForm(types: [type], encodings: []) == isForm)
    #expect(!FormContent.isForm(types: [type], encodings: ["gzip"]))
  }

  @Test("A transaction id prints as hexadecimal and has exactly 16 bytes")
  func transactionID() {
    #expect(TransactionID(bytes: Array(0..<16))?.description == "000102030405060708090a0b0c0d0e0f")
    #expect(TransactionID(bytes: Array(0..<15)) == nil)
  }

  @Test("A secret prints as stars")
  func secrets() {
    let secret = Secret("hush")
    #expect("\(secret)" == "***")
    #expect(String(reflecting: [secret]).contains("hush") == false)
  }

  @Test("The digest of an upstream code is the first half of its SHA-256 digest")
  func codeDigest() {
    // The example of FIPS 180-2, appendix B.1.
    let digest = UpstreamCodeDigest(of: Secret("abc"))
    #expect(TransactionID(ofClaimOn: digest).description == "ba7816bf8f01cfea414140de5dae2223")
    #expect(digest != UpstreamCodeDigest(of: Secret("abd")))
  }

  @Test("The id of a login depends on the upstream code and on the transaction")
  func loginID() throws {
    let transactions = try ([1, 2] as [UInt8]).map { byte in
      try #require(TransactionID(bytes: [UInt8](repeating: byte, count: 16)))
    }
    let digests = ["abc", "abd"].map { UpstreamCodeDigest(of: Secret($0)) }
    let ids = digests.flatMap { digest in transactions.map { TransactionID(ofLoginWith: digest, in: $0) } }
    #expect(Set(ids).count == 4)
    #expect(ids.first == TransactionID(ofLoginWith: UpstreamCodeDigest(of: Secret("abc")), in: transactions[0]))
    #expect(ids.allSatisfy { $0.bytes.count == TransactionID.byteCount })
  }
}
