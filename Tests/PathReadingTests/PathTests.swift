import DiceTestSupport
import Policy
import Testing

@testable import PathReading

@Suite("Paths")
struct PathTests {
  private static let endpoints = EndpointPaths(
    authorization: ["/authorize", "/v2/OAuth/Authorize.php"], token: ["/oauth/token"], revocation: ["/revoke"],
    closed: ["/par"])
  private static let matcher = EndpointMatcher(endpoints: endpoints)

  @Test(
    "I-path: a path that is exactly an endpoint is that endpoint",
    arguments: [
      ("/authorize", .authorization), ("/v2/OAuth/Authorize.php", .authorization), ("/oauth/token", .token),
      ("/revoke", .revocation), ("/par", .closed), ("/.proofgate/callback", .otherOwnPath),
      ("/.proofgate/a/b.css", .otherOwnPath),
    ] as [(String, Endpoint)])
  func exact(path: String, endpoint: Endpoint) {
    #expect(Self.matcher.read(path: path) == .exact(endpoint))
  }

  @Test(
    "I-path, 9110-4.2.3-path: a spelling that some server maps to an endpoint is ambiguous",
    arguments: [
      "/Authorize", "/AUTHORIZE", "/%61uthorize", "/%2561uthorize", "/%25252561uthorize", "//authorize", "/authorize/",
      "/authorize//", "/./authorize", "/x/../authorize", "/x/..%2fauthorize", "/x/%2e%2e/authorize", "/authorize/.",
      "/authorize/x/..", "/x/..;/authorize", "/;a/authorize", "/authorize;a=b", "/authorize;/x", "/authorize;/../x",
      "/authorize%3bx", "\\authorize", "/x\\..\\authorize", "/%5cauthorize", "/authorize.json", "/authorize%2ejson",
      "/authorize.a.b", "/authorize.", "/authorize%20", "/%20authorize", "/authorize%00", "/authorize%00.css",
      "/authorize%00/x", "/%00x/authorize", "/x/..%00/authorize", "/auth%00orize", "/authorize%09", "/auth%0aorize",
      "/authorize%3fx=1", "/authorize%23x",
      "/index.php/authorize", "/app.fcgi/authorize", "/a/index.php/authorize.json", "/%u0061uthorize",
      "/\u{ff41}uthorize", "/%ef%bd%81uthorize", "/%c1%a1uthorize", "/%e0%81%a1uthorize", "/\u{24d0}uthorize",
      "/\u{1d41a}uthorize", "/author\u{131}ze", "/%c0%afauthorize", "/\u{ff0f}authorize", "/auth\u{200b}orize",
      "/..%20/authorize", "/x/..%20/authorize", "/../../authorize", "/oauth/%74oken", "/oauth//token", "/OAuth/Token",
      "/oauth/x/../token", "/oauth%2ftoken", "/v2/oauth/authorize.php", "/v2/OAuth/Authorize",
      "/v2/OAuth/Authorize.php;x", "/v2/OAuth/Authorize.phtml", "/par/", "/PAR", "/Revoke", "/.proofgate",
      "/.Proofgate/callback", "/%2eproofgate/callback", "//.proofgate/callback", "/.proofgate/../authorize",
      "/.proofgate//callback", "/.proofgate/call%62ack", "/x/../.proofgate/callback", "/index.php/.proofgate/x",
      "/oauth/token/.json", "/(S(abc))/authorize", "/(A(x)S(y))/oauth/token",
      "/oauth/(S(abc))/token", "/oauth/to/(S(x))ken", "/%28S%28abc%29%29/authorize", "/app.svc/authorize",
      "/x.asmx/authorize", "/x.axd/authorize", "/x.php8/authorize", "/x.jsf/authorize", "/oauth/t%E2%84%B4ken",
      "/oauth/t\u{f6}ken", "/oauth/to\u{308}ken", "/authorize%2fx",
      // A host after a dot segment or after a program.
      "/.//h/oauth/token", "/%2e//h/oauth/token", "//./h/oauth/token", "/index.php//h/oauth/token",
      "/index.php/.//h/oauth/token", "/.;x//h/oauth/token", "/%2e%3bx//h/oauth/token",
      "/authorize//..", "/authorize/a//../..", "/authorize/;x/..", "/authorize/%20/..", "/authorize/.../..",
      "/oauth/token//../", "/authorize%2f%2f..", "/.proofgate//..", "/oauth//../token", "/x/authorize/..//../authorize",
    ])
  func ambiguous(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
  }

