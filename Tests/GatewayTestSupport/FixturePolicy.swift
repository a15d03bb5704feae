public import OAuth
public import Policy
import Time

/// The policy of the test vectors (`vectors.json`, "fixtures"), as a mutable value: the gateway at `https://gw.example`
/// with the clients n1, n2, n3, n4, w1, web:2, d1 and tv1 of the vectors, and with w3 and p1.
///
/// | id | kind | at the upstream |
/// |---|---|---|
/// | n1, n2, n4, d1 | public native; d1 registered itself | share `legacy-native` |
/// | n3 | public native that ships a secret `s3`, which proves nothing | shares `legacy-native` |
/// | w1, web:2 | confidential web whose secret the gateway verifies | `legacy-w1`, `legacy-web2` |
/// | w3 | confidential web with its own upstream client and redirect URI | itself, secret `w3secret` |
/// | p1 | public native for which only the upstream asks for consent | `legacy-p1` |
/// | tv1 | public device | `legacy-native` |
public struct FixturePolicy: Sendable {
  /// The settings of the gateway: one plaintext listener on a free port of 127.0.0.1, no admin address.
  public var gateway: GatewaySettings
  /// The settings of the upstream. The fixture fills in its port.
  public var upstream: UpstreamSettings
  /// The treatment of an authorization or token request on a path that the policy does not list.
  public var unlistedOAuth = UnlistedOAuth.reject
  /// The treatment of a client id that the policy does not list.
  public var unknownClients = UnknownClients.reject
  /// The effect of a refusal that is decided before the client is known.
  public var mode = EnforcementMode.enforce
  /// The settings of the clients by id.
  public var clients: [ClientID: ClientSettings] = [:]
  /// The protected resources.
  public var resources: [ResourceSettings] = []

  /// Dynamic registration; `nil` if it is off.
  public var registration: RegistrationSettings?
  /// Clients with metadata documents; `nil` if there are none.
  public var clientDocuments: ClientDocumentSettings?
  /// The routes.
  public var routes: [RouteSettings] = []

  /// The secret that the gateway holds for the shared upstream client.
  public static let nativeSecret = "upstream-secret-of-native"

  /// Creates the policy of the vectors. Throws `RedirectURIError` if a redirect URI of the table is invalid.
  public init(origin: Origin = Origin(scheme: .https, host: "gw.example")) throws(RedirectURIError) {
    gateway = GatewaySettings(
      origin: origin, issuer: origin.description,
      listeners: [ListenerSettings(address: SocketAddress(host: "127.0.0.1", port: 0))], admin: nil)
    upstream = UpstreamSettings(
      origin: Origin(scheme: .http, host: "127.0.0.1", port: 1),
      endpoints: EndpointPaths(
        authorization: ["/authorize"], token: ["/token"], revocation: ["/revoke"], introspection: ["/introspect"]))
    // The login page of the scripted server completes sign-ins.
    upstream.completionPaths = ["/login"]
    for client in try FixturePolicy.vectorClients() {
      clients[client.id] = client
      // The vectors detect the second use of a refresh token at once.
      edit(client.id.rawValue) { $0.refreshReuseWindow = 0 }
    }
  }

  /// The policy of the vectors with the changes of `adjust`.
  public static func with(
    origin: Origin = Origin(scheme: .https, host: "gw.example"), _ adjust: (inout FixturePolicy) -> Void = { _ in }
  ) throws(RedirectURIError) -> Policy {
    var policy = try FixturePolicy(origin: origin)
    adjust(&policy)
    return policy.policy
  }

