import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Stores
import Telemetry
import Time

/// The requests that the gateway itself sends to the upstream's token and revocation endpoints, and the responses to
/// clients at the endpoints that they call directly (RFC 6749, sections 5.1 and 5.2).
extension InterceptedRequest {
  // MARK: Requests to the upstream

  /// The response of the upstream's token endpoint.
  struct ReceivedTokenResponse {
    let status: Int
    let parsed: UpstreamTokenResponse
  }

  /// Sends a form to the upstream at the path of the client's request, reads the whole response, and removes values
  /// that the client must not see.
  func requestTokens(_ form: UpstreamTokenRequest) async -> Result<ReceivedTokenResponse, UpstreamFailure> {
    do throws(UpstreamFailure) {
      let response = try await post(form, to: String(request.path))
      trail.upstreamStatus = response.head.status
      let body = try await response.content()
      let (parsed, isScreened) = UpstreamTokenResponse.read(
        status: response.head.status, headers: response.head.headers, body: body, screen: TokenResponseScreen(form),
        errors: policy.upstream.errors, isDevicePoll: form.isDevicePoll)
      if isScreened { trail.findings.append("answer-screened") }
      if case .error(.invalidClient, _) = parsed { countFailedCredentials(form.presentedCredentials) }
      return .success(ReceivedTokenResponse(status: response.head.status, parsed: parsed))
    } catch {
      return .failure(error)
    }
  }

