import OAuth
import Policy

/// The requests for which two policies are compared: for each client its redirect URIs with and without PKCE, each
/// grant, and each kind of client authentication.
struct GeneratedRequests {
  /// A request with the words that describe it.
  struct Entry {
    let label: String
    let request: TriedRequest
  }

  /// The maximum number of redirect URIs of a client for which requests are generated.
  static let maximumURIs = 50

  private let id: String
  private let endpoints: EndpointPaths
  private(set) var entries: [Entry] = []

  /// Generates the requests of one client.
  ///
  /// - Parameters:
  ///   - id: The id of the client.
  ///   - uris: The redirect URIs that either policy registers for the client.
  ///   - endpoints: The paths of the endpoints.
  ///   - devicePath: The path of the device authorization endpoint; `nil` if there is none.
  init(_ id: String, uris: [RedirectURI], endpoints: EndpointPaths, devicePath: String?) {
    self.id = id
    self.endpoints = endpoints
    for uri in uris.prefix(Self.maximumURIs) { addAuthorization(uri) }
    if let first = uris.first { addVariants(first) }
    addAuthorization("to a redirect URI that is not registered", "https://unregistered.invalid/callback", Self.s256)
    addTokens(uris.first)
    if let devicePath { add("device authorization", "POST", devicePath, [client]) }
  }

  // MARK: Authorization requests

  private typealias Parameters = [FormParameters.Entry]

  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let s256 = [
    FormParameters.Entry(.codeChallenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
    FormParameters.Entry(.codeChallengeMethod, "S256"),
  ]
  static let state = FormParameters.Entry(.state, "state")

  private var client: FormParameters.Entry { FormParameters.Entry(.clientID, id) }

  private mutating func addAuthorization(_ uri: RedirectURI) {
    let plain = [
      FormParameters.Entry(.codeChallenge, Self.verifier), FormParameters.Entry(.codeChallengeMethod, "plain"),
    ]
    addAuthorization("to \(uri.text) with PKCE", uri.text, Self.s256)
    addAuthorization("to \(uri.text) without PKCE", uri.text, [])
    addAuthorization("to \(uri.text) with the challenge method plain", uri.text, plain)
    if let other = GeneratedRequests.withOtherPort(uri) {
      addAuthorization("to \(uri.text) on another port with PKCE", other, Self.s256)
    }
  }

  /// Requests whose decision depends on a setting that is the same for all redirect URIs.
  private mutating func addVariants(_ uri: RedirectURI) {
    addAuthorization("with response_mode=form_post", uri.text, Self.s256 + [.init(.responseMode, "form_post")])
    addAuthorization("with prompt=none", uri.text, Self.s256 + [.init(.prompt, "none")])
    addAuthorization("with response_type=token", uri.text, Self.s256, responseType: "token")
    addAuthorization("without state", uri.text, Self.s256, hasState: false)
    addAuthorization("without redirect_uri", nil, Self.s256)
    addAuthorization("from a web view", uri.text, Self.s256, userAgent: Self.webView)
  }

  static let webView =
    "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UP1A; wv) AppleWebKit/537.36 Version/4.0 Chrome/120.0 Mobile Safari/537.36"

  private mutating func addAuthorization(
    _ label: String, _ uri: String?, _ pkce: Parameters, responseType: String = "code", hasState: Bool = true,
    userAgent: String? = nil
  ) {
    guard let path = endpoints.authorization.first else { return }
    var parameters = [FormParameters.Entry(.responseType, responseType), client]
    if let uri { parameters.append(FormParameters.Entry(.redirectURI, uri)) }
    parameters += pkce
    if hasState { parameters.append(Self.state) }
    add("authorization \(label)", "GET", path, parameters, userAgent: userAgent)
    if label.hasSuffix(" with PKCE"), let pushed = endpoints.pushedAuthorization.first {
      add("pushed authorization \(label)", "POST", pushed, parameters)
    }
  }

  /// Returns the loopback URI with a port that is not registered; `nil` for other URIs.
  private static func withOtherPort(_ uri: RedirectURI) -> String? {
    switch uri.kind {
    case .loopback(.ipv4, let port): "http://127.0.0.1:\(port == 49_200 ? 49_201 : 49_200)\(uri.pathAndQuery)"
    case .loopback(.ipv6, let port): "http://[::1]:\(port == 49_200 ? 49_201 : 49_200)\(uri.pathAndQuery)"
    case .localhost(let port): "http://localhost:\(port == 49_200 ? 49_201 : 49_200)\(uri.pathAndQuery)"
    case .privateUse, .https, .windowsBroker: nil
    }
  }

  // MARK: Token requests

  private mutating func addTokens(_ uri: RedirectURI?) {
    guard let path = endpoints.token.first else { return }
    let redirect = uri.map { [FormParameters.Entry(.redirectURI, $0.text)] } ?? []
    let code = [FormParameters.Entry(.grantType, "authorization_code"), FormParameters.Entry(.code, "code")] + redirect
    let grants: [(String, Parameters)] = [
      ("authorization_code with a verifier", code + [.init(.codeVerifier, Self.verifier)]),
      ("authorization_code without a verifier", code),
      ("refresh_token", [.init(.grantType, "refresh_token"), .init(.refreshToken, "token")]),
      ("client_credentials", [.init(.grantType, "client_credentials")]),
      ("password", [.init(.grantType, "password"), .init(.username, "user"), .init(.password, "password")]),
      (
        "device_code",
        [.init(.grantType, GrantType.deviceCode.rawValue), .init(.deviceCode, "code")]
      ),
    ]
    for (name, parameters) in grants {
      add("token \(name), no client authentication", "POST", path, parameters + [client])
      add(
        "token \(name), client_secret in the body", "POST", path, parameters + [client, .init(.clientSecret, "secret")])
      let basic = BasicCredentials(user: id, password: Secret("secret")).header.reveal()
      add("token \(name), HTTP Basic", "POST", path, parameters, authorization: basic)
    }
  }

  private mutating func add(
    _ label: String, _ method: String, _ path: String, _ parameters: Parameters, userAgent: String? = nil,
    authorization: String? = nil
  ) {
    var request = TriedRequest(method: method, path: path, parameters: parameters)
    if let userAgent { request.fields.append(TriedRequest.Field("User-Agent", userAgent)) }
    if let authorization { request.fields.append(TriedRequest.Field("Authorization", authorization)) }
    entries.append(Entry(label: label, request: request))
  }
}
