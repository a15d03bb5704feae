import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import VectorsTestSupport

/// RFC 8414 and OpenID Connect Discovery: the gateway's own metadata document.
@Suite("Metadata")
struct MetadataTests {
  static let oauth = "/.well-known/oauth-authorization-server"
  static let openID = "/.well-known/openid-configuration"

  /// The document of a server that knows itself as `legacy.internal`.
  static let legacyDocument = """
    {"issuer":"https://legacy.internal","authorization_endpoint":"https://legacy.internal/authorize",
     "token_endpoint":"https://legacy.internal/token","jwks_uri":"https://legacy.internal/jwks",
     "userinfo_endpoint":"https://legacy.internal/userinfo","end_session_endpoint":"https://legacy.internal/logout",
     "registration_endpoint":"https://legacy.internal/reg","op_tos_uri":"https://www.example.com/terms",
     "service_documentation":"https://wiki.corp/docs","check_session_iframe":"https://other.legacy.internal/frame",
     "device_authorization_endpoint":"https://legacy.internal/device","signed_metadata":"a.b.c",
     "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.legacy.internal/token"},
     "response_types_supported":["code","token","id_token"],"grant_types_supported":["implicit","password"],
     "code_challenge_methods_supported":[],"claims_supported":["sub","email"],"scopes_supported":["openid"],
     "acr_values_supported":["https://legacy.internal/acr"],"claims_locales_supported":[],
     "id_token_signing_alg_values_supported":["RS256"],"subject_types_supported":["public"],
     "request_parameter_supported":true,"request_object_signing_alg_values_supported":["none"]}
    """

