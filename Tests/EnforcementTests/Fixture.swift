import OAuth
import Policy
import Time

@testable import Enforcement

/// The clients and requests of the rows of docs/conformance.tsv.
enum Fixture {
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let now: UnixTime = 1_800_000_000

  static func uri(_ text: String) -> RedirectURI {
    do {
      return try RedirectURI(parsing: text)
    } catch {
      preconditionFailure("\(text): \(error)")
    }
  }

  static func client(
    _ id: String, kind: ClientType = .public, application: Client.Application = .native, _ uris: [String],
    consent: ConsentOwner = .upstream, secret: String? = nil,
    upstream: UpstreamClient? = nil, registration: Client.Registration = .trusted
  ) -> ClientSettings {
    ClientSettings(
      id: ClientID(id), kind: kind, application: application, redirectURIs: uris.map(uri), consent: consent,
      secret: secret.map { Secret($0) },
      upstream: upstream
        ?? UpstreamClient(
          clientID: ClientID("legacy-\(id)"), clientSecret: Secret("held-\(id)"), authentication: .basic,
          redirectURI: .callback),
      registration: registration)
  }

  static var clients: [ClientSettings] {
    var w1 = client(
      "w1", kind: .confidential, application: .web, ["https://web.example.com/cb?x=1"], secret: "w1secret")
    w1.pkce = .optional
    w1.grants.insert(.clientCredentials)
    w1.responseModes = [.query, .formPost]
    var tv1 = client("tv1", application: .device, [])
    tv1.grants = [.deviceCode, .refreshToken]
    let w3 = client(
      "w3", kind: .confidential, application: .web, ["https://web3.example.com/cb"],
      upstream: UpstreamClient(clientID: ClientID("w3"), authentication: .none, redirectURI: .requested))
    return [
      client(
        "n1", ["com.example.app:/cb", "https://app.example.com/cb", "http://127.0.0.1/cb", "http://[::1]/cb"]),
      client("n2", ["com.example.app2:/cb"], consent: .gateway),
      client("n3", ["com.example.app3:/cb"]),
      client("n4", ["http://127.0.0.1/cb"]),
      client("d1", ["https://dyn.example.net/cb"], registration: .untrusted),
      client("l1", ["http://localhost/cb"]),
      client("b1", ["msapp://s-1-15-2-1111-2222-3333"]),
      client(
        "web:2", kind: .confidential, application: .web, ["https://web2.example.com/cb"], secret: "a b%c"),
      w1, tv1, w3,
    ]
  }

  static func policy(
    unknown: UnknownClients = .reject, mode: EnforcementMode = .enforce, callback: CallbackMode = .inPlace,
    usesPKCE: Bool = false, scopes: ScopeRules? = nil, parameters: Set<String> = [], responseParameters: [String] = [],
    resources: [ResourceSettings] = [], deviceAuthorization: [String] = [],
    change: (inout ClientSettings) -> Void = { _ in }
  ) -> Policy {
    let listed = clients.map { client in
      var client = client
      client.mode = mode
      change(&client)
      return client
    }
    var endpoints = EndpointPaths(authorization: ["/authorize"], token: ["/token"])
    endpoints.deviceAuthorization = deviceAuthorization
    var upstream = UpstreamSettings(
      origin: Origin(scheme: .http, host: "127.0.0.1", port: 9000), endpoints: endpoints, callback: callback,
      usesPKCE: usesPKCE, scopes: scopes, parameters: parameters)
    upstream.responseParameters = responseParameters
    return Policy(
      gateway: GatewaySettings(
        origin: Origin(scheme: .https, host: "gw.example"), issuer: "https://gw.example", listeners: [], admin: nil),
      upstream: upstream, unknownClients: unknown, mode: mode,
      clients: Dictionary(uniqueKeysWithValues: listed.map { ($0.id, Client($0)) }), resources: resources,
      version: "test")
  }

  /// A resource whose server may introspect tokens.
  static var resource: ResourceSettings {
    guard let uri = ResourceURI(parsing: "https://api.example.com/"),
      let alias = ResourceURI(parsing: "https://api.example.com")
    else { preconditionFailure("URIs") }
    var resource = ResourceSettings(uri: uri, aliases: [alias])
    resource.introspection = ResourceServer(id: "api", secret: Secret("api-secret"))
    return resource
  }

