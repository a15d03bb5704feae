import FoundationEssentials
import Policy
import Testing

@testable import PathReading

@Suite("Paths that begin like an endpoint")
struct ResemblingPathTests {
  private static let endpoints = EndpointPaths(
    authorization: ["/authorize", "/v2/OAuth/Authorize.php"], token: ["/oauth/token"], revocation: ["/revoke"],
    closed: ["/par"])
  private static let matcher = EndpointMatcher(endpoints: endpoints)

  @Test(
    "I-path: a path that begins like an endpoint and continues is refused, and the log has the entry that lists it",
    arguments: [
      ("/authorized", "/authorized"), ("/authorizex", "/authorizex"), ("/oauth/tokens", "/oauth/tokens"),
      ("/oauth/token2", "/oauth/token2"), ("/oauth/token-x", "/oauth/token-x"), ("/oauth/token_v2", "/oauth/token_v2"),
      ("/oauth/tokenize/", "/oauth/tokenize/"), ("/OAuth/TokenX", "/OAuth/TokenX"), ("/revoke_all", "/revoke_all"),
      ("/parcels", "/parcels"), ("/oauth/tokenx/y/z", "/oauth/tokenx/y/z"), ("/oauth/tokens.zip", "/oauth/tokens.zip"),
      ("/oauth/app.php/token/x", "/oauth/app.php/token/x"), ("/v2/OAuth/Authorize.php/x", "/v2/OAuth/Authorize.php/x"),
      ("/authorize/native", "/authorize/native"), ("/oauth/token/info", "/oauth/token/info"),
      ("/oauth/token/5", "/oauth/token/*"), ("/oauth/token/index.php", "/oauth/token/index.php"),
      ("/oauth/token.php/x", "/oauth/token.php/x"), ("/par/x", "/par/x"),
      ("/authorize/wQ7rX9kPz3LmN5vB8cD2eF4gH6jK1aS0", "/authorize/*"), ("/oauth/token/a%2Fb%3D%3D", "/oauth/token/*"),
      ("/a/index.php/authorize.php/x/y.php/z", "/a/index.php/authorize.php/x/y.php/z"),
    ])
  func resembling(path: String, entry: String) {
    #expect(Self.matcher.read(path: path) == .resembling)
    #expect(Self.matcher.suggestedNotEndpointsEntry(for: path.utf8.span) == entry)
    let listing = EndpointMatcher(endpoints: Self.endpoints, notEndpoints: [entry])
    #expect(listing.read(path: path) == .notEndpoint)
  }

  @Test(
    "I-path: such a path in another spelling, or with an id in place of the name, is ambiguous",
    arguments: [
      "/v2/OAuth/Authorize.phpx", "/oaut%68/authorizex/../tokenx", "/oauth/token%78", "/static/../authorizex",
      "//authorizex", "/authorizex;a",
      "/x/%2e%2e/oauth/tokenx", "/oauth/tokenx%2f", "/oauth\\tokenx", "/oauth/token0123456789", "/oauth/token/..%2fx",
      "/oauth/token/a..b", "/oauth/token/.x", "/oauth/token/a%2F..%2Fb", "/oauth/token/%2e", "/oauth/token/~x",
    ])
  func ambiguous(path: String) {
    #expect(Self.matcher.read(path: path) == .ambiguous)
    let listing = EndpointMatcher(
      endpoints: Self.endpoints, notEndpoints: ["/authorizex", "/oauth/tokenx", "/oauth/token/*"])
    #expect(listing.read(path: path) == .ambiguous)
  }

  @Test("I-path: upstream.not_endpoints cannot open an endpoint or a spelling of one")
  func listedEndpoint() {
    let matcher = EndpointMatcher(
      endpoints: Self.endpoints, notEndpoints: ["/*", "/oauth/*", "/Authorize", "/oauth/token/", "/.proofgate/*"])
    #expect(matcher.read(path: "/oauth/token") == .exact(.token))
    for path in [
      "/Authorize", "/oauth/TOKEN", "/oauth/token/", "/authorize.json", "/.Proofgate/callback", "/oauth/to-ken",
    ] {
      #expect(matcher.read(path: path) == .ambiguous, "\(path)")
    }
    #expect(matcher.read(path: "/oauth/tokenx") == .notEndpoint)
  }

