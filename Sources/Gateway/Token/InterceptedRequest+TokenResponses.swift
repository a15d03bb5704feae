import Enforcement
import HTTP
import OAuth
import Proxy
import Time

/// Responses of the token endpoint (RFC 6749, sections 5.1 and 5.2) and of the other endpoints that clients call
/// directly.
extension InterceptedRequest {
  func tokenResponse(_ members: [String: JSONValue]) -> Response {
    json(200, members)
  }

  func tokenError(
    _ code: OAuthErrorCode, status: Int, description: String?, headers: Headers = Headers()
  ) -> Response {
    var members: [String: JSONValue] = ["error": .string(code.rawValue)]
    if let description { members["error_description"] = .string(ErrorDescription.sanitised(description)) }
    var response = json(status, members)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }

  /// Records a refusal and returns its response. The field `X-Proofgate-Rule` names the rule for the client's
  /// developer.
  func tokenRejection(_ refusal: RejectionResponse) -> Response {
    trail.recordRefusal(refusal.rejection)
    var headers = Headers()
    if refusal.requiresBasicAuthentication {
      headers.append("WWW-Authenticate", "Basic realm=\"proofgate\", charset=\"UTF-8\"")
    }
    if refusal.rejection == .methodNotAllowed { headers.append("Allow", "POST") }
    if refusal.rejection.status == 503 { headers.append("Retry-After", "\(ErrorPage.retryDelay.count)") }
    var response = tokenError(
      refusal.errorCode, status: refusal.rejection.status, description: refusal.errorDescription, headers: headers)
    response.headers.append("X-Proofgate-Rule", refusal.rejection.ruleID)
    return response
  }

  /// Returns the response for an upstream that did not answer. It is a server error, not `invalid_grant`, which would
  /// make clients discard their tokens (`I-failure`).
  func tokenFailure(_ failure: UpstreamFailure) -> Response {
    tokenRejection(.here(rejection(for: failure)))
  }

  /// Returns the response to an accepted pushed request (RFC 9126, section 2.2).
  func pushedResponse(_ uri: String, lifetime: Seconds) -> Response {
    json(201, ["request_uri": .string(uri), "expires_in": .integer(Int64(lifetime.count))])
  }

  /// Returns the response to a successful revocation: status 200 without a body (RFC 7009, section 2.2).
  func revocationResponse() -> Response {
    Response(status: 200, headers: ["Cache-Control": "no-store", "Pragma": "no-cache"])
  }

  /// Returns the response to a request beyond a limit (RFC 6585, section 4).
  func tokenThrottled(_ reason: String, retryAfter wait: Seconds) -> Response {
    tokenError(
      .temporarilyUnavailable, status: 429, description: "\(reason); try again later",
      headers: ["Retry-After": "\(wait.count)"])
  }

  private func json(_ status: Int, _ members: [String: JSONValue]) -> Response {
    Response(
      status: status,
      headers: [
        "Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache",
        "X-Content-Type-Options": "nosniff",
      ],
      body: JSONValue.text(of: members))
  }
}
