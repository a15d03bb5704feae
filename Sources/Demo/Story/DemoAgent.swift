import FoundationEssentials
public import HTTP
public import LegacyServer

/// An agent that no policy lists. It reads the metadata document of the authorization server (RFC 8414), registers
/// itself (RFC 7591), and then signs in as a native app.
public struct DemoAgent: Sendable {
  /// The members of a metadata document that the agent uses (RFC 8414, section 2).
  public struct Metadata: Sendable, Decodable {
    enum CodingKeys: String, CodingKey {
      case issuer
      case authorizationEndpoint = "authorization_endpoint"
      case tokenEndpoint = "token_endpoint"
      case registrationEndpoint = "registration_endpoint"
      case codeChallengeMethods = "code_challenge_methods_supported"
    }

    /// The issuer identifier.
    public let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let registrationEndpoint: String
    let codeChallengeMethods: [String]
  }

  /// The name by which the agent calls itself.
  public var name: String
  /// The redirect URI of the agent.
  public var redirectURI: String
  /// The issuer identifier of the authorization server, without a path.
  public var issuer: WebAddress

  /// Creates an agent.
  public init(name: String, redirectURI: String, issuer: WebAddress) {
    self.name = name
    self.redirectURI = redirectURI
    self.issuer = issuer
  }

  /// The address of the metadata document (RFC 8414, section 3).
  public var metadataAddress: WebAddress { issuer.at("/.well-known/oauth-authorization-server") }

  /// The request for the metadata document.
  public var metadataRequest: Request {
    Request(
      method: "GET", target: metadataAddress.target,
      headers: ["Host": metadataAddress.authority, "Accept": "application/json"])
  }

  /// Returns the metadata in a response; `nil` if there is none, if it is of another issuer (RFC 8414, section 3.3), or
  /// if the server does not say that it supports PKCE.
  public func metadata(in response: Response) -> Metadata? {
    guard response.status == 200, let metadata = try? JSONDecoder().decode(Metadata.self, from: Data(response.body)),
      metadata.issuer == issuer.origin, metadata.codeChallengeMethods.contains("S256")
    else { return nil }
    return metadata
  }

  /// Returns the registration request (RFC 7591, section 3.1) and its address; `nil` if the metadata has no valid one.
  public func registration(_ metadata: Metadata) -> (address: WebAddress, request: Request)? {
    struct Body: Encodable {
      enum CodingKeys: String, CodingKey {
        case clientName = "client_name"
        case redirectURIs = "redirect_uris"
        case applicationType = "application_type"
        case authenticationMethod = "token_endpoint_auth_method"
        case scope
      }

      let clientName: String
      let redirectURIs: [String]
      let applicationType = "native"
      let authenticationMethod = "none"
      let scope = "profile"
    }
    guard let address = WebAddress(metadata.registrationEndpoint),
      let body = try? JSONEncoder().encode(Body(clientName: name, redirectURIs: [redirectURI]))
    else { return nil }
    let request = Request(
      method: "POST", target: address.target,
      headers: ["Host": address.authority, "Accept": "application/json", "Content-Type": "application/json"],
      body: Array(body))
    return (address, request)
  }

  /// Returns the agent as an app with the client id of the registration response (RFC 7591, section 3.2.1); `nil` if the
  /// response is an error.
  public func app(registeredBy response: Response, _ metadata: Metadata) -> NativeApp? {
    struct Body: Decodable {
      enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
      }

      let clientID: String
    }
    guard response.status == 201, let body = try? JSONDecoder().decode(Body.self, from: Data(response.body)),
      let authorizationEndpoint = WebAddress(metadata.authorizationEndpoint),
      let tokenEndpoint = WebAddress(metadata.tokenEndpoint)
    else { return nil }
    let server = NativeApp.Server(
      authorizationEndpoint: authorizationEndpoint, tokenEndpoint: tokenEndpoint, issuer: metadata.issuer)
    return NativeApp(clientID: body.clientID, redirectURI: redirectURI, server: server)
  }
}