  /// The same policy with an http origin on a loopback address; the fixture fills in the port.
  public static func onLoopback(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws(RedirectURIError) -> Policy {
    try with(origin: Origin(scheme: .http, host: "127.0.0.1", port: 0), adjust)
  }

  /// Changes one client, which must exist.
  public mutating func edit(_ id: String, _ adjust: (inout ClientSettings) -> Void) {
    guard var client = clients[ClientID(id)] else { preconditionFailure("no client \(id) in the fixture") }
    adjust(&client)
    clients[client.id] = client
  }

  /// Changes every client.
  public mutating func editAll(_ adjust: (inout ClientSettings) -> Void) {
    for id in clients.keys { edit(id.rawValue, adjust) }
  }

  /// Removes a client; no effect if it does not exist.
  public mutating func remove(_ id: String) {
    clients[ClientID(id)] = nil
  }

  /// The policy with these settings and the version `fixture`.
  public var policy: Policy {
    Policy(
      gateway: gateway, upstream: upstream, unknownClients: unknownClients, mode: mode,
      unlistedOAuth: unlistedOAuth,
      clients: clients.mapValues { Client($0) }, resources: resources, registration: registration,
      clientDocuments: clientDocuments, routes: routes, version: "fixture")
  }

  /// Copies the settings of a policy, so that they can be changed.
  public init(_ policy: Policy) {
    gateway = policy.gateway
    upstream = policy.upstream
    unlistedOAuth = policy.unlistedOAuth
    unknownClients = policy.unknownClients
    mode = policy.mode
    registration = policy.registration
    clientDocuments = policy.clientDocuments
    routes = policy.routes
    clients = policy.clients.mapValues(\.settings)
    resources = policy.resources.all.map(\.settings)
  }
}

extension FixturePolicy {
  private static func vectorClients() throws(RedirectURIError) -> [ClientSettings] {
    var tv1 = try native("tv1", [])
    tv1.application = .device
    tv1.grants = [.deviceCode, .refreshToken]
    var d1 = try native("d1", ["https://dyn.example.net/cb"])
    d1.registration = .untrusted
    var p1 = try native("p1", ["com.example.p1:/cb"])
    p1.upstream = held("legacy-p1", "upstream-secret-of-p1")
    p1.consent = .upstream
    return [
      try native(
        "n1",
        ["com.example.app:/cb", "https://app.example.com/cb", "http://127.0.0.1/cb", "http://[::1]/cb"]),
      try native("n2", ["com.example.app2:/cb"]), try native("n3", ["com.example.app3:/cb"]),
      try native("n4", ["http://127.0.0.1/cb"]), d1, tv1, p1,
      try web("w1", secret: "w1secret", "https://web.example.com/cb?x=1", held("legacy-w1", "upstream-secret-of-w1")),
      try web("web:2", secret: "a b%c", "https://web2.example.com/cb", held("legacy-web2", "upstream-secret-of-web2")),
      try web(
        "w3", secret: nil, "https://web3.example.com/cb",
        UpstreamClient(clientID: ClientID("w3"), authentication: .none, redirectURI: .requested)),
    ]
  }

  private static func held(_ id: String, _ secret: String) -> UpstreamClient {
    UpstreamClient(
      clientID: ClientID(id), clientSecret: Secret(secret), authentication: .basic, redirectURI: .callback)
  }

  private static func native(_ id: String, _ uris: [String]) throws(RedirectURIError) -> ClientSettings {
    ClientSettings(
      id: ClientID(id), name: "App \(id)", kind: .public, application: .native, redirectURIs: try parsed(uris),
      consent: .gateway, upstream: held("legacy-native", nativeSecret))
  }

  private static func web(
    _ id: String, secret: String?, _ uri: String, _ upstream: UpstreamClient
  ) throws(RedirectURIError) -> ClientSettings {
    ClientSettings(
      id: ClientID(id), name: "Site \(id)", kind: .confidential, application: .web, redirectURIs: try parsed([uri]),
      pkce: .optional, consent: secret == nil ? .upstream : .gateway, secret: secret.map { Secret($0) },
      upstream: upstream)
  }

  private static func parsed(_ uris: [String]) throws(RedirectURIError) -> [RedirectURI] {
    var result: [RedirectURI] = []
    for uri in uris { result.append(try RedirectURI(parsing: uri)) }
    return result
  }
}
