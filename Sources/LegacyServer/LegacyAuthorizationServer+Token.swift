import Cryptography
import FoundationEssentials
import HTTP
import OAuth
import Synchronization
import Time

extension LegacyAuthorizationServer {
  enum TokenError {
    case invalidClient
    case invalidRequest
    case unsupportedGrantType
    case badCode
    case badRefreshToken
    /// An error of RFC 8628, section 3.5.
    case ofPoll(String)
  }

  func token(_ request: LegacyRequest, now: UnixTime) -> Response {
    let parameters = request.http.method == "GET" ? request.query : request.body
    guard let client = authenticatedClient(request, parameters) else { return errorResponse(for: .invalidClient) }
    if configuration.quirks.refusesPKCEParameters, parameters["code_verifier"] != nil {
      return errorResponse(for: .invalidRequest)
    }
    switch parameters["grant_type"] {
    case "authorization_code": return redeem(parameters, client, now: now)
    case "refresh_token": return refresh(parameters, client, now: now)
    case "urn:ietf:params:oauth:grant-type:device_code" where !configuration.paths.deviceAuthorization.isEmpty:
      return poll(parameters, client, now: now)
    case "client_credentials": return issueClientToken(parameters, client, now: now)
    case nil: return errorResponse(for: .invalidRequest)
    default: return errorResponse(for: .unsupportedGrantType)
    }
  }

  private func redeem(_ parameters: Form, _ client: LegacyClient, now: UnixTime) -> Response {
    guard let text = parameters["code"] else { return errorResponse(for: .invalidRequest) }
    // The code is removed before its values are compared with the request. So, as on many servers, it cannot be used
    // again after an attempt with wrong parameters.
    guard let code = state.withLock({ $0.codes.remove(text, now: now) }), code.grant.clientID == client.id,
      code.redirectURI == parameters["redirect_uri"], matchesChallenge(code, parameters["code_verifier"])
    else { return errorResponse(for: .badCode) }
    return issueTokens(code.grant, refreshToken: nil, now: now)
  }

  /// True if the verifier matches the challenge of the code, or if the code has no challenge.
  private func matchesChallenge(_ code: LegacyState.Code, _ verifier: String?) -> Bool {
    guard let challenge = code.challenge else { return true }
    return verifier.flatMap { CodeVerifier(parsing: $0) }.map(challenge.matches) ?? false
  }

  private func refresh(_ parameters: Form, _ client: LegacyClient, now: UnixTime) -> Response {
    guard let text = parameters["refresh_token"] else { return errorResponse(for: .invalidRequest) }
    guard var grant = state.withLock({ $0.refreshTokens.value(for: text, now: now) }), grant.clientID == client.id
    else { return errorResponse(for: .badRefreshToken) }
    if let scope = parameters["scope"] { grant.scope = scope }
    guard configuration.quirks.rotatesRefreshTokens else { return issueTokens(grant, refreshToken: text, now: now) }
    _ = state.withLock { $0.refreshTokens.remove(text, now: now) }
    return issueTokens(grant, refreshToken: nil, now: now)
  }

  /// Issues an access token for the client itself, without a refresh token (RFC 6749, section 4.4.3).
  private func issueClientToken(_ parameters: Form, _ client: LegacyClient, now: UnixTime) -> Response {
    let grant = LegacyState.Grant(user: client.name, clientID: client.id, scope: parameters["scope"] ?? "basic")
    let access = LegacyAuthorizationServer.randomText(30)
    state.withLock { $0.accessTokens.insert(grant, for: access, now: now) }
    return json(
      TokenResponse(
        accessToken: access, lifetime: configuration.accessTokenLifetime.count, refreshToken: nil, scope: grant.scope))
  }

  /// Issues an access token and a refresh token.
  ///
  /// - Parameter refreshToken: The refresh token that stays valid; `nil` to issue a new one.
  func issueTokens(_ grant: LegacyState.Grant, refreshToken: String?, now: UnixTime) -> Response {
    let access = LegacyAuthorizationServer.randomText(30)
    let refresh = refreshToken ?? LegacyAuthorizationServer.randomText(30)
    state.withLock { state in
      state.accessTokens.insert(grant, for: access, now: now)
      if refreshToken == nil { state.refreshTokens.insert(grant, for: refresh, now: now) }
    }
    let quirks = configuration.quirks
    let scope = quirks.commaSeparatedScopes ? grant.scope.split(separator: " ").joined(separator: ",") : grant.scope
    let lifetime = configuration.accessTokenLifetime
    if quirks.tokenFormat == .form {
      return form([
        "access_token": access, "token_type": "bearer", "expires_in": String(lifetime.count), "refresh_token": refresh,
        "scope": scope,
      ])
    }
    return json(TokenResponse(accessToken: access, lifetime: lifetime.count, refreshToken: refresh, scope: scope))
  }

