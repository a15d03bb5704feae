import Demo
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// The tokens of clients that registered themselves, as a resource server sees them.
@Suite("Tokens of agents")
struct AgentTokenTests {
  private static let redirectURI = "http://127.0.0.1/callback"
  private static let usedURI = "http://127.0.0.1:51004/callback"
  private static let tools = "https://tools.example.com/mcp"
  private static let inactive = #"{"active":false}"#

  private static func policy() throws -> Policy {
    var resource = ResourceSettings(uri: try #require(ResourceURI(parsing: tools)))
    resource.introspection = ResourceServer(id: "tools", secret: Secret("tools-secret"))
    return try FixturePolicy.with { fixture in
      var settings = RegistrationSettings()
      settings.rules.scopes = ["mail"]
      settings.rules.resources = [tools]
      settings.rules.redirects.loopback = true
      settings.rules.upstream = UpstreamClient(
        clientID: ClientID("legacy-native"), clientSecret: Secret(FixturePolicy.nativeSecret), authentication: .basic,
        redirectURI: .callback)
      fixture.registration = settings
      fixture.resources = [resource]
      fixture.upstream.endpoints.introspection = []
    }
  }

  @Test("A registered client may use only the resources that the policy names for registered clients")
  func ceiling() throws {
    let policy = try Self.policy()
    let resource = try #require(policy.resources[Self.tools])
    var rules = try #require(policy.registration).rules
    let uri = try RedirectURI(parsing: Self.redirectURI)
    let metadata = ClientMetadata(applicationType: .native, redirectURIs: [uri])
    #expect(resource.permits(try #require(rules.client(ClientID("pg1.a"), metadata))))
    rules.resources = []
    #expect(!resource.permits(try #require(rules.client(ClientID("pg1.a"), metadata)).acting(for: resource)))
  }

  private func register(_ gateway: GatewayFixture, name: String) async throws -> String {
    let body = """
      {"redirect_uris":["\(Self.redirectURI)"],"client_name":"\(name)","application_type":"native",\
      "grant_types":["authorization_code","refresh_token"]}
      """
    let response = try await gateway.send(
      Request(
        method: "POST", target: "/register", headers: ["Content-Type": "application/json"], body: Array(body.utf8)))
    struct Registered: Decodable {
      let clientID: String
      enum CodingKeys: String, CodingKey { case clientID = "client_id" }
    }
    return try JSONDecoder().decode(Registered.self, from: Data(response.body)).clientID
  }

  private func accessToken(_ gateway: GatewayFixture, _ id: String) async throws -> String {
    let code = try await gateway.code(id, Self.usedURI) { $0.append("resource", Self.tools) }
    let response = try await gateway.redeem(code, id, Self.usedURI) { $0.append("resource", Self.tools) }
    return try #require(NativeApp.tokens(in: response), "\(response.text)").accessToken.reveal()
  }

  private func introspect(_ gateway: GatewayFixture, _ token: String) async throws -> String {
    try await gateway.post(
      "/.proofgate/introspect", ["token": token, "client_id": "tools", "client_secret": "tools-secret"]
    ).text
  }

  @Test("A scope that the server granted beyond the request of a registered client is not in the record of its token")
  func widerScope() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await register(gateway, name: "Agent")
      let cases = [
        ("one", "mail admin", #""scope":"mail""#), ("two", "mail", #""scope":"mail""#), ("three", "admin", nil),
      ]
      var codes: [String] = []
      for _ in cases { codes.append(try await gateway.code(id, Self.usedURI) { $0.append("resource", Self.tools) }) }
      for ((token, granted, expected), code) in zip(cases, codes) {
        gateway.upstream.script { request in
          guard request.path == "/token" else { return nil }
          let body =
            #"{"access_token":"\#(token)","token_type":"Bearer","expires_in":600,"refresh_token":"r","#
            + #""scope":"\#(granted)"}"#
          return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        let tokens = NativeApp.tokens(in: try await gateway.redeem(code, id, Self.usedURI))
        let refresh = try #require(tokens?.refreshToken).reveal()
        let answer = try await introspect(gateway, token)
        #expect(answer.contains(#""active":true"#) && !answer.contains("admin"), "\(answer)")
        #expect(expected.map(answer.contains) ?? !answer.contains("scope"), "\(answer)")
        _ = try await gateway.post(
          "/token", ["grant_type": "refresh_token", "refresh_token": refresh, "client_id": id])
        #expect(try await !introspect(gateway, token).contains("admin"))
      }
      #expect(gateway.logLines.contains { $0.contains("scope-wider") })
    }
  }

  @Test("A token of a registered client is active for its resource, with the client's id")
  func active() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let id = try await register(gateway, name: "Agent")
      let answer = try await introspect(gateway, try await accessToken(gateway, id))
      #expect(answer.contains(#""active":true"#), "\(answer)")
      #expect(answer.contains("\"client_id\":\"\(id)\""))
      #expect(answer.contains("\"aud\":\"\(Self.tools)\""))
    }
  }

  @Test(
    "The tokens of a registered client are inactive as soon as the policy denies the client, and others stay active")
  func denied() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let bad = try await accessToken(gateway, try await register(gateway, name: "Free Coins"))
      let good = try await accessToken(gateway, try await register(gateway, name: "Agent"))
      await gateway.reload { $0.registration?.rules.denied.names = ["free*"] }
      #expect(try await introspect(gateway, bad) == Self.inactive)
      #expect(try await introspect(gateway, good).contains(#""active":true"#))
    }
  }

  @Test(
    "A token that the server issued to several clients is inactive as soon as one of them is denied",
    arguments: [0, 1, 2])
  func sharedDenied(denied: Int) async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      var codes: [(id: String, code: String)] = []
      for name in ["Agent 0", "Agent 1", "Agent 2"] {
        let id = try await register(gateway, name: name)
        codes.append((id, try await gateway.code(id, Self.usedURI) { $0.append("resource", Self.tools) }))
      }
      gateway.upstream.script { request in
        guard request.path == "/token" else { return nil }
        let body = #"{"access_token":"same","token_type":"Bearer","expires_in":600}"#
        return Response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
      }
      for (id, code) in codes {
        let answer = try await gateway.redeem(code, id, Self.usedURI)
        #expect(answer.status == 200, "\(answer.text)")
      }
      #expect(try await introspect(gateway, "same").contains(#""active":true"#))
      await gateway.reload { $0.registration?.rules.denied.ids = [ClientID(codes[denied].id).shortForm.rawValue] }
      #expect(try await introspect(gateway, "same") == Self.inactive)
      #expect(gateway.logLines.last?.contains("token-inactive:client-denied") == true)
    }
  }

  @Test("The tokens of registered clients are inactive when registration is switched off")
  func switchedOff() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway in
      let token = try await accessToken(gateway, try await register(gateway, name: "Agent"))
      await gateway.reload { $0.registration = nil }
      #expect(try await introspect(gateway, token) == Self.inactive)
    }
  }

  @Test("The id of a registered client never reaches the server in a revocation or introspection")
  func rawRequests() async throws {
    try await GatewayFixture.run(try Self.policy()) { gateway async throws in
      let id = try await register(gateway, name: "Agent")
      let other = try await register(gateway, name: "Other")
      let token = try await accessToken(gateway, id)
      for (token, client) in [("unknown", id), (token, other)] {
        let response = try await gateway.post("/revoke", ["token": token, "client_id": client])
        #expect(response.status == 200 && response.text.isEmpty)
      }
      #expect(gateway.upstream.recorder.requests(to: "/revoke").isEmpty)
      #expect(try await introspect(gateway, token).contains(#""active":true"#))
      #expect(try await gateway.post("/revoke", ["token": token, "client_id": id]).status == 200)
      #expect(try await introspect(gateway, token) == Self.inactive)
      let sent = gateway.upstream.recorder.requests(to: "/revoke")
      #expect(sent.count == 1)
      for request in sent { #expect(!String(decoding: request.body, as: UTF8.self).contains("pg1.")) }
      // Without resources, the gateway has no records, and cannot know the client of an access token.
      await gateway.reload { policy in
        policy.resources = []
        policy.registration?.rules.resources = []
        policy.upstream.endpoints.introspection = ["/introspect"]
      }
      let unsupported = try await gateway.post("/revoke", ["token": "unknown", "client_id": id])
      #expect(unsupported.status == 400 && unsupported.text.contains("unsupported_token_type"))
      let introspection = try await gateway.post("/introspect", ["token": "unknown", "client_id": id])
      #expect(introspection.status == 400 && introspection.text.contains("invalid_client"))
      #expect(gateway.upstream.recorder.requests(to: "/introspect").isEmpty)
      #expect(gateway.upstream.recorder.requests(to: "/revoke").count == 1)
    }
  }
}
