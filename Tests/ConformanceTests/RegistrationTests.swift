import Demo
import Enforcement
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Stores
import Testing

/// RFC 7591: dynamic client registration.
@Suite("Dynamic registration")
struct RegistrationTests {
  static let native = "com.example.app:/oauth2redirect/example-provider"

  // MARK: Redirect URIs

  @Test("8252-7-three-options: a native app registers all kinds of redirect URI at once")
  func threeOptions() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let uris = ["com.example.app:/cb", "https://app.example.com/cb", "http://127.0.0.1/cb", "http://[::1]/cb"]
      let response = try await gateway.register(uris)
      #expect(response.status == 201)
      let client = try response.registration()
      #expect(client.redirectURIs == uris)
      #expect(client.type == "native")
    }
  }

  @Test(
    "8252-7.1-rfc-example, 8252-7.1-clientid-scheme: reversed domain names are registered and used",
    arguments: [native, "net.example.usercontent.client1234:/cb"])
  func privateUse(uri: String) async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let id = try await gateway.registeredID([uri])
      let response = try await gateway.get(gateway.authorizationTarget(id, uri))
      #expect(response.status == 200)
      #expect(response.text.contains("consent_token"))
    }
  }

  @Test("8252-7.2-https-public: a native app with a claimed https URI stays public and gets tokens")
  func claimedHTTPS() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let uri = "https://app.example.com/cb"
      let id = try await gateway.registeredID([uri], "\"application_type\":\"native\"")
      let tokens = try await gateway.tokens(id, uri)
      #expect(!tokens.accessToken.reveal().isEmpty)
    }
  }

  @Test("8252-8.3-localhost: exact matching refuses another port than the registered one, and a setting frees the port")
  func localhost() async throws {
    let policy = try GatewayFixture.registering { $0.rules.redirects.localhost = .exact }
    try await GatewayFixture.run(policy) { gateway in
      let id = try await gateway.registeredID(["http://localhost/cb"])
      let target = gateway.authorizationTarget(id, "http://localhost:5000/cb")
      _ = try await gateway.expectErrorPage(target)
      // The default for registered clients (docs/adr/0033).
      await gateway.reload { $0.registration?.rules.redirects.localhost = nil }
      #expect(try await gateway.get(target).status == 200)
      _ = try await gateway.expectErrorPage(gateway.authorizationTarget(id, "http://127.0.0.1:5000/cb"))
      let other = try await gateway.registeredID(["http://localhost:8080/cb"])
      let otherPort = gateway.authorizationTarget(other, "http://localhost:5000/cb")
      _ = try await gateway.expectErrorPage(otherPort)
      await gateway.reload { $0.registration?.rules.redirects.localhost = .anyPort }
      #expect(try await gateway.get(otherPort).status == 200)
      await gateway.reload { $0.registration?.rules.redirects.localhost = .reject }
      _ = try await gateway.expectErrorPage(target)
      gateway.expectRegistrationError(try await gateway.register(["http://localhost/cb"]), "invalid_redirect_uri")
    }
  }

  @Test("8252-8.3-http-allowed, 9700-2.6-http-redirect: http is for loopback redirect URIs of native apps only")
  func http() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      #expect(try await gateway.register(["http://127.0.0.1/cb"]).status == 201)
      for (uri, members) in [
        ("http://app.example.com/cb", ""), ("http://web.example.com/cb", "\"application_type\":\"web\""),
        ("http://127.0.0.1/cb", "\"application_type\":\"web\""),
      ] {
        gateway.expectRegistrationError(try await gateway.register([uri], members), "invalid_redirect_uri")
      }
    }
  }

  @Test(
    """
    8252-8.4-complete-uri, 8252-8.4-period, 7595-3.8-syntax, 7595-3.8-lowercase, 7595-3.8-no-iana-clash, \
    6749-3.1.2-fragment, 8252-5-no-oob: redirect URIs that no app may register are refused
    """,
    arguments: [
      "com.example.app:", "https://*.example.com/cb", "myapp:/cb", "com.example.my_app:/cb", "1com.example:/cb",
      "Com.Example.App:/cb", "javascript:/cb", "intent:/cb", "tel:/1", "https://app.example.com/cb#",
      "urn:ietf:wg:oauth:2.0:oob", "local.myapp:/cb",
    ])
  func refusedURIs(uri: String) async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      gateway.expectRegistrationError(try await gateway.register([uri]), "invalid_redirect_uri")
    }
  }

  @Test("8252-B.3-msapp: the Windows broker's URI is registered, compared exactly, and needs PKCE")
  func msapp() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let uri = "msapp://s-1-15-2-1111-2222-3333"
      let id = try await gateway.registeredID([uri])
      let target = gateway.authorizationTarget(id, uri) { $0.remove("code_challenge") }
      _ = try await gateway.expectErrorPage(target)
      _ = try await gateway.expectErrorPage(gateway.authorizationTarget(id, uri + "/"))
    }
  }

  @Test("7591-5-three-kinds: localhost is registered, a scheme without a period is not unless it is listed")
  func threeKinds() async throws {
    let policy = try GatewayFixture.registering { settings in settings.rules.redirects.schemes = ["cursor"] }
    try await GatewayFixture.run(policy) { gateway in
      #expect(try await gateway.register(["http://localhost:8080/oauth_redirect"]).status == 201)
      let response = try await gateway.register(["exampleapp://oauth_redirect"])
      gateway.expectRegistrationError(response, "invalid_redirect_uri")
      #expect(try await gateway.register(["cursor://anysphere.cursor-mcp/oauth/callback"]).status == 201)
    }
  }

  @Test("7591-2-redirect-uris, 6749-3.1.2.2-required: a registration needs a list with at least one redirect URI")
  func redirectURIsRequired() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      for json in [
        "{\"grant_types\":[\"authorization_code\"]}", "{\"redirect_uris\":[]}",
        "{\"redirect_uris\":\"com.example.app:/cb\"}", "{\"redirect_uris\":[1]}",
      ] {
        gateway.expectRegistrationError(try await gateway.register(json: json), "invalid_redirect_uri")
      }
      _ = try await gateway.expectErrorPage(gateway.authorizationTarget("tv1", "com.example.app:/cb"))
    }
  }

  // MARK: Metadata

  @Test("8252-8.4-public, 7591-2-auth-none: a native app is public and gets no secret and no other grants")
  func publicClient() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let response = try await gateway.register(
        [Self.native], "\"application_type\":\"native\",\"token_endpoint_auth_method\":\"none\"")
      #expect(response.status == 201)
      let client = try response.registration()
      #expect(client.method == "none")
      #expect(client.secret == nil)
      for grants in ["[\"client_credentials\"]", "[\"implicit\",\"authorization_code\"]", "[]", "\"code\"", "[1]"] {
        let refused = try await gateway.register([Self.native], "\"grant_types\":\(grants)")
        gateway.expectRegistrationError(refused, "invalid_client_metadata")
      }
    }
  }

  @Test("7591-2-default-auth: absent members have the defaults of the RFC, and every client is public")
  func defaults() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let client = try await gateway.register(["https://web3.example.com/cb"]).registration()
      #expect(client.grants == ["authorization_code"])
      #expect(client.responses == ["code"])
      #expect(client.method == "none")
      #expect(client.type == "web")
      #expect(client.secret == nil)
      let asked = try await gateway.register(
        ["https://web3.example.com/cb"], "\"token_endpoint_auth_method\":\"client_secret_post\"")
      #expect(asked.status == 201)
      #expect(try asked.registration().method == "none")
    }
    let policy = try GatewayFixture.registering { $0.issuesSecrets = true }
    try await GatewayFixture.run(policy) { gateway in
      let client = try await gateway.register(["https://web3.example.com/cb"]).registration()
      #expect(client.method == "client_secret_basic")
      #expect(client.secret != nil)
      for method in ["none", "private_key_jwt", "client_secret_jwt"] {
        let client = try await gateway.register(
          ["https://web3.example.com/cb"], "\"token_endpoint_auth_method\":\"\(method)\""
        ).registration()
        #expect(client.method == "none")
        #expect(client.secret == nil)
      }
    }
  }

  @Test("7591-2-ignore-unknown, 7591-5-no-upstream-leak: unknown members and a proposed client_id are ignored")
  func unknownMembers() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let response = try await gateway.register(
        [Self.native], "\"foo\":1,\"client_id\":\"admin\",\"logo_uri\":\"https://evil.example/l\"")
      #expect(response.status == 201)
      #expect(!response.text.contains("\"foo\""))
      #expect(!response.text.contains("evil.example"))
      #expect(try response.registration().clientID.hasPrefix("pg1."))
      #expect(!response.text.contains("legacy-native"))
      #expect(!response.text.contains(FixturePolicy.nativeSecret))
    }
  }

  @Test("8252-8.4-platform-info: the platform data of an app are not recorded, returned or part of its id")
  func platformData() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let id = try await gateway.registeredID([Self.native])
      let members = [
        "\"ios_bundle_id\":\"org.sample.mail\"", "\"android_package_name\":\"org.sample.mail\"",
        "\"android_package_sha256_cert_fingerprints\":[\"14:6D:E9\"]", "\"software_statement\":\"a.b.c\"",
      ]
      let response = try await gateway.register([Self.native], members.joined(separator: ","))
      #expect(response.status == 201)
      for text in ["bundle", "package", "org.sample", "14:6D:E9", "software"] {
        #expect(!response.text.contains(text), "\(text) in \(response.text)")
      }
      #expect(try response.registration().clientID == id)
    }
  }

  @Test(
    "7591-2.1-consistency: grant types and response types must agree",
    arguments: [
      "\"response_types\":[\"token\"]", "\"response_types\":[\"code\",\"id_token\"]", "\"response_types\":[]",
      "\"grant_types\":[\"refresh_token\"]", "\"response_types\":\"code\"",
    ])
  func consistency(members: String) async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      gateway.expectRegistrationError(
        try await gateway.register([Self.native], members), "invalid_client_metadata")
    }
  }

  // MARK: The endpoint

  @Test("7591-3-json-post: the endpoint takes POST of JSON only")
  func jsonPost() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let get = try await gateway.get("/register")
      #expect(get.status == 405)
      #expect(get.headers["Allow"] == "POST")
      let form = try await gateway.post("/register", ["redirect_uris": Self.native])
      gateway.expectRegistrationError(form, "invalid_client_metadata")
      let valid = "{\"redirect_uris\":[\"com.example.app:/cb\"]}"
      for json in ["", "[]", "{", valid + " x", "\u{feff}" + valid] {
        gateway.expectRegistrationError(try await gateway.register(json: json), "invalid_client_metadata")
      }
      let large = "\"padding\":\"\(String(repeating: "x", count: 17_000))\""
      gateway.expectRegistrationError(
        try await gateway.register([Self.native], large), "invalid_client_metadata")
    }
  }

  @Test("7591-3-access: an initial access token can be required, and open registration is limited by network")
  func access() async throws {
    let token = "5f0c1e9d7a3b48268d4e0f6b2c917a35"
    let closed = try GatewayFixture.registering { $0.initialAccessToken = Secret(token) }
    try await GatewayFixture.run(closed) { gateway in
      let refused = try await gateway.register([Self.native])
      #expect(refused.status == 401)
      #expect(refused.headers["WWW-Authenticate"] == "Bearer realm=\"proofgate\"")
      let json = "{\"redirect_uris\":[\"\(Self.native)\"]}"
      let wrong = try await gateway.register(json: json, ["Authorization": "Bearer wrong"])
      #expect(wrong.status == 401)
      #expect(wrong.headers["WWW-Authenticate"] == "Bearer realm=\"proofgate\", error=\"invalid_token\"")
      for response in [refused, wrong] {
        #expect(response.text.contains("\"error\":\"invalid_token\""), "\(response.text)")
      }
      #expect(try await gateway.register(json: json, ["Authorization": "Bearer \(token)"]).status == 201)
    }
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let usage = gateway.store.usage
      var statuses: [Int: Int] = [:]
      for number in 0..<2_000 {
        let response = try await gateway.register(["com.example.app\(number % 10):/cb"])
        statuses[response.status, default: 0] += 1
        if number == 999 { #expect(statuses == [201: 1_000]) }
        if response.status == 429 {
          #expect(response.headers["Retry-After"] != nil)
          break
        }
      }
      #expect(statuses[429] == 1)
      // Nothing is stored for a registration.
      #expect(gateway.store.usage.map(\.entries) == usage.map(\.entries))
      #expect(gateway.store.usage.map(\.bytes) == usage.map(\.bytes))
    }
  }

  @Test(
    "Metadata that two readers could read in different ways, or that are nested deeply, are refused",
    arguments: [
      #""redirect_uris":["https://a.example/cb"],"redirect_uris":["https://b.example/cb"]"#,
      #""redirect_uris":["https://a.example/cb"],"x":"# + String(repeating: "[", count: 500) + "null"
        + String(repeating: ",null", count: 2_000) + String(repeating: "]", count: 500),
      #""redirect_uris":["https://a.example/cb"],"#,
      // An escape in a name, and a repetition in a member that is ignored.
      #""redirect_uris":["https://a.example/cb"],"\u0072edirect_uris":["https://b.example/cb"]"#,
      #""redirect_uris":["https://a.example/cb"],"jwks":{"keys":[],"keys":[]}"#,
    ])
  func strictReading(_ members: String) async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway async throws in
      gateway.expectRegistrationError(try await gateway.register(json: "{\(members)}"), "invalid_client_metadata")
    }
  }

  @Test("7591-3.2.1-response: the response is 201 with no-store, the id and the metadata in force")
  func response() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let response = try await gateway.register(
        [Self.native, "https://App.example.com:0/cb"],
        """
        "client_name":"My   Mail","scope":"mail admin","grant_types":["authorization_code","refresh_token",\
        "urn:ietf:params:oauth:grant-type:device_code"]
        """)
      #expect(response.status == 201)
      #expect(response.headers["Content-Type"] == "application/json")
      #expect(response.headers["Cache-Control"] == "no-store")
      #expect(response.headers["Pragma"] == "no-cache")
      let client = try response.registration()
      #expect(client.clientID.hasPrefix("pg1."))
      #expect(client.redirectURIs == [Self.native])
      #expect(client.grants == ["authorization_code", "refresh_token"])
      #expect(client.name == "My Mail")
      #expect(client.scope == "mail")
      #expect(client.method == "none")
    }
  }

  @Test(
    "A name that a page cannot show is replaced, and a member that is null counts as omitted",
    arguments: [
      ("My\\u00a0Mail \\u2013 \\u201cbeta\\u201d", "My Mail \u{2013} beta"), ("a\\u202eb", "ab"), (" Mail  ", "Mail"),
      (String(repeating: "x", count: 65), String(repeating: "x", count: 63) + "\u{2026}"), ("   ", nil),
      ("M\\u034fail", "Mail"), ("\\u3164", nil), ("Mail\\u201d by \\u201cBank", "Mail by Bank"),
      ("\\ud834\\udd59", nil), ("\\u0301a\\u0323\\u0323\\u0323\\u0323", "a\u{323}\u{323}\u{323}"),
    ] as [(String, String?)])
  func replaced(name: String, shown: String?) async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let others = ["scope", "grant_types", "response_types", "application_type", "token_endpoint_auth_method"]
      let members = others.map { "\"\($0)\":null" }.joined(separator: ",")
      let response = try await gateway.register([Self.native], "\"client_name\":\"\(name)\",\(members)")
      #expect(response.status == 201)
      #expect(try response.registration().name == shown, "\(response.text)")
    }
  }

  @Test("7591-3.2.2-errors: errors are 400 with JSON and the code for their member")
  func errors() async throws {
    try await GatewayFixture.run(try GatewayFixture.registering()) { gateway in
      let nine = (1...9).map { "com.example.app\($0):/cb" }
      for uris in [
        ["http://app.example.com/cb"], ["http://127.0.0.1/cb?co%64e=x"], ["https://app.example.com/cb?state=x"], nine,
        ["http://127.0.0.1/cb?Code=x"], ["http://127.0.0.1/cb?a;code=x"],
      ] {
        gateway.expectRegistrationError(try await gateway.register(uris), "invalid_redirect_uri")
      }
      for members in [
        "\"client_name\":1", "\"scope\":\"admin\"", "\"scope\":\"a\\\\\"", "\"application_type\":\"browser\"",
        "\"token_endpoint_auth_method\":1",
      ] {
        let response = try await gateway.register([Self.native], members)
        gateway.expectRegistrationError(response, "invalid_client_metadata")
      }
      let long = try await gateway.register(["com.example.app:/\(String(repeating: "x", count: 1_000))"])
      gateway.expectRegistrationError(long, "invalid_client_metadata")
      // Longer than the gateway reads.
      let unread = try await gateway.register([Self.native], "\"x\":\"\(String(repeating: "x", count: 70_000))\"")
      gateway.expectRegistrationError(unread, "invalid_client_metadata")
    }
  }
}