  @Test("I-path: a listed path still obeys upstream.pass and the rules for queries")
  func listedElsewhere() {
    let matcher = EndpointMatcher(endpoints: Self.endpoints, passPrefixes: ["/static"], notEndpoints: ["/oauth/tokenx"])
    #expect(matcher.read(path: "/oauth/tokenx") == .notPassed)
    let passing = EndpointMatcher(endpoints: Self.endpoints, notEndpoints: ["/oauth/tokenx"])
    #expect(passing.read(path: "/oauth/tokenx", query: "r=/oauth/token") == .ambiguous)
    #expect(passing.read(path: "/oauth/tokenx", query: "page=2") == .notEndpoint)
  }

  /// A stock server: its endpoints, its other routes, and the `not_endpoints` entries that the routes need.
  struct Server: CustomTestStringConvertible {
    let testDescription: String
    let endpoints: EndpointPaths
    let notEndpoints: [String]
    let routes: [String]

    init(_ name: String, _ endpoints: EndpointPaths, notEndpoints: [String] = [], routes: [String]) {
      testDescription = name
      self.endpoints = endpoints
      self.notEndpoints = notEndpoints
      self.routes = routes
    }
  }

  private static let servers = [
    Server(
      "flask-oauthlib",
      EndpointPaths(authorization: ["/oauth/authorize"], token: ["/oauth/token"], revocation: ["/oauth/revoke"]),
      routes: ["/", "/client", "/oauth/errors", "/api/me", "/login"]),
    Server(
      "django-oauth-toolkit",
      EndpointPaths(
        authorization: ["/o/authorize/"], token: ["/o/token/"], revocation: ["/o/revoke_token/"],
        introspection: ["/o/introspect/"]),
      notEndpoints: ["/o/authorized_tokens/", "/o/authorized_tokens/*/delete/"],
      routes: [
        "/o/applications/", "/o/applications/register/", "/o/applications/7/", "/o/applications/7/delete/",
        "/o/applications/7/update/", "/o/authorized_tokens/", "/o/authorized_tokens/12/delete/", "/accounts/login/",
        "/admin/oauth2_provider/accesstoken/",
      ]),
    Server(
      "Authlib",
      EndpointPaths(authorization: ["/oauth/authorize"], token: ["/oauth/token"], revocation: ["/oauth/revoke"]),
      routes: ["/", "/logout", "/create_client", "/api/me"]),
    Server("python-oauth2", EndpointPaths(authorization: ["/authorize"], token: ["/token"]), routes: ["/", "/login"]),
    Server(
      "pyop", EndpointPaths(authorization: ["/authentication"], token: ["/token"], closed: ["/registration"]),
      routes: ["/userinfo", "/jwks", "/logout", "/.well-known/openid-configuration"]),
    Server(
      "doorkeeper",
      EndpointPaths(
        authorization: ["/oauth/authorize"], token: ["/oauth/token"], revocation: ["/oauth/revoke"],
        introspection: ["/oauth/introspect"]),
      notEndpoints: [
        "/oauth/authorize/native", "/oauth/authorized_applications", "/oauth/authorized_applications/*",
        "/oauth/token/info",
      ],
      routes: [
        "/oauth/authorize/native", "/oauth/applications", "/oauth/applications/new", "/oauth/applications/3",
        "/oauth/applications/3/edit", "/oauth/authorized_applications", "/oauth/authorized_applications/3",
        "/oauth/token/info", "/users/sign_in",
      ]),
    Server(
      "glewlwyd",
      EndpointPaths(
        authorization: ["/api/oidc/auth"], token: ["/api/oidc/token"], revocation: ["/api/oidc/revoke"],
        introspection: ["/api/oidc/introspect"], closed: ["/api/oidc/register"]),
      notEndpoints: ["/api/oidc/token/*"],
      routes: [
        "/api/oidc/userinfo", "/api/oidc/jwks", "/api/oidc/.well-known/openid-configuration", "/api/oidc/end_session",
        "/api/oidc/check_session_iframe", "/api/oidc/token/Zm9v%2BYmFy%2Fcg%3D%3D", "/api/auth/", "/api/auth/scheme/",
        "/api/auth/grant/mail", "/api/profile_list", "/login.html", "/profile.html", "/callback.html",
      ]),
    Server(
      "LemonLDAP::NG",
      EndpointPaths(
        authorization: ["/oauth2/authorize"], token: ["/oauth2/token"], introspection: ["/oauth2/introspect"],
        closed: ["/oauth2/register"]),
      routes: [
        "/", "/oauth2/userinfo", "/oauth2/jwks", "/oauth2/logout", "/oauth2/checksession.html",
        "/.well-known/openid-configuration", "/resetpwd", "/2fregisters", "/static/common/js/portal.min.js",
      ]),
    Server(
      "Spring Security OAuth", EndpointPaths(authorization: ["/oauth/authorize"], token: ["/oauth/token"]),
      notEndpoints: ["/oauth/token_key"],
      routes: ["/oauth/token_key", "/oauth/check_token", "/oauth/confirm_access", "/oauth/error", "/login"]),
    Server(
      "IdentityServer",
      EndpointPaths(
        authorization: ["/connect/authorize"], token: ["/connect/token"], revocation: ["/connect/revocation"],
        introspection: ["/connect/introspect"]),
      notEndpoints: ["/connect/authorize/callback"],
      routes: ["/connect/authorize/callback", "/connect/userinfo", "/connect/endsession", "/connect/checksession"]),
    Server(
      "Keycloak",
      EndpointPaths(
        authorization: ["/realms/main/protocol/openid-connect/auth"],
        token: ["/realms/main/protocol/openid-connect/token"],
        introspection: ["/realms/main/protocol/openid-connect/token/introspect"]),
      notEndpoints: ["/realms/*/protocol/openid-connect/auth/device"],
      routes: [
        "/realms/main/protocol/openid-connect/auth/device", "/realms/main/protocol/openid-connect/userinfo",
        "/realms/main/login-actions/authenticate", "/realms/main/account/",
      ]),
    Server(
      "ForgeRock AM, OpenAM", EndpointPaths(authorization: ["/oauth2/authorize"], token: ["/oauth2/access_token"]),
      routes: ["/oauth2/tokeninfo", "/oauth2/userinfo", "/oauth2/connect/jwk_uri"]),
  ]

  @Test(
    "I-path: the stock routes of a server stay reachable with the entries that docs/policy.md gives", arguments: servers
  )
  func stockRoutes(of server: Server) throws {
    let matcher = EndpointMatcher(endpoints: server.endpoints, notEndpoints: server.notEndpoints)
    for route in server.routes { #expect(matcher.read(path: route) == .notEndpoint, "\(route)") }
    for entry in server.notEndpoints {
      let without = EndpointMatcher(
        endpoints: server.endpoints, notEndpoints: server.notEndpoints.filter { $0 != entry })
      #expect(server.routes.contains { without.read(path: $0) == .resembling }, "\(entry) is not needed")
    }
    let row = try #require(Self.documentation.first { $0.hasPrefix("| ") && $0.contains(server.testDescription) })
    let entries = server.notEndpoints.isEmpty ? "none" : "`[\(server.notEndpoints.joined(separator: ", "))]`"
    #expect(row.hasSuffix("| \(entries) |"))
  }

  private static let documentation: [String] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("docs/policy.md")
    guard let data = try? Data(contentsOf: file) else { return [] }
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    return Array(lines.drop { $0 != "### `not_endpoints`" })
  }()
}