  /// Lets the upstream serve a document at its OpenID path, and nothing at other well-known paths.
  static func serve(_ document: String = legacyDocument, to gateway: GatewayFixture) {
    gateway.upstream.script { request in
      guard request.path.contains("/.well-known/") else { return nil }
      guard request.path == openID else { return Response(status: 404) }
      return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(document.utf8))
    }
  }

  @Test("8414-3-well-known: the document of an issuer with a path is at the paths that include it, and at the root")
  func wellKnown() async throws {
    let policy = try FixturePolicy.with { $0.gateway.issuer = "https://gw.example/tenant1" }
    try await GatewayFixture.run(policy) { gateway async throws in
      for name in [Self.oauth, Self.openID] {
        for path in [name + "/tenant1", "/tenant1" + name, name] {
          let response = try await gateway.get(path)
          #expect(response.status == 200, "\(path)")
          #expect(response.text.contains(#""issuer":"https://gw.example/tenant1""#))
        }
        for path in [name + "/tenant2", "/tenant2" + name] {
          #expect(try await gateway.get(path).status != 200, "\(path)")
        }
      }
    }
  }

  @Test(
    "8414-3.2-json: the document is JSON without empty lists, with and without a document of the upstream",
    arguments: [true, false])
  func json(upstreamHasDocument: Bool) async throws {
    try await GatewayFixture.run { gateway async throws in
      if upstreamHasDocument { Self.serve(to: gateway) }
      for path in [Self.oauth, Self.openID] {
        let response = try await gateway.get(path)
        #expect(response.status == 200)
        #expect(response.headers["Content-Type"] == "application/json")
        #expect(response.text.hasPrefix("{") && response.text.hasSuffix("}"))
        #expect(!response.text.contains("[]"))
      }
    }
  }

  @Test(
    "8414-3.3-issuer: the issuer is that of the policy byte for byte, whatever host the request names",
    arguments: ["https://gw.example", "https://gw.example/"])
  func issuer(_ issuer: String) async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.gateway.issuer = issuer }) { gateway async throws in
      let document = try await gateway.get(Self.oauth).text
      #expect(document.contains("\"issuer\":\"\(issuer)\""))
      #expect(try await gateway.get(Self.oauth, ["Host": "evil.example"]).status == 421)
      let forwarded = try await gateway.get(Self.oauth, ["X-Forwarded-Host": "evil.example"])
      #expect(forwarded.status == 421 || forwarded.text == document)
      #expect(!forwarded.text.contains("evil.example/"))
    }
  }

  @Test("8414-2-gateway-endpoints: no host of the upstream appears, and its endpoints become those of the gateway")
  func endpoints() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.remove("tv1") }) { gateway async throws in
      Self.serve(to: gateway)
      let document = try await gateway.get(Self.openID).text
      for member in [
        #""authorization_endpoint":"https://gw.example/authorize""#, #""token_endpoint":"https://gw.example/token""#,
        #""revocation_endpoint":"https://gw.example/revoke""#, #""jwks_uri":"https://gw.example/jwks""#,
        #""introspection_endpoint":"https://gw.example/introspect""#,
        #""userinfo_endpoint":"https://gw.example/userinfo""#,
        #""end_session_endpoint":"https://gw.example/logout""#, #""op_tos_uri":"https://www.example.com/terms""#,
        #""claims_supported":["sub","email"]"#,
      ] {
        #expect(document.contains(member), "\(member) in \(document)")
      }
      for text in ["internal", "corp", "127.0.0.1", "registration", "/device\"", "mtls", "acr_values"] {
        #expect(!document.contains(text), "\(text) in \(document)")
      }
      #expect(try await gateway.get(Self.oauth).text == document)
    }
  }

  @Test(
    "7636-6.2-registry, 8414-2-pkce-methods: S256 is always offered, and plain only if a client may use it",
    arguments: [true, false])
  func challengeMethods(allowsPlain: Bool) async throws {
    let policy = try FixturePolicy.with { policy in
      if allowsPlain { policy.edit("n2") { $0.pkceMethods = [.s256, .plain] } }
    }
    try await GatewayFixture.run(policy) { gateway async throws in
      Self.serve(to: gateway)
      let methods = allowsPlain ? #"["S256","plain"]"# : #"["S256"]"#
      #expect(try await gateway.get(Self.oauth).text.contains("\"code_challenge_methods_supported\":\(methods)"))
    }
  }

  @Test("8414-2-grant-types: the grants are those that enforced clients may use, never implicit or password")
  func grantTypes() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.remove("tv1")
      policy.edit("w3") { $0.mode = .observe }
      policy.edit("w3") { $0.grants.insert(.clientCredentials) }
    }
    try await GatewayFixture.run(policy) { gateway async throws in
      Self.serve(to: gateway)
      let document = try await gateway.get(Self.oauth).text
      #expect(document.contains(#""grant_types_supported":["authorization_code","refresh_token"]"#))
      await gateway.reload { $0.edit("w3") { $0.mode = .enforce } }
      let changed = try await gateway.get(Self.oauth).text
      #expect(
        changed.contains(#""grant_types_supported":["authorization_code","refresh_token","client_credentials"]"#))
    }
  }

  @Test("8628-4-metadata: the device grant and its endpoint are announced exactly if a client may use the grant")
  func deviceGrant() async throws {
    try await GatewayFixture.run { gateway async throws in
      let document = try await gateway.get(Self.oauth).text
      #expect(document.contains(#""device_authorization_endpoint":"https://gw.example/device_authorization""#))
      #expect(document.contains(#""urn:ietf:params:oauth:grant-type:device_code"]"#))
      await gateway.reload { $0.clients[ClientID("tv1")] = nil }
      let changed = try await gateway.get(Self.oauth).text
      #expect(!changed.contains("device"))
      #expect(try await gateway.post("/device_authorization", ["client_id": "tv1"]).status == 404)
    }
  }

  @Test("8414-2-response: response types and modes are those that are enforced")
  func responses() async throws {
    try await GatewayFixture.run { gateway async throws in
      Self.serve(to: gateway)
      let document = try await gateway.get(Self.oauth).text
      #expect(document.contains(#""response_types_supported":["code"]"#))
      #expect(document.contains(#""response_modes_supported":["query"]"#))
      await gateway.reload { $0.edit("w1") { $0.responseModes = [.query, .formPost] } }
      #expect(
        try await gateway.get(Self.oauth).text.contains(#""response_modes_supported":["query","form_post"]"#))
    }
  }

  @Test("8414-2-auth-methods: public clients and both forms of a secret are offered")
  func authenticationMethods() async throws {
    try await GatewayFixture.run { gateway async throws in
      let methods = #"["client_secret_basic","client_secret_post","none"]"#
      let document = try await gateway.get(Self.oauth).text
      #expect(document.contains("\"token_endpoint_auth_methods_supported\":\(methods)"))
      #expect(document.contains("\"revocation_endpoint_auth_methods_supported\":\(methods)"))
    }
  }

  @Test("8414-2-request-uri-flag: request objects are not offered, also if the upstream supports them")
  func requestObjects() async throws {
    try await GatewayFixture.run { gateway async throws in
      Self.serve(to: gateway)
      let document = try await gateway.get(Self.openID).text
      #expect(document.contains(#""request_parameter_supported":false"#))
      #expect(document.contains(#""request_uri_parameter_supported":false"#))
      #expect(!document.contains("request_object"))
    }
  }

  @Test("8414-2.1-signed: signed metadata of the upstream is dropped")
  func signed() async throws {
    try await GatewayFixture.run { gateway async throws in
      Self.serve(to: gateway)
      #expect(try await !gateway.get(Self.oauth).text.contains("signed_metadata"))
    }
  }

  @Test("9207-2.3-metadata: the document announces iss, and its issuer is the iss of an authorization response")
  func issuerParameter() async throws {
    try await GatewayFixture.run(try FixturePolicy.with { $0.gateway.issuer = "https://gw.example/a/" }) {
      gateway async throws in
      let document = try await gateway.get(Self.oauth + "/a").text
      #expect(document.contains(#""authorization_response_iss_parameter_supported":true"#))
      let issuer = try #require(try await gateway.walk().parameters["iss"])
      #expect(document.contains("\"issuer\":\"\(issuer)\""))
      #expect(issuer == "https://gw.example/a/")
    }
  }
}
