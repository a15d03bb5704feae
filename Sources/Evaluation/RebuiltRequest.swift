import OAuth
import Policy

/// A request that is rebuilt from a line of the decision log. The log has no secrets, so the request has values of its own
/// in their place: a code challenge and verifier that match, a code, a refresh token, a client secret.
struct RebuiltRequest {
  /// The words that describe the request.
  let label: String
  /// The parameters, without those of the client authentication.
  private let parameters: [FormParameters.Entry]
  private let kind: LoggedRequests.Kind

  /// Rebuilds a request.
  ///
  /// - Parameter registered: The redirect URIs that the compared policies register for the client. The query of the
  ///   logged URI and the port of a `localhost` URI are taken from the one that equals it otherwise.
  init(_ kind: LoggedRequests.Kind, registered: [RedirectURI]) {
    self.kind = kind
    let uri = kind.redirectURI.map { logged in registered.first { $0.address == logged }?.text ?? logged }
    switch kind.endpoint {
    case .authorization, .pushedAuthorization:
      parameters = RebuiltRequest.authorization(kind, uri)
    case .token: parameters = RebuiltRequest.token(kind, uri)
    }
    label = RebuiltRequest.label(of: kind)
  }

  /// Returns the request for the endpoints of a policy; `nil` if the policy has no path for the endpoint.
  func request(for endpoints: EndpointPaths) -> TriedRequest? {
    let (method, path) =
      switch kind.endpoint {
      case .authorization: ("GET", endpoints.authorization.first)
      case .pushedAuthorization: ("POST", endpoints.pushedAuthorization.first)
      case .token: ("POST", endpoints.token.first)
      }
    guard let path else { return nil }
    var parameters = parameters
    // The secret counts as the right one, unless the rule says that it was wrong.
    let secret = kind.rule == "client-authentication-failed" ? TriedRequest.wrongSecret : "secret"
    var authorization: String?
    switch kind.authentication {
    case "basic":
      authorization = BasicCredentials(user: kind.client, password: Secret(secret)).header.reveal()
    case "post": parameters += [.init(.clientID, kind.client), .init(.clientSecret, secret)]
    default: parameters.append(.init(.clientID, kind.client))
    }
    var request = TriedRequest(method: method, path: path, parameters: parameters)
    if let authorization { request.fields.append(TriedRequest.Field("Authorization", authorization)) }
    if kind.isEmbedded { request.fields.append(TriedRequest.Field("User-Agent", GeneratedRequests.webView)) }
    return request
  }

  private static func authorization(_ kind: LoggedRequests.Kind, _ uri: String?) -> [FormParameters.Entry] {
    var entries: [FormParameters.Entry] = []
    if let type = kind.responseType { entries.append(.init(.responseType, type)) }
    if let uri { entries.append(.init(.redirectURI, uri)) }
    if let scope = kind.scope { entries.append(.init(.scope, scope)) }
    if !kind.lacksState { entries.append(GeneratedRequests.state) }
    switch kind.pkce {
    case "S256": entries += GeneratedRequests.s256
    case "plain":
      entries += [.init(.codeChallenge, GeneratedRequests.verifier), .init(.codeChallengeMethod, "plain")]
    case "other":
      entries += [.init(.codeChallenge, GeneratedRequests.verifier), .init(.codeChallengeMethod, "other")]
    default: break
    }
    return entries
  }

  private static func token(_ kind: LoggedRequests.Kind, _ uri: String?) -> [FormParameters.Entry] {
    var entries: [FormParameters.Entry] = [.init(.grantType, kind.grant ?? "other")]
    if let uri { entries.append(.init(.redirectURI, uri)) }
    if let scope = kind.scope { entries.append(.init(.scope, scope)) }
    switch kind.grant.flatMap(GrantType.init(rawValue:)) {
    case .authorizationCode:
      entries.append(.init(.code, "code"))
      if kind.pkce == "verifier" { entries.append(.init(.codeVerifier, GeneratedRequests.verifier)) }
    case .refreshToken: entries.append(.init(.refreshToken, "token"))
    case .deviceCode: entries.append(.init(.deviceCode, "code"))
    case .password: entries += [.init(.username, "user"), .init(.password, "password")]
    case .clientCredentials, nil: break
    }
    return entries
  }

  private static func label(of kind: LoggedRequests.Kind) -> String {
    var label: String
    switch kind.endpoint {
    case .authorization, .pushedAuthorization:
      label = kind.endpoint == .authorization ? "authorization" : "pushed authorization"
      label += kind.redirectURI.map { " to \($0)" } ?? " without redirect_uri"
      switch kind.pkce {
      case "S256": label += " with PKCE"
      case "none": label += " without PKCE"
      default: label += " with the challenge method \(kind.pkce ?? "")"
      }
      if let type = kind.responseType, type != "code" { label += ", response_type=\(type)" }
      if kind.lacksState { label += ", without state" }
      if kind.isEmbedded { label += ", from a web view" }
    case .token:
      label = "token \(kind.grant ?? "")"
      if let pkce = kind.pkce { label += pkce == "verifier" ? " with a verifier" : " without a verifier" }
    }
    switch kind.authentication {
    case "basic": label += ", HTTP Basic"
    case "post": label += ", client_secret in the body"
    case "none" where kind.endpoint != .authorization: label += ", no client authentication"
    default: break
    }
    return label
  }
}
