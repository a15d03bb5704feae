import Policy
import Testing

@testable import PathReading

@Suite("OAuth requests on unlisted paths")
struct OAuthNamesTests {
  private static let matcher = EndpointMatcher(
    endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/oauth/token"]), notEndpoints: ["/oauth/token_key"]
  )

  @Test(
    "I-path: a query with a grant_type, or with client_id and another parameter of an authorization request, makes a path an unlisted endpoint",
    arguments: [
      "response_type=code&client_id=a", "client_id=a&x=1&response_type=token", "client_id&response_type",
      "Response_Type=code&CLIENT_ID=a", "response%5Ftype=code&client_id=a", "response.type=code&client+id=a",
      "a=b;response_type=code;client_id=a", "x=1&q=news&response_type=code&client_id=a", "grant_type=password",
      "%67rant_type=password", "+grant_type=x", "client%5Bid=a&response_type=code",
      "grant%00_type=x&response_type=code&client_id=a", "client_id=a&redirect_uri=b", "redirect%5Furi=b&client_id=a",
      "client_id=a&request=x.y.z", "Request_URI=urn:a&client_id=b", "?grant_type=x", "??%67rant_type=x",
      "grant_type[]=x", "grant_type%5Bx%5D=x", "%2567rant_type%255Bx%255D=x",
    ])
  func query(_ query: String) {
    for path in ["/oauth2/v1/authorize", "/", "/login", "/oauth/token_key"] {
      #expect(Self.matcher.read(path: path, query: query) == .unlisted, "\(path)")
    }
    #expect(Self.matcher.read(path: "/authorize", query: "response_type=code&client_id=a") == .exact(.authorization))
  }

  @Test(
    "A query with only one of the two parameters, or with similar names, is not an OAuth request",
    arguments: [
      "client_id=a", "response_type=code", "client_id=a&scope=b&state=c", "xresponse_type=code&client_id=a",
      "response_types=code&client_id=a", "a=response_type&b=client_id", "grant_types=a",
      "next=/authorize%3Fgrant_type%3Da", "redirect_uri=a", "request=GetMap&service=WMS", "request_uri=a",
      "client_id=a&post_logout_redirect_uri=b",
    ])
  func otherQuery(_ query: String) {
    #expect(Self.matcher.read(path: "/login", query: query) == .notEndpoint)
  }

  @Test(
    "I-path: a cookie is recognised as a parameter in every spelling of its name",
    arguments: [
      ("grant_type", "grant_type"), ("Client_ID", "client_id"), ("response.type", "response_type"),
      ("client[id", "client_id"), ("client%5Fid", "client_id"), ("%63lient_id", "client_id"),
      ("client%u005Fid", "client_id"), ("client%255Fid", "client_id"), ("+client_id", "client_id"),
      ("client+id", "client_id"), ("grant_type%00x", "grant_type"), ("\u{ff47}rant_type", "grant_type"),
    ])
  func cookie(name: String, parameter: String) {
    #expect(OAuthNames.parameter(inCookie: name.utf8.span) == parameter)
  }

  @Test(
    "Other cookies are not parameters",
    arguments: [
      "", "JSESSIONID", "PHPSESSID", "connect.sid", ".AspNetCore.Session", "_opensaml_req_ss%3Amem%3A1", "client_idx",
      "x_client_id", "state", "nonce", "scope", "code", "token", "refresh_token", "%", "grant-type", "_grant_type",
    ])
  func otherCookie(name: String) {
    #expect(OAuthNames.parameter(inCookie: name.utf8.span) == nil)
  }

