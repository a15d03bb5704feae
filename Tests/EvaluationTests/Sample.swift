import Evaluation
import OAuth
import Policy

/// Policies and requests for the tests of evaluations.
enum Sample {
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

  static func app(_ change: (inout ClientSettings) -> Void = { _ in }) throws -> ClientSettings {
    var client = ClientSettings(
      id: ClientID("app"), kind: .public, application: .native,
      redirectURIs: try ["com.example.app:/cb", "http://127.0.0.1/callback"].map { try RedirectURI(parsing: $0) },
      consent: .upstream,
      upstream: UpstreamClient(
        clientID: ClientID("legacy"), clientSecret: Secret("held-secret-of-the-gateway"), authentication: .basic,
        redirectURI: .callback))
    change(&client)
    return client
  }

  static func web() throws -> ClientSettings {
    ClientSettings(
      id: ClientID("web"), kind: .confidential, application: .web,
      redirectURIs: [try RedirectURI(parsing: "https://web.example.com/cb")], pkce: .optional, consent: .upstream,
      secret: Secret("a-secret-of-the-web-application"),
      upstream: UpstreamClient(clientID: ClientID("web-upstream"), authentication: .none, redirectURI: .requested))
  }

  static func policy(
    _ clients: [ClientSettings]? = nil, mode: EnforcementMode = .enforce, unknown: UnknownClients = .reject
  ) throws -> Policy {
    let clients = try clients ?? [app { $0.enforcement.mode = mode }, web()]
    return Policy(
      gateway: GatewaySettings(
        origin: Origin(scheme: .https, host: "id.example.com"), issuer: "https://id.example.com", listeners: [],
        admin: nil),
      upstream: UpstreamSettings(
        origin: Origin(scheme: .http, host: "127.0.0.1", port: 9000),
        endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"]), callback: .inPlace,
        usesPKCE: false, scopes: nil, parameters: []),
      unknownClients: unknown, mode: mode,
      clients: Dictionary(uniqueKeysWithValues: clients.map { ($0.id, Client($0)) }), version: "test")
  }

  static func evaluator(
    _ clients: [ClientSettings]? = nil, mode: EnforcementMode = .enforce, unknown: UnknownClients = .reject
  ) throws -> Evaluator {
    Evaluator(try policy(clients, mode: mode, unknown: unknown))
  }

  /// An authorization request; a `nil` value omits the parameter.
  static func authorize(_ changes: [(ParameterName, String?)] = []) -> TriedRequest {
    var entries = [
      FormParameters.Entry(.responseType, "code"), FormParameters.Entry(.clientID, "app"),
      FormParameters.Entry(.redirectURI, "com.example.app:/cb"), FormParameters.Entry(.state, "client-state"),
      FormParameters.Entry(.codeChallenge, challenge), FormParameters.Entry(.codeChallengeMethod, "S256"),
    ]
    apply(changes, to: &entries)
    return TriedRequest(method: "GET", path: "/authorize", parameters: entries)
  }

  static func token(_ changes: [(ParameterName, String?)] = []) -> TriedRequest {
    var entries = [
      FormParameters.Entry(.grantType, "authorization_code"), FormParameters.Entry(.clientID, "app"),
      FormParameters.Entry(.code, "code-of-the-client"), FormParameters.Entry(.redirectURI, "com.example.app:/cb"),
      FormParameters.Entry(.codeVerifier, verifier),
    ]
    apply(changes, to: &entries)
    return TriedRequest(method: "POST", path: "/token", parameters: entries)
  }

  private static func apply(_ changes: [(ParameterName, String?)], to entries: inout [FormParameters.Entry]) {
    for (name, value) in changes {
      entries.removeAll { $0.parameter == name }
      if let value { entries.append(FormParameters.Entry(name, value)) }
    }
  }
}
