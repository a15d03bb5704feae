import Testing

@testable import AccessLog

/// Secrets in URLs.
@Suite("Secrets in the access log")
struct RedactionTests {
  private static func redacted(query: String, isEndpoint: Bool = false) -> String {
    var bytes: [UInt8] = []
    SecretRedaction.append(query: query.utf8.span, isEndpoint: isEndpoint, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "The value of a parameter with the name of a secret is replaced on every path",
    arguments: [
      "code", "state", "token", "access_token", "refresh_token", "id_token", "id_token_hint", "client_secret",
      "password", "assertion", "client_assertion", "code_verifier", "code_challenge", "request", "request_uri",
      "SAMLResponse", "RelayState", "nonce", "session_state", "jsessionid", "api_key", "X-CSRF-Token", "user_code",
      "device_code",
      "login[password]", "user.password", "passwd", "sid", "ticket", "CODE", "c%6fde", "%63ode", "co%2564e", "otp",
      "sms_code", "passcode", "reset-code",
    ])
  func secret(name: String) {
    #expect(Self.redacted(query: "\(name)=abc123") == "\(name)=***")
    #expect(Self.redacted(query: "a=1&\(name)=abc123&b=2") == "a=1&\(name)=***&b=2")
    #expect(Self.redacted(query: "a=1;\(name)=abc123") == "a=1;\(name)=***")
    #expect(Self.redacted(query: "\(name)=abc=123") == "\(name)=***")
    #expect(Self.redacted(query: "return_to=/cb?\(name)=abc123") == "return_to=***")
    #expect(!Self.redacted(query: "next=%2Fcb%3Fx%3D1%26\(name)%3Dabc123").contains("abc123"))
    #expect(!Self.redacted(query: "next=%252Fcb%253F\(name)%253Dabc123").contains("abc123"))
    #expect(!Self.redacted(query: "x&\(name)%3Dabc123").contains("abc123"))
  }

  @Test(
    "Other parameters stay as they are",
    arguments: [
      "page=2&sort=name", "q=a+b%20c", "x", "x&y", "", "=", "a=",
      "client_id=web&redirect_uri=https%3A%2F%2Fa.example%2Fcb",
      "scope=openid+profile", "lang=de;theme=dark", "next=%2Fhome%3Ftab%3D1", "next=https://a.example:8080/@user",
      "zipcode=1&error_code=2&statusCode=3", "filter=%7B%22page%22:1,%22at%22:%2210:30%22%7D", "q='a':b@c",
    ])
  func plain(query: String) {
    #expect(Self.redacted(query: query) == query)
  }

  @Test("At an OAuth endpoint, only values of parameters that are known not to be secrets stay")
  func endpoint() {
    #expect(
      Self.redacted(
        query: "client_id=web&response_type=code&state=s&code_challenge=c&code_challenge_method=S256&scope=openid&"
          + "login_hint=alice&Client_ID=x&bare&c%6Cient_id=y", isEndpoint: true)
        == "client_id=web&response_type=code&state=***&code_challenge=***&code_challenge_method=S256&scope=openid&"
        + "login_hint=***&Client_ID=***&***&c%6Cient_id=***")
    #expect(
      Self.redacted(query: "redirect_uri=https%3A%2F%2Fa.example%2Fcb%3Ftoken%3Dabc", isEndpoint: true)
        == "redirect_uri=***")
  }

  /// A text in base64url with the length of the shortest sealed value, and one with the length of a UUID.
  private static let (sealed, short) = (
    "AQ8xZ_-" + String(repeating: "aB3-_", count: 7), "0a5d7f0e-1b2c-4d3e-8f90-123456789abc"
  )

  @Test("A long text in base64url is replaced, whatever its name and also without one")
  func sealedValue() {
    for value in [
      Self.sealed, "%41" + Self.sealed.dropFirst(), "%2541" + Self.sealed.dropFirst(), "/cb/" + Self.sealed,
    ] {
      for isEndpoint in [false, true] {
        #expect(Self.redacted(query: value, isEndpoint: isEndpoint) == "***")
        for name in ["response", "login", "x", "next"] {
          #expect(Self.redacted(query: "a=&\(name)=\(value)", isEndpoint: isEndpoint) == "a=&\(name)=***")
        }
      }
    }
    // The id of a registered client is as long.
    for isEndpoint in [false, true] {
      let query = "client_id=\(Self.sealed)"
      #expect(Self.redacted(query: query, isEndpoint: isEndpoint) == query)
    }
    #expect(Self.redacted(query: "response=x&login=alice") == "response=***&login=***")
    #expect(Self.redacted(query: "\(Self.short)&id=\(Self.short)") == "\(Self.short)&id=\(Self.short)")
  }

  @Test("A JSON Web Token is replaced, whatever the name of its parameter")
  func webToken() {
    #expect(Self.redacted(query: "x=eyJhbGciOiJub25lIn0.e30.") == "x=***")
    #expect(Self.redacted(query: "x=%65yJhbGciOiJub25lIn0.e30.") == "x=***")
    #expect(Self.redacted(query: "eyJhbGciOiJub25lIn0.e30.") == "***")
  }

  @Test(
    "A value in JSON with the name of a secret is replaced",
    arguments: [
      #"{"code":"abc"}"#, #"{"a":1,"access_token" : "abc"}"#, "{'a':{'password':'abc'}}", #"{\"code\":\"abc\"}"#,
      "%7B%22code%22:%22abc%22%7D", "%257B%2522code%2522%253A%2522abc%2522%257D",
    ])
  func json(value: String) {
    #expect(Self.redacted(query: "x=\(value)") == "x=***")
  }

  @Test(
    "A secret in front of the first `=` is replaced",
    arguments: [
      "https://u:abc@h/?a=1", "%7B%22code%22:%22abc%22,%22x%22:%22a=1", "%7B%22password%22:%22abc%22%7D=",
      "eyJhbGciOiJub25lIn0.e30.abc=", String(repeating: "abc", count: 22) + "=",
    ])
  func name(piece: String) {
    for isEndpoint in [false, true] { #expect(Self.redacted(query: piece, isEndpoint: isEndpoint) == "***") }
  }

  @Test(
    "A URL with user information is replaced",
    arguments: [
      "https://u:abc@h/", "https%3A%2F%2Fu%3Aabc%40h%2F", "//abc@h", "/login?to=https:/\\/abc@h/x",
      "https:/u:abc@h/", "https://u:p%23w@h/", "https%3A%2F%2Fu%3Ap%252Fw%40h%2F", "https%3A%2F%2Fu%3Ap%253Fw%40h%2F",
    ])
  func userInformation(value: String) {
    #expect(Self.redacted(query: "x=\(value)") == "x=***")
    #expect(Self.redacted(query: "resource=\(value)", isEndpoint: true) == "resource=***")
  }

  @Test(
    "A `Referer` has no user information, no values and no fragment",
    arguments: [
      ("https://app.example/page", "https://app.example/page"),
      ("https://id.example/cb?code=abc&state=xyz", "https://id.example/cb?code=***&state=***"),
      ("https://id.example/cb?x=1&abc", "https://id.example/cb?x=***&***"),
      ("https://user:pass@app.example/a@b", "app.example/a@b"),
      ("https:///user:pass@app.example/a", "app.example/a"), ("https:/\\user@app.example/a", "app.example/a"),
      ("view-source:https://u:p@app.example/", "app.example/"), ("blob:https://u:p@app.example/", "app.example/"),
      ("https://u:pw\\@app.example/x", "app.example/x"),
      ("https://app.example/?https://u:abc@h/?a=1", "https://app.example/?***"),
      ("//user:pass@app.example/a", "app.example/a"), ("user:pass@app.example", "app.example"),
      ("https://app.example:80/@a", "https://app.example:80/@a"), ("https://a@b@app.example/", "app.example/"),
      ("https://app.example/a#token=abc", "https://app.example/a"),
      ("https://app.example/a#b?c=abc", "https://app.example/a"),
      ("https://app.example/a;jsessionid=abc", "https://app.example/a;jsessionid=***"),
    ])
  func referer(text: String, expected: String) {
    var bytes: [UInt8] = []
    SecretRedaction.append(referer: text.utf8.span, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test(
    "Parameters of a path are treated like those of a query",
    arguments: [
      ("/login;jsessionid=abc/x", "/login;jsessionid=***/x"), ("/a;v=1", "/a;v=1"), ("/a%3Fcode%3Dabc", "/***"),
      ("/a%3Fx%3Dabc/b", "/***/b"), ("/a%253Fabc", "/***"), ("/What_is_it%3F", "/What_is_it%3F"),
      ("/a%20b", "/a%20b"), ("/plain", "/plain"), ("/code=abc", "/code=***"),
    ])
  func path(text: String, expected: String) {
    var bytes: [UInt8] = []
    SecretRedaction.append(path: text.utf8.span, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }
}
