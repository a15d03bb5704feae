import Demo
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import TLSTestSupport
import Testing

/// The scenarios for authorization servers of the conformance suite of the Model Context Protocol
/// (github.com/modelcontextprotocol/conformance), by their ids. The checks of a scenario are those of its description.
@Suite("Conformance scenarios of the Model Context Protocol")
struct AgentConformanceTests {
  private static let redirectURI = "http://127.0.0.1:3000/callback"

  /// The members of the metadata that the scenarios read.
  private struct Metadata: Decodable {
    let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let registrationEndpoint: String
    let responseTypes: [String]
    let challengeMethods: [String]
    let authenticationMethods: [String]
    let supportsDocuments: Bool

    enum CodingKeys: String, CodingKey {
      case issuer
      case authorizationEndpoint = "authorization_endpoint"
      case tokenEndpoint = "token_endpoint"
      case registrationEndpoint = "registration_endpoint"
      case responseTypes = "response_types_supported"
      case challengeMethods = "code_challenge_methods_supported"
      case authenticationMethods = "token_endpoint_auth_methods_supported"
      case supportsDocuments = "client_id_metadata_document_supported"
    }
  }

  private struct Registered: Decodable {
    let clientID: String

    enum CodingKeys: String, CodingKey {
      case clientID = "client_id"
    }
  }

  /// A policy as in docs/agents.md: registration and client documents, for programs on the user's device.
  private static func policy(issuer: String) throws -> Policy {
    try FixturePolicy.with { fixture in
      fixture.gateway.issuer = issuer
      var rules = UnlistedClientRules()
      rules.scopes = ["mail"]
      rules.redirects.loopback = true
      rules.upstream = UpstreamClient(
        clientID: ClientID("legacy-native"), clientSecret: Secret(FixturePolicy.nativeSecret), authentication: .basic,
        redirectURI: .callback)
      var registration = RegistrationSettings()
      registration.rules = rules
      fixture.registration = registration
      var documents = ClientDocumentSettings()
      documents.rules = rules
      documents.urls = ["https://app.example.com/client.json"]
      documents.authorities = try? TestCertificates.chain("server-ca")
      fixture.clientDocuments = documents
    }
  }

  /// The path of the document that a client requests first (RFC 8414, section 3.1).
  private static func wellKnown(_ issuer: String) -> String {
    let path = issuer.dropFirst("https://gw.example".count)
    return "/.well-known/oauth-authorization-server" + (path == "/" ? "" : path)
  }

  private static func metadata(_ gateway: GatewayFixture, _ issuer: String) async throws -> Metadata {
    let response = try await gateway.get(wellKnown(issuer))
    #expect(response.status == 200)
    #expect(response.headers["Content-Type"]?.contains("application/json") == true)
    return try JSONDecoder().decode(Metadata.self, from: Data(response.body))
  }

  /// Returns the target of a request to an endpoint, which must be on the gateway.
  private static func target(_ endpoint: String) throws -> String {
    let origin = "https://gw.example"
    try #require(endpoint.hasPrefix(origin + "/"))
    return String(endpoint.dropFirst(origin.count))
  }

  @Test(
    "authorization-server-metadata-endpoint: a JSON document with the issuer from which its URL was made, and S256",
    arguments: ["https://gw.example", "https://gw.example/tenant"])
  func metadata(issuer: String) async throws {
    try await GatewayFixture.run(try Self.policy(issuer: issuer)) { gateway async throws in
      let metadata = try await Self.metadata(gateway, issuer)
      #expect(metadata.issuer == issuer)
      #expect(try Self.target(metadata.authorizationEndpoint) == "/authorize")
      #expect(try Self.target(metadata.tokenEndpoint) == "/token")
      #expect(metadata.responseTypes.contains("code"))
      #expect(metadata.challengeMethods == ["S256"])
    }
  }

  @Test("authorization-server-metadata-cimd: client ID metadata documents are offered, and public clients")
  func documents() async throws {
    let issuer = "https://gw.example"
    try await GatewayFixture.run(try Self.policy(issuer: issuer)) { gateway async throws in
      let metadata = try await Self.metadata(gateway, issuer)
      #expect(metadata.supportsDocuments)
      #expect(metadata.authenticationMethods.contains("none"))
    }
  }

  @Test(
    "authorization-code-grant: one code, state and iss at the loopback callback, and a token answer that is not stored",
    arguments: ["https://gw.example", "https://gw.example/tenant"])
  func authorizationCodeGrant(issuer: String) async throws {
    try await GatewayFixture.run(try Self.policy(issuer: issuer)) { gateway async throws in
      let metadata = try await Self.metadata(gateway, issuer)
      let body = #"{"redirect_uris":["\#(Self.redirectURI)"],"application_type":"native"}"#
      let registration = try await gateway.send(
        Request(
          method: "POST", target: try Self.target(metadata.registrationEndpoint),
          headers: ["Content-Type": "application/json"], body: Array(body.utf8)))
      #expect(registration.status == 201, "\(registration.text)")
      let id = try JSONDecoder().decode(Registered.self, from: Data(registration.body)).clientID

      let delivery = try await gateway.walk(id, Self.redirectURI)
      #expect(delivery.address.hasPrefix(Self.redirectURI + "?"))
      let names = delivery.address.split(separator: "?")[1].split(separator: "&").map { $0.prefix { $0 != "=" } }
      #expect(names.sorted() == ["code", "iss", "state"])
      #expect(delivery.parameters["state"] == "s1")
      #expect(delivery.parameters["iss"] == metadata.issuer)
      let code = try #require(delivery.parameters["code"])
      #expect(!code.isEmpty)

      let response = try await gateway.post(
        try Self.target(metadata.tokenEndpoint), gateway.tokenForm(code, id, Self.redirectURI))
      #expect(response.status == 200, "\(response.text)")
      #expect(response.headers["Content-Type"]?.contains("application/json") == true)
      #expect(response.headers["Cache-Control"]?.contains("no-store") == true)
      let tokens = try #require(NativeApp.tokens(in: response))
      #expect(!tokens.accessToken.reveal().isEmpty)
      #expect(response.text.lowercased().contains("\"token_type\":\"bearer\""))
    }
  }
}