  @Test(
    "I-path: a path is ambiguous if a server that decodes before or after it splits the path finds an endpoint",
    arguments: [
      "/x%2fy/../authorize", "/x%252fy/../authorize", "/;%2fq/authorize", "/;%c0%afq/authorize",
      "/;%ef%bc%8fq/authorize", "/x%3f/../authorize", "/x%23/../authorize", "/x%3fy/../oauth/token",
      "/x\\y/../authorize", "/x%5cy/../authorize", "/authorize/%2e%2e/..", "/authorize/x%2f../..",
      "/authorize/%2e%2e%2f..", "/x%00/../authorize", "/x%0ay%2fz/../authorize", "/a;b%2fc;d/../authorize",
      "/;a%252fb/oauth/token", "/x%2f(S(y))%2fz/../authorize", "/.proofgate/x%2fy/../callback",
      "/x%2fy/../.proofgate/z",
    ])
  func decodedLater(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
  }

  @Test(
    "I-path: a path that one particular server maps to an endpoint is ambiguous",
    arguments: [
      // Characters that browsers leave unencoded in a query and that no path needs.
      "/oauth|token", "/authorize|x", "/x|../authorize", "/oauth%7Ctoken", "/authorize^x",
      "/authorize`x", "/authorize[x]", "/authorize{x}",
      // An authority, for parsers of URI references.
      "//x/authorize", "///x/authorize", "/\\x/authorize", "//user@x:80/oauth/token", "/%2fx/authorize",
      // A program in a directory, or in place of a directory.
      "/oauth/index.php/token", "/v2/index.php/oauth/authorize", "/oauth.php/token",
      "/oauth.aspx/token", "/x/y/authorize.action", "/x/authorize.ashx",
      // Dot segments that are removed without removing their parent.
      "/oauth/../token", "/oauth/%2e%2e/token", "/oauth/..%2ftoken", "/oauth/./../token",
      // Rewriting rules that turn part of the path into a query.
      "/authorize&x=1", "/oauth/token&", "/oauth/token%26x", "/x&q=oauth/token", "/x%26q=oauth/token",
      "/index.php%3fq=oauth/token", "/%3fq=oauth/token",
      // Names of methods, and method calls.
      "/oauth/to-ken", "/oauth/to_ken", "/oauth/to!ken", "/oauth/t*oken", "/author-ize", "/authorize!execute.action",
      "/oauth/token!execute", "/authorize!OpenAgent",
      // NTFS streams and Windows short names.
      "/oauth:$i30:$INDEX_ALLOCATION/token", "/authorize::$DATA", "/AUTHOR~1", "/v2/OAuth/AUTHOR~1.PHP",
      // Decoders: overlong and malformed UTF-8, best-fit mappings, `+`, stray escapes.
      "/oauth/a%2fb%5c../token", "/authorize+", "/+/authorize", "/oauth%f8%80%80%80%aftoken",
      "/oauth%fc%80%80%80%80%aftoken", "/oauth%c1%1ctoken", "/oauth%c0%2ftoken", "/index.php/oauth/%cf%84oken",
      "/oauth/%c5%a7oken", "/aut%c4%a7orize", "/oauth/tok%ce%b5n", "/oauth%c2%a5token", "/oauth%e2%81%aa/token",
      "/oauth/token%c2%85", "/oauth/token%ff", "/oauth/token%80", "/oauth/to%ken",
    ])
  func single(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
  }

  @Test(
    "I-path: a segment that ends in two periods is read as a folder and its parent, as its parent, and as the start of a path",
    arguments: [
      "/static../oauth/token", "/static%2e%2e/oauth/token", "/static..%2foauth/token", "/static..%252foauth/token",
      "/static..\\oauth/token", "/a/static../../oauth/token", "/a/b/static../oauth/token", "/static../authorize",
      "/static..;x/oauth/token", "/x/static..//oauth/token", "/static../.proofgate/callback", "/oauth/x../token",
    ])
  func parentInSegment(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
  }

