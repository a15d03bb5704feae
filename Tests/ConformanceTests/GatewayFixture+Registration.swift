import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// Requests to the registration endpoint, and policies with registration.
extension GatewayFixture {
  /// The policy of the vectors with dynamic registration at `/register`.
  static func registering(
    _ adjust: (inout RegistrationSettings) -> Void = { _ in }, policy: (inout FixturePolicy) -> Void = { _ in }
  ) throws -> Policy {
    try FixturePolicy.with { fixture in
      var settings = RegistrationSettings()
      settings.rules.scopes = ["mail", "openid"]
      settings.rules.redirects.anyHost = true
      settings.rules.redirects.loopback = true
      settings.rules.redirects.anyScheme = true
      settings.rules.upstream = UpstreamClient(
        clientID: ClientID("legacy-native"), clientSecret: Secret(FixturePolicy.nativeSecret), authentication: .basic,
        redirectURI: .callback)
      adjust(&settings)
      fixture.registration = settings
      policy(&fixture)
    }
  }

  /// Posts a JSON text to the registration endpoint.
  func register(json: String, _ headers: Headers = Headers()) async throws -> Response {
    var headers = headers
    if !headers.contains("Content-Type") { headers.append("Content-Type", "application/json") }
    return try await send(Request(method: "POST", target: "/register", headers: headers, body: Array(json.utf8)))
  }

  /// Registers redirect URIs, with further members of the metadata in JSON.
  func register(_ uris: [String], _ members: String = "") async throws -> Response {
    let list = uris.map { "\"\($0)\"" }.joined(separator: ",")
    return try await register(json: "{\"redirect_uris\":[\(list)]\(members.isEmpty ? "" : ",")\(members)}")
  }

  /// The id of a client that registers itself.
  func registeredID(_ uris: [String], _ members: String = "") async throws -> String {
    let response = try await register(uris, members)
    #expect(response.status == 201, "\(response.text)")
    return try response.registration().clientID
  }

  /// Posts a form as a client that authenticates with a secret, or without one.
  func post(
    _ target: String, _ form: Form, as client: String, secret: String?, _ method: String
  ) async throws -> Response {
    guard let secret else { return try await post(target, form) }
    var form = form
    if method == "client_secret_post" {
      form.append("client_secret", secret)
      return try await post(target, form)
    }
    form.remove("client_id")
    let credentials = BasicCredentials(user: client, password: Secret(secret))
    return try await post(target, form, ["Authorization": credentials.header.reveal()])
  }

  func expectRegistrationError(
    _ response: Response, _ error: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(response.status == 400, "\(response.text)", sourceLocation: sourceLocation)
    #expect(response.headers["Content-Type"] == "application/json", sourceLocation: sourceLocation)
    #expect(response.headers["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
    #expect(response.text.contains("\"error\":\"\(error)\""), "\(response.text)", sourceLocation: sourceLocation)
  }
}

/// The members of a registration response.
struct RegisteredClient: Decodable {
  let clientID: String
  let redirectURIs: [String]
  let grants: [String]
  let responses: [String]
  let method: String
  let type: String
  let name: String?
  let scope: String?
  let secret: String?

  enum CodingKeys: String, CodingKey {
    case clientID = "client_id"
    case redirectURIs = "redirect_uris"
    case grants = "grant_types"
    case responses = "response_types"
    case method = "token_endpoint_auth_method"
    case type = "application_type"
    case name = "client_name"
    case scope
    case secret = "client_secret"
  }
}

extension Response {
  func registration() throws -> RegisteredClient {
    try JSONDecoder().decode(RegisteredClient.self, from: Data(body))
  }
}
