import Demo
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// The access tokens of clients with metadata documents, as a resource server sees them.
@Suite("Tokens of clients with documents")
struct ClientDocumentTokenTests {
  private static let tools = "https://tools.example.com/mcp"
  private static let inactive = #"{"active":false}"#

  private static func run(
    document members: String = "",
    _ body: (ClientDocumentFlowTests.Bench) async throws -> Void
  ) async throws {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: tools)))
    resource.introspection = ResourceServer(id: "tools", secret: Secret("tools-secret"))
    resource.check = SocketAddress(host: "127.0.0.1", port: 0)
    let listed = resource
    try await ClientDocumentFlowTests.run(
      { ClientDocumentFlowTests.response(ClientDocumentFlowTests.document($0, members)) },
      adjusting: { $0.resources = [tools] },
      policy: { policy in
        policy.resources = [listed]
        policy.upstream.endpoints.introspection = []
      }, body)
  }

  private func tokens(_ bench: ClientDocumentFlowTests.Bench) async throws -> (access: String, refresh: String) {
    let redirectURI = ClientDocumentFlowTests.redirectURI
    let code = try await bench.gateway.code(bench.id, redirectURI) { $0.append("resource", Self.tools) }
    let response = try await bench.gateway.redeem(code, bench.id, redirectURI)
    let tokens = try #require(NativeApp.tokens(in: response), "\(response.text)")
    return (tokens.accessToken.reveal(), try #require(tokens.refreshToken).reveal())
  }

  private func introspect(_ gateway: GatewayFixture, _ token: String) async throws -> String {
    try await gateway.post(
      "/.proofgate/introspect", ["token": token, "client_id": "tools", "client_secret": "tools-secret"]
    ).text
  }

  private func check(_ gateway: GatewayFixture, _ token: String) async throws -> Int {
    let port = try #require(gateway.checkPorts.first)
    let headers: Headers = ["Host": "127.0.0.1:\(port)", "Authorization": "Bearer \(token)"]
    return try await ClientLoop.send(
      WebAddress(host: "127.0.0.1", port: port), Request(method: "GET", target: "/", headers: headers)
    ).status
  }

  @Test(
    "Denial by host, name or loopback makes the tokens of a client with a document inactive at once, also refreshed ones",
    arguments: ["host", "name", "loopback", "redirects"])
  func denied(_ reason: String) async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let first = try await tokens(bench)
      let refreshed = try await gateway.post(
        "/token", ["grant_type": "refresh_token", "client_id": bench.id, "refresh_token": first.refresh])
      let second = try #require(NativeApp.tokens(in: refreshed)).accessToken.reveal()
      for token in [first.access, second] {
        #expect(try await introspect(gateway, token).contains(#""active":true"#))
        #expect(try await check(gateway, token) == 200)
      }
      await gateway.reload { policy in
        switch reason {
        case "host": policy.clientDocuments?.denied.hosts = ["localhost"]
        case "name": policy.clientDocuments?.denied.names = ["example*"]
        case "loopback": policy.clientDocuments?.denied.loopback = true
        // The policy no longer permits the kind of redirect URI.
        default: policy.clientDocuments?.redirects.loopback = false
        }
      }
      for token in [first.access, second] {
        #expect(try await introspect(gateway, token) == Self.inactive)
        #expect(try await check(gateway, token) == 401)
      }
      #expect(gateway.logLines.last?.contains("token-inactive:client-denied") == true)
    }
  }

  @Test("Scope tokens that clients with documents may no longer have leave their access tokens")
  func narrowed() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let token = try await tokens(bench).access
      #expect(try await introspect(gateway, token).contains(#""scope":"read openid""#))
      await gateway.reload { $0.clientDocuments?.scopes = ["openid"] }
      #expect(try await introspect(gateway, token).contains(#""scope":"openid""#))
      await gateway.reload { $0.clientDocuments?.scopes = ["admin"] }
      #expect(try await introspect(gateway, token) == Self.inactive)
      #expect(try await check(gateway, token) == 401)
    }
  }

  @Test("A client with a document that is denied can still end its sign-in")
  func revocation() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let first = try await tokens(bench)
      await gateway.reload { $0.clientDocuments?.denied.names = ["example*"] }
      let form: Form = ["token": first.refresh, "client_id": bench.id]
      let response = try await gateway.post("/revoke", form)
      #expect(response.status == 200, "\(response.text)")
      #expect(gateway.upstream.recorder.requests(to: "/revoke").count == 1)
      await gateway.reload { $0.clientDocuments?.denied.names = [] }
      #expect(try await introspect(gateway, first.access) == Self.inactive)
      let refresh: Form = ["grant_type": "refresh_token", "client_id": bench.id, "refresh_token": first.refresh]
      try await gateway.post("/token", refresh).expectTokenError(400, "invalid_grant")
    }
  }

  @Test(
    "Denial of a host that only another URI of the document names applies at the code, the refresh and introspection",
    arguments: ["elsewhere.example", "home.example", ".example"])
  func deniedRelatedHost(_ host: String) async throws {
    try await Self.run(document: #","client_uri":"https://home.example:8443/about""#) { bench in
      let gateway = bench.gateway
      let first = try await tokens(bench)
      let redirectURI = ClientDocumentFlowTests.redirectURI
      let code = try await gateway.code(bench.id, redirectURI) { $0.append("resource", Self.tools) }
      #expect(try await introspect(gateway, first.access).contains(#""active":true"#))
      await gateway.reload { $0.clientDocuments?.denied.hosts = [host] }
      #expect(try await introspect(gateway, first.access) == Self.inactive)
      #expect(try await check(gateway, first.access) == 401)
      let sent = gateway.upstream.recorder.requests(to: "/token").count
      try await gateway.redeem(code, bench.id, redirectURI).expectTokenError(400, "invalid_client")
      let refresh: Form = ["grant_type": "refresh_token", "client_id": bench.id, "refresh_token": first.refresh]
      try await gateway.post("/token", refresh).expectTokenError(400, "invalid_client")
      #expect(gateway.upstream.recorder.requests(to: "/token").count == sent)
      try await gateway.expectRefused(get: gateway.authorizationTarget(bench.id, redirectURI), status: 400)
    }
  }

  @Test(
    "A sealed value in another parameter does not replace the document in the refresh token or code that is used",
    arguments: ["refresh_token", "authorization_code"], ["code", "refresh_token", "token", "device_code"])
  func otherSealedValue(_ grantType: String, _ other: String) async throws {
    let used = grantType == "refresh_token" ? "refresh_token" : "code"
    guard used != other else { return }
    try await Self.run { bench in
      let gateway = bench.gateway
      let redirectURI = ClientDocumentFlowTests.redirectURI
      // A code of a listed client, which the gateway opens as well.
      let foreign = try await gateway.code("n1")
      let refreshToken = try await tokens(bench).refresh
      let code = try await gateway.code(bench.id, redirectURI) { $0.append("resource", Self.tools) }
      await gateway.reload { $0.clientDocuments?.denied.names = ["example*"] }
      let sent = gateway.upstream.recorder.requests(to: "/token").count
      var form: Form = [
        "grant_type": grantType, "client_id": bench.id, used: used == "code" ? code : refreshToken, other: foreign,
      ]
      if used == "code" {
        form.append("redirect_uri", redirectURI)
        form.append("code_verifier", GatewayFixture.verifier)
      }
      try await gateway.post("/token", form).expectTokenError(400, "invalid_client")
      #expect(gateway.upstream.recorder.requests(to: "/token").count == sent)
    }
  }

  @Test("A code or refresh token of a listed client is of no use once only a document describes the client")
  func formerlyListed() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let redirectURI = ClientDocumentFlowTests.redirectURI
      let uri = try RedirectURI(parsing: redirectURI)
      await gateway.reload { policy in
        policy.clients[ClientID(bench.id)] = policy.clients[ClientID("n4")]
        policy.clients[ClientID(bench.id)]?.id = ClientID(bench.id)
        policy.clients[ClientID(bench.id)]?.redirectURIs = [uri]
        if let upstream = policy.clientDocuments?.upstream { policy.clients[ClientID(bench.id)]?.upstream = upstream }
      }
      let first = try await gateway.redeem(try await gateway.code(bench.id), bench.id)
      let token = try #require(NativeApp.tokens(in: first)?.refreshToken?.reveal(), "\(first.text)")
      let code = try await gateway.code(bench.id)
      await gateway.reload { $0.remove(bench.id) }
      let sent = gateway.upstream.recorder.requests(to: "/token").count
      try await gateway.redeem(code, bench.id, redirectURI).expectTokenError(400, "invalid_grant")
      let refresh: Form = ["grant_type": "refresh_token", "client_id": bench.id, "refresh_token": token]
      try await gateway.post("/token", refresh).expectTokenError(400, "invalid_grant")
      #expect(gateway.upstream.recorder.requests(to: "/token").count == sent)
    }
  }

  @Test("An entry of the deny-list for another client changes nothing, and without client_documents no token is active")
  func others() async throws {
    try await Self.run { bench in
      let gateway = bench.gateway
      let token = try await tokens(bench).access
      await gateway.reload { policy in
        policy.clientDocuments?.denied.names = ["other*"]
        policy.clientDocuments?.denied.schemes = ["com.example.app"]
        policy.clientDocuments?.denied.hosts = ["another.example"]
      }
      #expect(try await introspect(gateway, token).contains(#""active":true"#))
      await gateway.reload { $0.clientDocuments = nil }
      #expect(try await introspect(gateway, token) == Self.inactive)
    }
  }
}