  @Test("A server that finds programs without their suffixes finds an endpoint with a program in its path")
  func programWithoutSuffix() {
    for (token, path) in [
      ("/oauth.php/token", "/oauth/token"), ("/oauth.php/token", "/OAuth/token.json"),
      ("/index.php/oauth/token", "/index/oauth/token"), ("/oauth/token", "/index/oauth/token"),
      ("/x/oauth.php/token", "/x/oauth/token"),
    ] {
      let matcher = EndpointMatcher(endpoints: EndpointPaths(authorization: ["/authorize"], token: [token]))
      #expect(matcher.read(path: path) == .ambiguous, "\(path)")
      #expect(matcher.read(path: token) == .exact(.token))
    }
  }

  @Test(
    "I-path: the path of an endpoint below a folder of a front controller needs an entry of not_endpoints",
    arguments: ["/public/oauth/token", "/web/authorize", "/Public_HTML/oauth/token/", "/cgi-bin/app/oauth/token"])
  func folderOfFrontController(path: String) {
    #expect(Self.matcher.read(path: path) == .resembling)
    let permitting = EndpointMatcher(endpoints: Self.endpoints, notEndpoints: [path])
    #expect(permitting.read(path: path) == .notEndpoint)
  }

  @Test(
    "I-path: a path with an encoded line break is ambiguous",
    arguments: ["/x%0d%0aHost:y", "/x%0A", "/%0d", "/x%250a", "/%25250D", "/a%20b%0ac"])
  func lineBreak(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
  }

  @Test(
    "I-path: names of Windows with a hash, and two underscores as a separator, are readings",
    arguments: ["/oauth/to12ab~1", "/AU0F3C~1", "/oauth__token", "/x/..%2foauth___token"])
  func otherNames(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
  }

  @Test(
    "A path that is only long or has many special characters passes",
    arguments: [
      "/wiki/" + String(repeating: "%E3%81%82", count: 200), "/a;b=1;c=2/d;e=3", "/files/My%20File%20(1).pdf",
      "/a//b;v=1/c%2Fd%20(S)", "/group%2Fproject/-/tree/main", "/odata/Users(5)/Name", "/(S(abc))/page.aspx",
      "/x;jsessionid=0123456789ABCDEF", "/p/http:%2F%2Fexample.com%2Fa%3Fb%3Dc", "/caf%C3%A9/%C3%A9t%C3%A9.html",
      "/~user/page", "/a+b/c&d", "/v1.2/a,b;c", "/static/..%2e/x", "/100%25", "/%E4%B8%8A", "/%C4%8A%E0%A4%8D",
      "/compare/v1..v2", "/compare/v1../x", "/to12xy~1", "/__init__/a__b", "/100%25ab", "/public/login", "/web/app.js",
      "/cgi-bin/authorize", "/index/page", "/a|b", "/a[1]{2}^`",
    ])
  func plain(path: String) {
    #expect(Self.matcher.read(path: path) == .notEndpoint)
  }

  @Test(
    "A path that no server maps to an endpoint passes",
    arguments: [
      "/", "", "*", "/static/authorize/app.css", "/login", "/oauth/my-token", "/v2/OAuth/Authorized", "/oauthx/token",
      "/a%20b", "/caf%C3%A9", "/Static/App.JS", "/index.php/login", "/reauthorize",
      "/.well-known/openid-configuration", "/.proofgates/x",
    ])
  func other(path: String) {
    #expect(Self.matcher.read(path: path) == .notEndpoint)
  }

  @Test("An endpoint's path with any mixture of insertions and encodings is ambiguous")
  func everyMixture() {
    var random = SeededGenerator(seed: 1)
    let slashes = ["/", "//", "/./", "/x/../", "/;p/", "%2f", "\\", "/%2e/", "/y/..;z/", "%5C", "/%20/", "/q/%2e%2E/"]
    let ends = ["", "/", ";x", ".json", "%00", "%20", ".", "//", ";a=b/", "%2e", "/.", "%09"]
    for round in 0..<5_000 {
      var path = ["", "/index.php", "/x/..", "/cgi.pl", ""].randomElement(using: &random) ?? ""
      for segment in ["oauth", "token"] {
        path += slashes.randomElement(using: &random) ?? ""
        for scalar in segment.utf8 {
          path += spelled(scalar, style: Int.random(in: 0..<9, using: &random))
        }
      }
      path += ends.randomElement(using: &random) ?? ""
      let reading = Self.matcher.read(path: path)
      #expect(reading == .ambiguous || path == "/oauth/token", "round \(round): \(path)")
    }
  }