  /// The authorization request that docs/conformance.tsv calls AZ; a `nil` value omits the parameter.
  static func query(_ changes: [String: String?] = [:], adding: String = "") -> String {
    var values: [(String, String?)] = [
      ("response_type", "code"), ("client_id", "n1"), ("redirect_uri", "com.example.app:/cb"), ("state", "s1"),
      ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ]
    for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
      if let index = values.firstIndex(where: { $0.0 == name }) {
        values[index].1 = value
      } else {
        values.append((name, value))
      }
    }
    let entries = values.compactMap { name, value in value.map { FormParameters.Entry(name, $0) } }
    return FormEncoding.serialise(entries) + adding
  }

  static func authorize(
    _ changes: [String: String?] = [:], adding: String = "", policy: Policy = policy(), userAgent: String? = nil,
    stateIsSealed: Bool = false
  ) -> DecisionWithFindings<AuthorizationPermit> {
    let query = query(changes, adding: adding)
    return Enforcement.decideAuthorization(
      AuthorizationRequest(method: "GET", query: query[...], userAgent: userAgent), policy: policy,
      stateIsSealed: stateIsSealed)
  }

  /// The token request that docs/conformance.tsv calls TK.
  static func tokenRequest(
    _ changes: [String: String?] = [:], adding: String = "", authorization: [String] = [], query: Substring? = nil,
    method: String = "POST", contentTypes: [String] = ["application/x-www-form-urlencoded"]
  ) -> TokenRequest {
    var values: [String: String] = [
      "grant_type": "authorization_code", "client_id": "n1", "code": "sealed", "redirect_uri": "com.example.app:/cb",
      "code_verifier": verifier,
    ]
    for (name, value) in changes { values[name] = value }
    let entries = values.sorted { $0.key < $1.key }.map { FormParameters.Entry($0.key, $0.value) }
    return TokenRequest(
      method: method, query: query, contentTypes: contentTypes, authorization: authorization,
      body: Array((FormEncoding.serialise(entries) + adding).utf8))
  }

  static var transaction: AuthorizationTransaction {
    AuthorizationTransaction(
      id: transactionID,
      binding: FlowBinding(
        clientID: ClientID("n1"), redirectURI: uri("com.example.app:/cb"), redirectURIWasSent: true,
        challenge: CodeChallenge(text: challenge, method: .s256), scope: Scope(parsing: "read write"),
        upstreamClientID: ClientID("legacy-n1"), upstreamRedirectURI: "https://gw.example/.proofgate/callback"),
      state: "s1", responseMode: .query, expiry: now + 600, browserSecretHash: Array(repeating: 7, count: 32))
  }

  static var verifierOfGateway: UpstreamVerifier {
    guard let verifier = UpstreamVerifier(bytes: Array(100..<132)) else { preconditionFailure("32 bytes") }
    return verifier
  }

  static var transactionID: TransactionID {
    guard let id = TransactionID(bytes: Array(0..<16)) else { preconditionFailure("16 bytes") }
    return id
  }

  static var code: IssuedCode {
    transaction.issuedCode(for: Secret("upstream-code"), expiry: now + 60, epoch: epoch, network: nil)
  }
  static let epoch = EpochID(rawValue: 7)

  static func redeem(
    _ changes: [String: String?] = [:], authorization: [String] = [], code: IssuedCode = code,
    opened: Opened<IssuedCode>? = nil, policy: Policy = policy(), now: UnixTime = now
  ) -> DecisionWithFindings<RedemptionPermit>? {
    let outcome = Enforcement.decideToken(tokenRequest(changes, authorization: authorization), policy: policy)
    guard case .redeem(let intent) = outcome.permit else { return nil }
    return Enforcement.decideRedemption(intent, opened: opened ?? .value(code), policy: policy, now: now)
  }
}

extension DecisionWithFindings {
  var rejection: Rejection? { refusal?.rejection }

  /// The parameters of the error response; nil if the refusal does not redirect.
  var redirected: [String: String]? {
    guard case .redirect = refusal?.delivery, let response = refusal?.response else { return nil }
    return Dictionary(response.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  var isPage: Bool {
    guard case .withoutRedirect = refusal?.delivery else { return false }
    return true
  }
}