  @Test("A page that completes sign-ins takes authorization requests at its exact path, and no token requests")
  func signInPage() {
    let matcher = EndpointMatcher(
      endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"]), signInPages: ["/login"])
    let query = "client_id=a&response_type=code"
    #expect(matcher.read(path: "/login", query: query) == .exact(.authorization))
    #expect(matcher.read(path: "/login", query: "client_id=a&redirect_uri=b&q=x") == .exact(.authorization))
    for path in ["/login/", "/login/x", "/Login", "/l%6fgin", "/login;x", "/signin"] {
      #expect(matcher.read(path: path, query: query) == .unlisted, "\(path)")
    }
    for other in ["&grant_type=x", "&grant%5Ftype=x", "&grant_type[]=x"] {
      #expect(matcher.read(path: "/login", query: query + other) == .unlisted, "\(other)")
    }
  }

  @Test("upstream.pass is checked first: a path that it does not list is 404")
  func notPassed() {
    let matcher = EndpointMatcher(
      endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"]), passPrefixes: ["/login"])
    #expect(matcher.read(path: "/x", query: "grant_type=a") == .notPassed)
    #expect(matcher.read(path: "/login", query: "grant_type=a") == .unlisted)
  }

  @Test(
    "A form is recognised as an OAuth request by its parameter names, in every spelling",
    arguments: [
      "grant_type=password&username=a", "a=b&grant%5ftype=x", "g\0r\0a\0n\0t\0_\0t\0y\0p\0e\0=\0x\0",
      "client_id=a&response_type=code", "GRANT_TYPE=x", "?grant_type=x", "a=b&??grant_type=x", "grant_type[0]=x",
    ])
  func form(_ body: String) {
    #expect(OAuthNames(form: body.utf8.span).indicateOAuthRequest)
  }

  @Test(
    "A multipart form is recognised as an OAuth request by the names of its parts",
    arguments: [
      "--b\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\npassword\r\n--b--",
      "--b\r\ncontent-disposition: form-data; filename=x; NAME = 'Grant_Type'\r\n\r\nx",
      "--b\r\nContent-Disposition: form-data;name=grant_type;x=y\r\n\r\nx",
      "--b\r\nContent-Disposition: form-data; name=\"client_id\"\r\n\r\na\r\n--b\r\n"
        + "Content-Disposition: form-data; name=\"response_type\"\r\n\r\ncode",
      "form-data; name*=UTF-8''grant_type", "form-data; name*=UTF-8'en'%67rant_type; name=\"a\"",
      "form-data; name*0=\"grant_\"; name*1=type", "form-data; name *0* = utf-8''gr",
      "name=client_id; name=\"" + "response_type".utf8.map { "%u00" + String($0, radix: 16) }.joined() + "\"",
    ])
  func multipart(_ body: String) {
    #expect(OAuthNames(multipart: body.utf8.span).indicateOAuthRequest)
  }

  @Test(
    "A JSON object is recognised as an OAuth request by the names of its members, in every spelling",
    arguments: [
      #"{"grant_type":"password","username":"a"}"#, #" { "a" : {"b":[1,{}]}, "Grant_Type" : null }"#,
      #"{"gr\u0061nt_type":"x"}"#, #"{'grant_type':'x'}"#, "{grant_type:1}", #"{"client_id":1,"response_type":2}"#,
      #"{"a":"\"","grant_type":1}"#, "{\0\"\0g\0r\0a\0n\0t\0_\0t\0y\0p\0e\0\"\0:\01\0}\0",
      #"{"client_id":"a","request_uri":"urn:x"}"#, #"{"gr\x61nt_type":"x"}"#, "{/*'*/\"grant_type\":1}",
      "/*{*/{'grant_type':1}",
      "//'\n{\"grant_type\":1}", "#{\r{\"grant_type\":1}", "{/**/grant_type/*:*/:1}",
    ])
  func json(_ body: String) {
    #expect(OAuthNames(json: body.utf8.span).indicateOAuthRequest)
  }

  @Test(
    "Other JSON, such as the description of a client, is not an OAuth request",
    arguments: [
      #"{"client_id":"a","redirect_uri":"b"}"#,
      #"{"grant_types":["password"],"response_types":["code"],"client_id":"a"}"#,
      #"{"client":{"client_id":"a","grant_type":"x"}}"#, #"[{"grant_type":"x"}]"#, #"{"a":"grant_type"}"#,
      #"{"a":"\"grant_type\":1"}"#, "", "{", "\"", "{\"\\", "}}}{", "{:::}",
    ])
  func otherJSON(_ body: String) {
    #expect(!OAuthNames(json: body.utf8.span).indicateOAuthRequest)
  }

  @Test(
    "Servers read parameters from bodies of these types",
    arguments: [
      ("application/x-www-form-urlencoded", "grant_type=x"), ("Application/X-WWW-Form-URLEncoded ;x", "grant_type=x"),
      ("x/urlencoded", "grant_type=x"), ("application/x-url-encoded", "grant_type=x"), ("text/plain", "grant_type=x"),
      ("text/plain", #"{"grant_type":1}"#), ("application/json;charset=utf-8", #"{"grant_type":1}"#),
      ("application/vnd.api+json", #"{"grant_type":1}"#), ("text/x-json", #"{"grant_type":1}"#),
      ("multipart/form-data; boundary=b", #"name="grant_type""#), ("multipart/form-data", "a=1&grant_type=x"),
    ])
  func bodyTypes(type: String, body: String) {
    #expect(ParameterBody(mediaType: type.utf8.span)?.names(in: body.utf8.span).indicateOAuthRequest == true)
  }

  @Test(
    "A stream or file is not read", arguments: ["application/grpc+json", "application/octet-stream", "image/png", ""])
  func otherTypes(type: String) {
    #expect(ParameterBody(mediaType: type.utf8.span) == nil)
  }

  @Test("A form with more different names outside of ASCII than any server reads counts as an OAuth request")
  func manyNames() {
    let numbered = { (count: Int, name: String) in (0..<count).map { "\(name)\($0)=1" }.joined(separator: "&") }
    #expect(!OAuthNames(form: numbered(400, "\u{e9}aaaaa").utf8.span).indicateOAuthRequest)
    #expect(OAuthNames(form: numbered(600, "\u{e9}aaaaa").utf8.span).indicateOAuthRequest)
    for name in ["id%5B%5D", "item[a]", "a.bcdefgh", "%61bcdefgh"] {
      #expect(!OAuthNames(form: numbered(5_000, name).utf8.span).indicateOAuthRequest, "\(name)")
    }
    #expect(!OAuthNames(form: String(repeating: "\u{e9}aaaaaa=1&", count: 5_000).utf8.span).indicateOAuthRequest)
  }

  @Test("Forms without these names are not OAuth requests")
  func otherForms() {
    #expect(!OAuthNames(form: "user=a&password=b&client_id=c&next=grant_type".utf8.span).indicateOAuthRequest)
    #expect(
      !OAuthNames(multipart: "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\ngrant_type=x".utf8.span)
        .indicateOAuthRequest)
  }
}