  private func spelled(_ byte: UInt8, style: Int) -> String {
    let hex = String(byte, radix: 16)
    let character = String(UnicodeScalar(byte))
    return switch style {
    case 0: "%" + hex
    case 1: "%25" + hex
    case 2: character.uppercased()
    case 3: "%u00" + hex
    case 4: String(UnicodeScalar(UInt32(byte) + 0xfee0) ?? "?")
    default: character
    }
  }

  @Test(
    "I-path: a query that routes to an endpoint is ambiguous",
    arguments: [
      ("/", "q=oauth/token"), ("/", "q=authorize"), ("/index.php", "r=oauth%2Ftoken"), ("/", "oauth=token"),
      ("/any/page", "oauth=token"), ("/blog/", "rest_route=/oauth/token"), ("/", "rest.route=%2Foauth%2Ftoken%2F"),
      ("/x", "a=b&route=oauth%252Ftoken"), ("/index.php", "url=/authorize?client_id=x"), ("/", "page=authorize"),
      ("/", "action=Authorize"), ("/index.php", "controller=oauth&action=token"), ("/", "action=token&c=oauth"),
      ("/index.php", "/oauth/token"), ("/", "authorize"), ("/", "%71=authorize"), ("/", "a;q=authorize"),
      ("/oauth/", "q=token"), ("/authorize", "state=s&q=oauth/token"), ("/x", "q=x/../oauth/token"),
      ("/", "s=/index.php/oauth/token"), ("/", "q=//x/oauth/token"), ("/", "q=/oauth/index.php/token"),
      ("/", "q=oauth/../token"), ("/", "c=oauth&m=token"), ("/", "m=home&c=oauth&a=token"),
      ("/", "mod=oauth&act=token"),
      ("/", "class=oauth&method=token"), ("/", "pagename=oauth/token"), ("/", "pagename=authorize"),
      ("/x", "routestring=oauth/token"), ("/login.action", "action:authorize=1"),
      ("/login.action", "action%3aauthorize"),
      ("/any/page", "url=oauth/token"), ("/any/page", "path=oauth/token"), ("/", "q=oauth/to%25ken"),
      ("/", "q=oauth/token%26x"),
    ])
  func routedByQuery(path: String, query: String) {
    #expect(Self.matcher.read(path: path, query: query) == .ambiguous)
  }

  @Test(
    "I-path: the index of a folder may be a front controller, and its routes may have periods or colons",
    arguments: [
      ("/app/", "url=/oauth/token"), ("/app/", "page=authorize"), ("/oauth/", "action=token"),
      ("/app/", "controller=oauth&action=token"), ("/", "action=oauth.token"), ("/", "event=oauth.token"),
      ("/index.cfm", "fuseaction=oauth.token"), ("/", "rm=authorize"), ("/", "presenter=Oauth:token"),
      ("/", "presenter=oauth&action=token"), ("/index", "url=/oauth/token"),
    ])
  func routedByFolder(path: String, query: String) {
    #expect(Self.matcher.read(path: path, query: query) == .ambiguous)
  }

  @Test(
    "I-path: on a path that begins like an endpoint, the rest of the endpoint path may be in any parameter",
    arguments: [
      ("/oauth.php", "do=token"), ("/oauth/x", "do=token"), ("/oauth", "anything=token"), ("/oauth/", "x=To%6ben"),
      ("/OAuth/x", "a=1&b=token&c=2"), ("/%6fauth", "x=token"), ("/oauth/x", "x[]=token"),
      ("/v2/x", "name=oauth/authorize"), ("/v2/oauth/x", "name=authorize"), ("/index.php/../oauth", "x=token"),
    ])
  func completedByQuery(path: String, query: String) {
    #expect(Self.matcher.read(path: path, query: query) == .ambiguous)
  }

