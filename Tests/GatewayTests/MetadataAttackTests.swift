import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@Suite("Attacks on metadata documents")
struct MetadataAttackTests {
  private static let oauth = "/.well-known/oauth-authorization-server"
  private static let openID = "/.well-known/openid-configuration"
  private static let resource = "/.well-known/oauth-protected-resource/files"

  /// A policy with a metadata document of each kind, and with registration.
  private static func policy(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    var files = ResourceSettings(uri: try #require(ResourceURI(parsing: "https://gw.example/files")))
    files.scopes = ["read"]
    return try FixturePolicy.with { policy in
      policy.resources = [files]
      policy.gateway.corsOrigins = [ScriptOrigin(Origin(scheme: .https, host: "app.example.com"))]
      var registration = RegistrationSettings()
      registration.rules.scopes = ["read"]
      registration.rules.redirects.loopback = true
      policy.registration = registration
      adjust(&policy)
    }
  }

  /// Lets the upstream serve a document of a server that knows itself as `legacy.example.org`, with further members.
  private static func serve(_ members: String, to gateway: GatewayFixture) {
    let document = """
      {"issuer":"https://legacy.example.org","authorization_endpoint":"https://legacy.example.org/authorize",
       "token_endpoint":"https://legacy.example.org/token",\(members)}
      """
    gateway.upstream.script { _ in Response(status: 200, body: Array(document.utf8)) }
  }

  private static func crossOriginFields(_ response: Response) -> [String: String] {
    response.headers.fields.reduce(into: [:]) {
      let name = $1.name.lowercased()
      if name.hasPrefix("access-control-") { $0[name] = $1.value }
    }
  }

  @Test(
    "No spelling of the server's host in a member reaches the gateway's document",
    arguments: [
      "https://LEGACY.Example.ORG/x", "https://legacy.example.org:443/x", "https://legacy.example.org:8443/x",
      "http://legacy.example.org/x", "https://user@legacy.example.org/x", "https://gw.example@legacy.example.org/x",
      "https://legacy.example.org./x", "https://%6Cegacy.example.org/x", "https://legacy.example.org\\\\x",
      "https:legacy.example.org/x", "//legacy.example.org/x", "https://legacy.example.org%2Fx",
      "https://www.example.com/?to=https://legacy.example.org/", "https://www.example.com/legacy.example.org./x",
      "https://www.example.com/?to=https%3A%2F%2F%6Cegacy.example.org",
      "https://www.example.com/%256Cegacy.example.org",
      "https://gw.example/x?to=https://legacy.example.org/", "https://legacy.example.org/x?to=legacy.example.org",
      "urn:legacy.example.org:x", "legacy.example.org", "https://0x7f.0x1/legacy.example.org",
      "legacy.example.org\u{301}", "x\u{301}.legacy.example.org%CC%81", "\u{ff2c}egacy.example.org",
    ])
  func hiddenHost(_ text: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      let names = ["jwks_uri", "userinfo_endpoint", "end_session_endpoint", "op_tos_uri", "check_session_iframe"]
      let urls = names.map { "\"\($0)\":\"\(text)\"" }
      let lists = ["scopes_supported", "acr_values_supported"].map { "\"\($0)\":[\"\(text)\",\"kept\"]" }
      Self.serve((urls + lists).joined(separator: ","), to: gateway)
      let document = try await gateway.get(Self.openID).text.lowercased()
      #expect(document.contains(#""acr_values_supported":["kept"]"#), "\(document)")
      #expect(!document.contains("egacy.example.org"), "\(document)")
    }
  }

