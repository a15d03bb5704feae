import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Reactor
import Testing
import Time

@testable import Gateway

@Suite("The gateway's metadata document")
struct MetadataDocumentTests {
  private static let path = "/.well-known/openid-configuration"

  private static func document(jwks: String, issuer: String = "https://gw.example") -> Response {
    let text = #"""
      {"issuer":"\#(issuer)","token_endpoint":"/token","authorization_endpoint":"https://gw.example/authorize",
       "jwks_uri":"https://gw.example/\#(jwks)","id_token_signing_alg_values_supported":["RS256"]}
      """#
    return Response(status: 200, body: Array(text.utf8))
  }

  @Test("A request with the current entity tag gets 304, and one with another tag the document")
  func entityTag() async throws {
    try await GatewayFixture.run { gateway async throws in
      let first = try await gateway.get(Self.path)
      let tag = try #require(first.headers["ETag"])
      #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
      for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
        let response = try await gateway.get(Self.path, ["If-None-Match": value])
        #expect(response.status == 304)
        #expect(response.body.isEmpty)
        #expect(response.headers["ETag"] == tag)
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
      }
      #expect(try await gateway.get(Self.path, ["If-None-Match": "\"x\""]).status == 200)
    }
  }

  @Test("The document names the scopes of the policy, with and without a document of the upstream")
  func scopes() async throws {
    let policy = try FixturePolicy.with { $0.gateway.supportedScopes = ["profile", "mail"] }
    try await GatewayFixture.run(policy) { gateway async throws in
      let expected = #""scopes_supported":["profile","mail"]"#
      #expect(try await gateway.get(Self.path).text.contains(expected))
      gateway.clock.advance(by: 600)
      gateway.upstream.script { _ in
        Response(status: 200, body: Array(#"{"token_endpoint":"/token","scopes_supported":["everything"]}"#.utf8))
      }
      let text = try await gateway.get(Self.path).text
      #expect(text.contains(expected) && !text.contains("everything"))
    }
  }

  @Test("The upstream is asked once in a lifetime, and after a reload only if its address or paths changed")
  func copies() async throws {
    try await GatewayFixture.run { gateway async throws in
      gateway.upstream.script { _ in Self.document(jwks: "one") }
      #expect(try await gateway.get(Self.path).text.contains("https://gw.example/one"))
      let count = gateway.upstream.recorder.count
      gateway.upstream.script { _ in Self.document(jwks: "two") }
      #expect(try await gateway.get(Self.path).text.contains("https://gw.example/one"))
      #expect(gateway.upstream.recorder.count == count)
      gateway.clock.advance(by: 600)
      #expect(try await gateway.get(Self.path).text.contains("https://gw.example/two"))
      await gateway.reload { $0.edit("n1") { $0.name = "Other" } }
      #expect(try await gateway.get(Self.path).text.contains("https://gw.example/two"))
    }
  }

  @Test(
    "While the upstream fails, the last copy is served and may be kept for 30 seconds", arguments: [true, false])
  func staleCopy(hangs: Bool) async throws {
    let policy = try FixturePolicy.with { $0.upstream.responseTimeout = 1_000 }
    let gate = Gate()
    try await GatewayFixture.run(policy) { gateway async throws in
      gateway.upstream.script { _ in Self.document(jwks: "one") }
      let first = try await gateway.get(Self.path)
      #expect(first.headers["Cache-Control"] == "public, max-age=600")
      gateway.clock.advance(by: 600)
      gateway.upstream.script { _ in
        if hangs { await gate.pass() }
        return Response(status: 503)
      }
      for wait: Seconds in [0, 1, 86_400] {
        gateway.clock.advance(by: wait)
        let response = try await gateway.get(Self.path)
        #expect(response.status == 200 && response.body == first.body)
        #expect(response.headers["Cache-Control"] == "public, max-age=30")
      }
      #expect(gateway.logLines.contains { $0.contains("metadata-not-read") })
      gateway.upstream.script { _ in Self.document(jwks: "two") }
      gateway.clock.advance(by: 5)
      #expect(try await gateway.get(Self.path).text.contains("https://gw.example/two"))
      await gate.open()
    }
  }

  @Test("A document of more than 128 KiB is not used")
  func size() async throws {
    try await GatewayFixture.run { gateway async throws in
      let start = #"{"token_endpoint":"https://gw.example/token","jwks_uri":"https://gw.example/jwks","x":""#
      gateway.upstream.script { _ in
        Response(status: 200, body: Array((start + String(repeating: "x", count: 131_072) + "\"}").utf8))
      }
      let response = try await gateway.get(Self.path)
      #expect(response.status == 200 && !response.text.contains("jwks_uri"))
      gateway.clock.advance(by: 600)
      gateway.upstream.script { _ in Response(status: 200, body: Array((start + "\"}").utf8)) }
      #expect(try await gateway.get(Self.path).text.contains("jwks_uri"))
    }
  }

  @Test(
    "An upstream that sends its document or its errors byte by byte cannot exceed the time limit of the search",
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", String(repeating: " ", count: 100_000)),
      ("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 10\r\n\r\n", "0123456789"),
    ])
  func dripping(head: String, body: String) async throws {
    let policy = try FixturePolicy.with {
      $0.upstream.responseTimeout = 300
      $0.upstream.endpoints.authorization = ["/a/b/c/authorize"]
    }
    try await GatewayFixture.run(before: .drip(head, body), policy) { gateway, upstream async throws in
      let began = SystemClock.monotonicTime()
      #expect(try await gateway.get(Self.path).status == 504)
      // The whole document would take more than half an hour.
      #expect(SystemClock.monotonicTime() - began < 60_000)
      #expect(upstream.requests.count < 4)
    }
  }

  @Test("The document does not name scopes that are dropped from the requests of every client")
  func droppedScopes() async throws {
    let policy = try FixturePolicy.with { policy in
      policy.upstream.scopes = ScopeRules(drop: ["a", "b"])
      policy.edit("n1") { $0.upstream.scopes = ScopeRules(drop: ["b", "c"]) }
    }
    try await GatewayFixture.run(policy) { gateway async throws in
      gateway.upstream.script { _ in
        Response(
          status: 200,
          body: Array(#"{"token_endpoint":"https://gw.example/token","scopes_supported":["a","b","c"]}"#.utf8))
      }
      #expect(try await gateway.get(Self.path).text.contains(#""scopes_supported":["a","c"]"#))
      await gateway.reload { $0.gateway.supportedScopes = ["b"] }
      #expect(try await gateway.get(Self.path).text.contains(#""scopes_supported":["b"]"#))
    }
  }

  @Test("If the policy permits unlisted clients, the document names the scopes that each of them may request")
  func scopesOfUnlistedClients() async throws {
    let policy = try FixturePolicy.with { policy in
      var registration = RegistrationSettings()
      registration.rules.scopes = ["mail", "profile", "openid"]
      policy.registration = registration
      var documents = ClientDocumentSettings()
      documents.rules.scopes = ["openid", "profile", "files"]
      documents.rules.upstream.scopes = ScopeRules(drop: ["openid"])
      policy.clientDocuments = documents
    }
    try await GatewayFixture.run(policy) { gateway async throws in
      gateway.upstream.script { _ in
        Response(
          status: 200,
          body: Array(
            #"{"token_endpoint":"https://gw.example/token","scopes_supported":["admin","offline_access"]}"#.utf8))
      }
      #expect(try await gateway.get(Self.path).text.contains(#""scopes_supported":["profile"]"#))
      await gateway.reload { $0.clientDocuments = nil }
      #expect(try await gateway.get(Self.path).text.contains(#""scopes_supported":["mail","profile","openid"]"#))
      await gateway.reload { $0.upstream.scopes = ScopeRules(drop: ["mail", "profile", "openid"]) }
      #expect(try await !gateway.get(Self.path).text.contains("scopes_supported"))
    }
  }

  @Test(
    "With a resource server, the document names the gateway's own introspection endpoint and its methods",
    arguments: [true, false])
  func introspection(upstreamHasEndpoint: Bool) async throws {
    let uri = try #require(ResourceURI(parsing: "https://mail.example.com/"))
    let policy = try FixturePolicy.with { policy in
      policy.upstream.endpoints.introspection = upstreamHasEndpoint ? ["/introspect"] : []
      policy.resources = [ResourceSettings(uri: uri)]
    }
    try await GatewayFixture.run(policy) { gateway async throws in
      gateway.upstream.script { _ in
        let text = #"{"token_endpoint":"/token","introspection_endpoint":"https://gw.example/introspect"}"#
        return Response(status: 200, body: Array(text.utf8))
      }
      let methods = "introspection_endpoint_auth_methods_supported"
      let before = try await gateway.get(Self.path).text
      let upstreamMember = #""introspection_endpoint":"https://gw.example/introspect""#
      #expect(before.contains(upstreamMember) == upstreamHasEndpoint && !before.contains(methods))
      await gateway.reload { policy in
        var resource = ResourceSettings(uri: uri)
        resource.introspection = ResourceServer(id: "mail-api", secret: Secret("mail-secret"))
        policy.resources = [resource]
      }
      let after = try await gateway.get(Self.path).text
      #expect(after.contains(#""introspection_endpoint":"https://gw.example/.proofgate/introspect""#), "\(after)")
      #expect(after.contains(#""\#(methods)":["client_secret_basic","client_secret_post"]"#), "\(after)")
    }
  }

  @Test("Without a copy, an upstream that does not answer leads to 503, which scripts can read")
  func outage() async throws {
    try await GatewayFixture.run { gateway async throws in
      try await gateway.withReplica(upstream: .dead) { replica in
        let response = try await replica.get(Self.path)
        #expect(response.status == 503)
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        #expect(response.headers.contains("Retry-After"))
      }
    }
  }

  @Test("A document of another server on the same host is not used, unless the policy names its path")
  func otherServer() async throws {
    try await GatewayFixture.run { gateway async throws in
      let text = #"{"issuer":"https://gw.example","token_endpoint":"https://gw.example/t","claims_supported":["x"]}"#
      gateway.upstream.script { _ in Response(status: 200, body: Array(text.utf8)) }
      #expect(try await !gateway.get(Self.path).text.contains("claims_supported"))
      await gateway.reload { $0.upstream.endpoints.metadata = ["/meta"] }
      #expect(try await gateway.get(Self.path).text.contains("claims_supported"))
      #expect(gateway.upstream.recorder.requests.last?.path == "/meta")
      try await gateway.expectRefused(get: "/meta", status: 404)
    }
  }

  @Test("The operator gets a notice if ID tokens name another issuer, and no client sees it")
  func otherIssuer() async throws {
    try await GatewayFixture.run { gateway async throws in
      gateway.upstream.script { _ in Self.document(jwks: "jwks", issuer: "https://legacy.internal") }
      #expect(try await !gateway.get(Self.path).text.contains("legacy.internal"))
      let notices = try await gateway.notices(1)
      #expect(notices.contains { $0.contains("`https://legacy.internal`") && $0.contains("`https://gw.example`") })
      #expect(gateway.logLines.contains { $0.contains("issuer-differs") })
    }
  }

  @Test("No field of the client's request reaches the upstream with the request for its document")
  func clientFields() async throws {
    try await GatewayFixture.run { gateway async throws in
      _ = try await gateway.get(Self.path, ["Cookie": "a=b", "Authorization": "Basic eDp5", "X-Probe": "1"])
      let request = try #require(gateway.upstream.recorder.requests.first)
      for name in ["Cookie", "Authorization", "X-Probe"] { #expect(!request.headers.contains(name)) }
    }
  }

  @Test("Other methods than GET, HEAD and a preflight are refused")
  func methods() async throws {
    try await GatewayFixture.run { gateway async throws in
      let refused = try await gateway.send(Request(method: "POST", target: Self.path))
      #expect(refused.status == 405)
      #expect(refused.headers["Allow"] == "GET, HEAD, OPTIONS")
      let preflight = try await gateway.send(
        Request(
          method: "OPTIONS", target: Self.path,
          headers: [
            "Origin": "https://x.example", "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "mcp-protocol-version",
          ]))
      #expect(preflight.status == 204)
      #expect(preflight.headers["Access-Control-Allow-Origin"] == "*")
      #expect(!preflight.headers.contains("Access-Control-Allow-Credentials"))
    }
  }

  @Test(
    "A URL is public only if it is https and its host has a public name",
    arguments: [
      ("https://a.example.com/x", true), ("https://a.example.com:8443/x?y=z", true), ("http://a.example.com/x", false),
      ("https://localhost/x", false), ("https://idp/x", false), ("https://idp.local/x", false),
      ("https://10.0.0.1/x", false), ("https://[::1]/x", false), ("https://a.internal/x", false),
    ])
  func publicURLs(text: String, isPublic: Bool) throws {
    #expect(try #require(MetadataURL(parsing: text)).isPublic == isPublic)
  }

  @Test(
    "A text that programs read as different URLs is refused",
    arguments: [
      "https://user@a.example.com/", "https:/a.example.com", "ftp://a.example.com/", "https://a.example.com\\@b/",
      "https://a.example.com:0/", "https://a.example.com:99999/", "https://a b/", "https:///x", "https://a/#f", "",
    ])
  func noURL(text: String) {
    #expect(MetadataURL(parsing: text) == nil)
  }
}