  /// Sends a form to the upstream. All forms that the gateway itself creates are sent by this function.
  func post(_ form: UpstreamTokenRequest, to path: String) async throws(UpstreamFailure) -> UpstreamResponse {
    var headers: Headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json", "Accept-Encoding": "identity",
    ]
    if let authorization = form.authorization { headers.append("Authorization", authorization.reveal()) }
    if let agent = request.headers["User-Agent"] { headers.append("User-Agent", agent) }
    identify(&headers)
    return try await upstream.send(
      OutboundRequest(
        method: "POST", target: path, headers: headers, body: Array(form.body.reveal().utf8), peer: request.peer))
  }

  // MARK: Refresh token families

  /// A token that the upstream issued, and its `token_type_hint` (RFC 7009, section 2.1).
  typealias UpstreamToken = (token: Secret, hint: TokenTypeHint)

  /// Ends a family, the set of refresh tokens that follow from one code: the gateway then refuses all tokens of the
  /// family. Returns true if the family was active until now.
  ///
  /// - Parameters:
  ///   - idleLifetime: The lifetime in the presented refresh token; `nil` without one. The tokens of the family may then
  ///     have been issued under a longer `refresh_idle` than the present one.
  ///   - revokedGenerations: The number of token generations whose upstream tokens the caller revokes. The upstream token
  ///     of a later generation is revoked when a client presents the gateway's token of that generation.
  func revokeFamily(
    _ family: TransactionID, of client: Client, idleLifetime: Seconds? = nil, revokedGenerations: Int
  ) async throws(StoreError) -> Bool {
    let wasActive = try await gateway.resources.refreshFamilies.end(
      family, revokingGenerations: revokedGenerations, holder: storeHolder(for: client),
      expiry: now
        + max(
          client.refreshIdle, idleLifetime ?? RefreshGrant.defaultIdleLifetime, policy.endRetention),
      adoptedUntil: client.rawRefreshUntil ?? 0, now: now)
    // Delete the response that `HeldResponses` keeps for the family.
    _ = try await gateway.resources.store.take(StoreKey(.answer, id: family), now: now)
    return wasActive
  }

  /// Returns the tokens in a token response.
  func upstreamTokens(in members: [String: JSONValue]) -> [UpstreamToken] {
    var tokens: [UpstreamToken] = []
    if let token = members["refresh_token"]?.text { tokens.append((Secret(token), .refreshToken)) }
    if let token = members["access_token"]?.text { tokens.append((Secret(token), .accessToken)) }
    return tokens
  }

  /// Revokes tokens at the upstream (RFC 7009). The result is only logged: the response to the client does not depend
  /// on it.
  func revoke(_ tokens: [UpstreamToken], with revocation: (Secret, TokenTypeHint) -> UpstreamTokenRequest) async {
    guard let path = policy.upstream.endpoints.revocation.first else {
      // Without a revocation endpoint, tokens of the upstream stay valid until they expire.
      trail.findings.append("tokens-not-revoked")
      return
    }
    for token in tokens {
      let isRevoked = await send(revocation(token.token, token.hint), to: path)
      trail.findings.append(isRevoked ? "token-revoked" : "revocation-failed")
    }
  }

  private func send(_ form: UpstreamTokenRequest, to path: String) async -> Bool {
    do throws(UpstreamFailure) {
      let answer = try await post(form, to: path)
      _ = try await answer.collect()
      return UpstreamTokenResponse.isDone(answer.head.status)
    } catch {
      return false
    }
  }

  // MARK: Responses to clients

  /// Returns the response to the client for a response of the upstream.
  ///
  /// - Parameter usedGatewayCredentials: True if the gateway sent credentials of its own. An error `invalid_client` is
  ///   then not the fault of the client, so the client gets `server_error`.
  func relay(_ upstream: ReceivedTokenResponse, usedGatewayCredentials: Bool) -> Response {
    switch upstream.parsed {
    case .tokens(let members): return tokenResponse(members)
    case .error(.invalidClient, _) where usedGatewayCredentials:
      return tokenRejection(.withoutRedirect(.upstreamFailed))
    case .error(let code, let description):
      switch code {
      case .serverError: return tokenRejection(.withoutRedirect(.upstreamFailed))
      case .temporarilyUnavailable: return tokenRejection(.withoutRedirect(.upstreamUnavailable))
      default:
        trail.recordRefusal(.upstreamError)
        return tokenError(code, status: code == .invalidClient ? 401 : 400, description: description)
      }
    case .unusable(let defect):
      trail.findings.append(defect.rawValue)
      let isBusy = upstream.status == 503 || upstream.status == 429
      return tokenRejection(.withoutRedirect(isBusy ? .upstreamUnavailable : .upstreamFailed))
    }
  }

  /// Returns the members of a token response with a scope, if the upstream's response names none (RFC 6749, section 5.1).
  ///
  /// - Parameter scope: The scope that the policy has left of the requested one; `nil` if the response needs none.
  func naming(_ scope: Scope?, in members: [String: JSONValue]) -> [String: JSONValue] {
    guard let scope, members["scope"]?.text?.isEmpty ?? true else { return members }
    var members = members
    members["scope"] = .string(scope.text)
    return members
  }

  func tokenResponse(_ members: [String: JSONValue]) -> Response {
    trail.step = .tokens
    return json(200, members)
  }

  func tokenError(
    _ code: OAuthErrorCode, status: Int, description: String?, uri: String? = nil, headers: Headers = Headers()
  ) -> Response {
    var members: [String: JSONValue] = ["error": .string(code.rawValue)]
    if let description { members["error_description"] = .string(ErrorDescription.sanitised(description)) }
    if let uri { members["error_uri"] = .string(uri) }
    var response = json(status, members)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }

  /// Records a refusal and returns its response. The field `X-Proofgate-Rule` tells the developer of the client which
  /// rule refused the request.
  func tokenRejection(_ refusal: RejectionResponse) -> Response {
    trail.recordRefusal(refusal.rejection)
    var headers = Headers()
    if refusal.requiresBasicAuthentication {
      headers.append("WWW-Authenticate", "Basic realm=\"proofgate\", charset=\"UTF-8\"")
    }
    if refusal.rejection == .methodNotAllowed { headers.append("Allow", "POST") }
    if refusal.rejection.status == 503 { headers.append("Retry-After", "\(ErrorPage.retryDelay.count)") }
    var response = tokenError(
      refusal.errorCode, status: refusal.rejection.status, description: refusal.errorDescription,
      uri: refusal.errorURI(below: policy.gateway.rulesURL, request: trail.requestID), headers: headers)
    response.headers.append("X-Proofgate-Rule", refusal.rejection.ruleID)
    return response
  }

  /// Returns the response for an upstream that did not answer. It is a server error: after `invalid_grant`, clients
  /// would discard their tokens (`I-failure`).
  func tokenFailure(_ failure: UpstreamFailure) -> Response {
    tokenRejection(.withoutRedirect(rejection(for: failure)))
  }

  /// Returns the response to an accepted pushed request (RFC 9126, section 2.2).
  func pushedResponse(_ uri: String, lifetime: Seconds) -> Response {
    trail.step = .pushed
    return json(201, ["request_uri": .string(uri), "expires_in": .integer(Int64(lifetime.count))])
  }

  /// Returns the response to a successful revocation: status 200 without a body (RFC 7009, section 2.2).
  func revocationResponse() -> Response {
    trail.step = .revoked
    return Response(status: 200, headers: ["Cache-Control": "no-store", "Pragma": "no-cache"])
  }

  /// Returns the response to a request beyond a limit (RFC 6585, section 4).
  func tokenThrottled(_ reason: String, retryAfter wait: Seconds) -> Response {
    tokenError(
      .temporarilyUnavailable, status: 429, description: "\(reason); try again later",
      headers: ["Retry-After": "\(wait.count)"])
  }

  func json(_ status: Int, _ members: [String: JSONValue]) -> Response {
    Response(
      status: status,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache",
        "X-Content-Type-Options": "nosniff",
      ],
      body: JSONValue.text(of: members))
  }
}