  @Test(
    "A member that leads to an endpoint, in any spelling, or to a path of the gateway itself is dropped",
    arguments: [
      "/authorize", "/token?x=1", "/%74oken", "/./token", "/x/../token", "/token/", "/TOKEN;x", "//token",
      "/.proofgate/callback", "/register", "/?rest_route=/token", "/.well-known/openid-configuration",
    ])
  func endpointsInMembers(_ target: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      Self.serve(
        """
        "userinfo_endpoint":"https://legacy.example.org\(target)","jwks_uri":"https://gw.example\(target)",
        "end_session_endpoint":"https://legacy.example.org/logout"
        """, to: gateway)
      let document = try await gateway.get(Self.openID).text
      #expect(document.contains(#""end_session_endpoint":"https://gw.example/logout""#), "\(document)")
      #expect(!document.contains("userinfo_endpoint") && !document.contains("jwks_uri"), "\(document)")
    }
  }

  @Test("Members that the gateway does not know are dropped: signed metadata, other endpoints, other methods")
  func unknownMembers() async throws {
    try await GatewayFixture.run(try Self.policy { $0.remove("tv1") }) { gateway async throws in
      let names = [
        "signed_metadata", "mtls_endpoint_aliases", "backchannel_authentication_endpoint", "Authorization_Endpoint",
        "device_authorization_endpoint", "pushed_authorization_request_endpoint", "x_token_endpoint", "issuer ",
        "dpop_signing_alg_values_supported", "tls_client_certificate_bound_access_tokens", "token_endpoint_2",
        "request_object_signing_alg_values_supported", "authorization_signing_alg_values_supported",
        "token_endpoint_auth_signing_alg_values_supported", "client_id_metadata_document_supported",
        "require_pushed_authorization_requests", "protected_resources",
      ]
      let members = names.map { "\"\($0)\":\"https://www.example.com/\"" }
      Self.serve(members.joined(separator: ",") + #","require_signed_request_object":true,"jwks_uri":{}"#, to: gateway)
      let document = try await gateway.get(Self.openID).text
      for name in names + ["require_signed_request_object", "jwks_uri", "www.example.com"] {
        #expect(!document.contains(name), "\(name) in \(document)")
      }
    }
  }

  @Test("The names of hosts in a request appear in no document", arguments: [oauth, openID, resource])
  func hostInjection(path: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      let document = try await gateway.get(path)
      #expect(document.status == 200)
      for (name, value) in [
        ("X-Forwarded-Host", "gw.example, evil.example"), ("Forwarded", "host=evil.example;proto=http"),
        ("X-Forwarded-Port", "8443"), ("X-Forwarded-Prefix", "/evil.example"), ("X-Original-URL", "/evil.example"),
        ("X-Forwarded-Proto", "https"), ("Origin", "https://evil.example"), ("X-Host", "evil.example"),
      ] {
        let response = try await gateway.get(path, Headers([Headers.Field(name: name, value: value)]))
        #expect(response.status == 200 ? response.body == document.body : response.status == 421, "\(name)")
        #expect(!response.headers.fields.contains { $0.value.contains("evil") }, "\(name)")
      }
      for headers: Headers in [["Host": "evil.example"], ["X-Forwarded-Host": "evil.example"]] {
        let response = try await gateway.get(path, headers)
        #expect(response.status == 421 && !response.text.contains("evil.example"), "\(response.text)")
      }
      let absolute = try await gateway.get("https://evil.example" + path)
      #expect(absolute.status == 421 || absolute.status == 400)
    }
  }

  @Test(
    "Scripts of every origin may read documents, without cookies and without other fields of the response",
    arguments: [oauth, openID, resource])
  func documentsForScripts(path: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      for origin in ["https://evil.example", "https://app.example.com", "null"] {
        let read = try await gateway.get(path, ["Origin": origin, "Cookie": "session=x"])
        #expect(read.status == 200)
        #expect(Self.crossOriginFields(read) == ["access-control-allow-origin": "*"])
        #expect(!read.headers.contains("Set-Cookie"))
        let preflight = try await gateway.send(
          Request(
            method: "OPTIONS", target: path,
            headers: [
              "Origin": origin, "Access-Control-Request-Method": "GET",
              "Access-Control-Request-Headers": "mcp-protocol-version",
            ]))
        #expect(preflight.status == 204 && preflight.body.isEmpty)
        let expected = [
          "access-control-allow-origin": "*", "access-control-allow-methods": "GET, HEAD",
          "access-control-allow-headers": "*", "access-control-max-age": "3600",
        ]
        #expect(Self.crossOriginFields(preflight) == expected)
      }
      for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let refused = try await gateway.send(Request(method: method, target: path))
        #expect(refused.status == 405 && refused.headers["Allow"] == "GET, HEAD, OPTIONS", "\(method)")
      }
    }
  }

  @Test("Only a listed origin may read responses of the other endpoints, and no origin those for browsers and servers")
  func otherEndpoints() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      func fields(_ path: String, _ origin: String, _ method: String) async throws -> [String: String] {
        var headers: Headers = ["Origin": origin]
        if method == "OPTIONS" { headers.append("Access-Control-Request-Method", "POST") }
        if method == "POST" { headers.append("Content-Type", "application/json") }
        let response = try await gateway.send(
          Request(method: method, target: path, headers: headers, body: method == "POST" ? Array("{}".utf8) : []))
        return Self.crossOriginFields(response)
      }
      let listed = "https://app.example.com"
      for path in ["/token", "/revoke", "/register", "/device_authorization"] {
        let preflight = try await fields(path, listed, "OPTIONS")
        #expect(preflight["access-control-allow-origin"] == listed, "\(path)")
        #expect(preflight["access-control-allow-credentials"] == nil)
        for method in ["OPTIONS", "POST"] {
          for origin in ["https://evil.example", "null", listed + ".evil.example", "http://app.example.com"] {
            #expect(try await fields(path, origin, method).isEmpty, "\(method) \(path) \(origin)")
          }
        }
      }
      for path in [
        "/authorize", "/introspect", "/device", "/.proofgate/callback", "/.proofgate/consent", "/.proofgate/introspect",
      ] {
        for method in ["OPTIONS", "POST", "GET"] {
          #expect(try await fields(path, listed, method).isEmpty, "\(method) \(path)")
        }
      }
    }
  }

  @Test(
    "The metadata of an issuer or resource that does not exist is 404, and never read from the server",
    arguments: [
      oauth + "/x", openID + "/x/y", oauth + "/token", resource + "/x", "/.well-known/oauth-protected-resource/x",
    ])
  func unknownIssuer(path: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      let response = try await gateway.expectRefused(get: path, status: 404)
      #expect(response.text.contains("metadata-leads-around"))
      await gateway.reload { $0.gateway.metadata = .off }
      try await gateway.expectRefused(get: path, status: 404)
    }
  }

  @Test(
    "A path that only resembles a metadata path of another issuer is refused as before",
    arguments: [oauth + "/x%2Fy", oauth + "//x", oauth + "/../x", oauth + ".json", "/.Well-Known/openid-configuration"])
  func resemblingPath(path: String) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      try await gateway.expectRefused(get: path, status: 400)
    }
  }
}