  func errorResponse(for error: TokenError) -> Response {
    let quirks = configuration.quirks
    var (status, code) =
      switch error {
      case .invalidClient: (401, "invalid_client")
      case .invalidRequest: (quirks.tokenErrorStatus, "invalid_request")
      case .unsupportedGrantType: (quirks.tokenErrorStatus, "unsupported_grant_type")
      case .badCode: (quirks.tokenErrorStatus, quirks.badCodeError)
      case .badRefreshToken: (quirks.tokenErrorStatus, "invalid_grant")
      case .ofPoll(let code): (quirks.tokenErrorStatus, code)
      }
    if quirks.tokenErrorsAre200 { status = 200 }
    var response =
      quirks.tokenFormat == .form
      ? form(Form([Form.Field(name: quirks.tokenErrorName, value: code)]), status: status)
      : json([quirks.tokenErrorName: code], status: status)
    if status == 401 { response.headers.append("WWW-Authenticate", "Basic realm=\"legacy\"") }
    return response
  }

  func revoke(_ request: LegacyRequest, now: UnixTime) -> Response {
    guard let client = authenticatedClient(request, request.body) else { return errorResponse(for: .invalidClient) }
    guard let token = request.body["token"] else { return errorResponse(for: .invalidRequest) }
    state.withLock { state in
      if state.accessTokens.value(for: token, now: now)?.clientID == client.id {
        _ = state.accessTokens.remove(token, now: now)
      }
      if state.refreshTokens.value(for: token, now: now)?.clientID == client.id {
        _ = state.refreshTokens.remove(token, now: now)
      }
    }
    return Response(status: 200)
  }

  /// Returns the protected resource: the user, the client and the scope of the access token.
  func resource(_ request: LegacyRequest, now: UnixTime) -> Response {
    let parts = request.http.headers.onlyValue(of: "Authorization")?.split(separator: " ") ?? []
    guard parts.count == 2, parts[0].lowercased() == "bearer",
      let grant = state.withLock({ $0.accessTokens.value(for: String(parts[1]), now: now) })
    else {
      var response = json(["error": "invalid_token"], status: 401)
      response.headers.append("WWW-Authenticate", "Bearer error=\"invalid_token\"")
      return response
    }
    return json(["user": grant.user, "client_id": grant.clientID, "scope": grant.scope])
  }

  /// Returns the client whose credentials the request contains; `nil` if they are missing or wrong, or sent in a way
  /// that the configuration does not accept.
  func authenticatedClient(_ request: LegacyRequest, _ parameters: Form) -> LegacyClient? {
    let basic = request.http.headers.onlyValue(of: "Authorization").flatMap(BasicCredentials.init(field:))
    let posted = parameters["client_secret"].map { (parameters["client_id"] ?? "", $0) }
    let credentials: (id: String, secret: String)? =
      switch configuration.authentication {
      case .basic: basic.map { ($0.id, $0.secret) }
      case .post: posted
      case .any where basic != nil && posted != nil: nil
      case .any: basic.map { ($0.id, $0.secret) } ?? posted
      }
    guard let credentials, let client = client(credentials.id),
      constantTimeEqual(credentials.secret, client.secret.reveal())
    else {
      return nil
    }
    return client
  }

  /// A token response (RFC 6749, section 5.1).
  private struct TokenResponse: Encodable {
    enum CodingKeys: String, CodingKey {
      case accessToken = "access_token"
      case tokenType = "token_type"
      case lifetime = "expires_in"
      case refreshToken = "refresh_token"
      case scope
    }

    var accessToken: String
    var tokenType = "bearer"
    var lifetime: Int
    var refreshToken: String?
    var scope: String
  }

  func json(_ value: some Encodable, status: Int = 200) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return Response(status: 500) }
    return Response(
      status: status, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"], body: Array(data))
  }

  private func form(_ form: Form, status: Int = 200) -> Response {
    Response(
      status: status,
      headers: ["Content-Type": "application/x-www-form-urlencoded", "Cache-Control": "no-store"],
      body: Array(form.encoded.utf8))
  }
}