  @Test("I-path: a program in the path of an endpoint may read the rest of the path from any parameter")
  func completedByProgram() {
    let matcher = EndpointMatcher(endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/oauth.php/token"]))
    for target in ["/oauth.php?do=token", "/oauth?do=token", "/oauth.php/x?do=token"] {
      #expect(matcher.read(target: target) == .ambiguous, "\(target)")
    }
    #expect(matcher.read(target: "/oauth.php?do=login") == .notEndpoint)
  }

  @Test(
    "I-path: a colon in a query does not hide a route",
    arguments: [
      ("/", "/oauth/token/a:b"), ("/", "/oauth/token:x"), ("/", "/oauth/token/a:b:c=d"), ("/", "/oauth/token%3ax"),
      ("/index.php", "/oauth/token?x:y"), ("/", "/authorize/http://x"), ("/", "/x:y/../oauth/token"),
      ("/", "x:r=/oauth/token"), ("/", "r:x=/oauth/token"), ("/", "x%3Aroute=oauth/token"), ("/", "a:b:/oauth/token"),
      ("/x", "redirect:/authorize"), ("/", "x:controller=oauth&action:x=token"),
    ])
  func routedBehindColon(path: String, query: String) {
    #expect(Self.matcher.read(path: path, query: query) == .ambiguous)
  }

  @Test(
    "I-path: semicolons and ampersands in a query are read both as separators and as parts of a route",
    arguments: [
      ("/", "r=/oauth;/token"), ("/", "q=/x/..;y/oauth/token"), ("/", "a=b;r=/oauth/token"), ("/", "/oauth;x/token"),
      ("/", "controller=oauth;action=token"), ("/", "/oauth/x&y/../token"), ("/", "%2Foauth/x&y/../token"),
    ])
  func routedAroundSeparators(path: String, query: String) {
    #expect(Self.matcher.read(path: path, query: query) == .ambiguous)
  }

  @Test(
    "A query that routes to no endpoint passes",
    arguments: [
      ("/", "q=news"), ("/search", "q=token"), ("/search", "q=authorize"), ("/login", "url=%2Fauthorize%3Fa%3Db"),
      ("/login.php", "path=/authorize"), ("/style.css", "v2"), ("/", "utm.source=authorize"),
      ("/", "page=2&action=edit"),
      ("/a", "user[name]=x"), ("/index.php", "route=account/login"), ("/", ""), ("/", "/news/a:b"),
      ("/odata", "$filter=a:b"), ("/", "xmlns:a=b&xsi:type=c"), ("/", "a=b;c=d"), ("/page", "12:30:45"),
      ("/login/", "url=%2Foauth%2Fauthorize%3Fclient_id%3Da"), ("/app/", "page=2&view=list"), ("/", "event=1.5"),
      ("/oauth/login", "response_type=token"), ("/oauth/applications", "page=2&sort=name"),
      ("/oauth/login", "return=/token"), ("/oauth/login", "return=%2Foauth%2Ftoken%3Fa"), ("/static/x.js", "v=token"),
      ("/oauth/error", "error=invalid_token&hint=the+token"), ("/oauths", "x=token"), ("/page", "x=token"),
    ])
  func unroutedQuery(path: String, query: String) {
    #expect(Self.matcher.read(path: path, query: query) == .notEndpoint)
  }

  @Test("An endpoint with an ordinary query is still that endpoint")
  func queryOfEndpoint() {
    let query = "response_type=code&client_id=a&redirect_uri=com.example.app%3A%2Fcb&scope=a%20b&state=x%2Fy"
    #expect(Self.matcher.read(path: "/authorize", query: query) == .exact(.authorization))
    #expect(Self.matcher.read(path: "/.proofgate/callback", query: "code=a&state=b") == .exact(.otherOwnPath))
  }

  @Test("Every path under /.proofgate/ belongs to the gateway, and only an endpoint's exact path is that endpoint")
  func ownEndpoints() {
    let matcher = EndpointMatcher(
      ownPath: GatewaySettings.ownPath, paths: { $0 == .callback ? ["/.proofgate/callback"] : [] })
    #expect(matcher.read(path: "/.proofgate/callback", query: "code=a&state=b") == .exact(.callback))
    for path in ["/.proofgate/callbackx", "/.proofgate/consent", "/.proofgate/callback/x"] {
      #expect(matcher.read(path: path) == .exact(.otherOwnPath), "\(path)")
    }
    for path in ["/.proofgate/%63allback", "/.proofgate/Callback/", "//.proofgate/callback"] {
      #expect(matcher.read(path: path) == .ambiguous, "\(path)")
    }
  }

  @Test("upstream.pass opens a path below an endpoint only with an entry that is longer than the endpoint's path")
  func passedBelow() {
    let matcher = EndpointMatcher(endpoints: Self.endpoints, passPrefixes: ["/", "/authorize/native", "/oauth/token/"])
    #expect(matcher.read(path: "/authorize/native") == .notEndpoint)
    #expect(matcher.read(path: "/authorize/native/x") == .notEndpoint)
    #expect(matcher.read(path: "/other") == .notEndpoint)
    for path in ["/authorize/native/..", "/authorize/native/%2e%2e/x"] {
      #expect(matcher.read(path: path) == .ambiguous, "\(path)")
    }
    for path in ["/authorize/other", "/oauth/token/x"] {
      #expect(matcher.read(path: path) == .resembling, "\(path)")
    }
  }

  @Test("A path or query with too many segments or escapes is ambiguous if it may contain an endpoint's letters")
  func intricate() {
    let many = String(repeating: "/a", count: 65) + "/oauth/x"
    #expect(Self.matcher.read(path: many + "/token") == .ambiguous)
    #expect(Self.matcher.read(path: "/" + String(repeating: "a", count: 4_096) + "%20") == .ambiguous)
    #expect(Self.matcher.read(path: "/x" + String(repeating: "authorize", count: 200)) == .notEndpoint)
    #expect(Self.matcher.read(path: "/x", query: "q=" + String(repeating: "/%61", count: 65)) == .ambiguous)
    // Letters in another order, or the letters of `.proofgate` without the period, do not start the full check.
    let strange = String(repeating: "/b", count: 65)
    #expect(Self.matcher.read(path: "/nekot" + strange) == .notEndpoint)
    #expect(Self.matcher.read(path: "/p/r/o/o/f/g/a/t/e" + strange) == .notEndpoint)
    #expect(Self.matcher.read(path: "/.p/r/o/o/f/g/a/t/e" + strange) == .ambiguous)
    let passing = EndpointMatcher(endpoints: Self.endpoints, passPrefixes: ["/static/"])
    #expect(passing.read(path: "/static" + String(repeating: "/b", count: 65)) == .notPassed)
  }

  @Test("With an empty upstream.pass every path but those of endpoints is 404")
  func nothingPasses() {
    let matcher = EndpointMatcher(endpoints: Self.endpoints, passPrefixes: [])
    for path in ["/", "/login", "/admin/x"] { #expect(matcher.read(path: path) == .notPassed, "\(path)") }
    #expect(matcher.read(path: "/authorize") == .exact(.authorization))
    #expect(matcher.read(path: "/.proofgate/callback") == .exact(.otherOwnPath))
  }

  @Test("With upstream.pass every other path is 404, under every reading")
  func passedPrefixes() {
    let matcher = EndpointMatcher(endpoints: Self.endpoints, passPrefixes: ["/login", "/static/", "/index.php"])
    for path in ["/login", "/login/form", "/static/app.css", "/static/A%20b", "/index.php/account", "/index.php"] {
      #expect(matcher.read(path: path) == .notEndpoint, "\(path)")
    }
    for path in [
      "/", "/loginx", "/static", "/admin", "/static/../admin", "/static/%2e%2e/admin", "/static/..;/admin",
      "/login/..%2fadmin", "/LOGIN", "/static/..%5cadmin", "/static\\..\\..\\admin",
    ] {
      #expect(matcher.read(path: path) == .notPassed, "\(path)")
    }
    #expect(matcher.read(path: "/authorize") == .exact(.authorization))
    #expect(matcher.read(path: "/login/../authorize") == .ambiguous)
    #expect(matcher.read(path: "/.proofgate/callback") == .exact(.otherOwnPath))
  }
}
