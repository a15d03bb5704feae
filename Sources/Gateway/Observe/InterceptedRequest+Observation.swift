internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Telemetry

/// Passes an observed request to the upstream, and the response to the client. The rules do not change the request or
/// the response (`I-observe`).
extension InterceptedRequest {
  /// Returns the request with the client's header fields, in their order and without `Host`, and the client's body. The
  /// proxy sets `Host` and the framing, and adds `Via` and the forwarding fields, as for every request that passes. While
  /// a client is enforced, ``append(_:to:)`` drops parameters and credentials in fields.
  private func asReceived() -> OutboundRequest {
    var headers = Headers(capacity: request.headers.fields.count)
    for field in request.headers.fields where !field.name.isEqualIgnoringCase(to: "host") {
      append(field, to: &headers)
    }
    identify(&headers)
    return OutboundRequest(
      method: request.method, target: request.target, headers: headers, body: request.body, peer: request.peer)
  }

  /// Passes the request and returns the upstream's response.
  ///
  /// Refuses a response that sends a code or token to the gateway's callback or to a redirect URI of an enforced
  /// client. If the policy enforces a client, also refuses a request that contains such a URI, a request with a code
  /// that belongs to a transaction, and a response with such a code.
  ///
  /// - Parameters:
  ///   - parameters: The parameters of the request: one list for each part of it, such as the query and the body.
  ///   - clientID: The client id in the request; `nil` if the request contains no id or several.
  ///   - errorResponse: Creates the response for a refusal, in the format of the endpoint.
  func observe(
    _ parameters: [FormParameters], from clientID: String?, errorResponse: (RejectionResponse) -> Response
  ) async -> Reply {
    trail.mode = EnforcementMode.observe.rawValue
    let client = clientID.flatMap { policy.clients[ClientID($0)] }
    let locations = gateway.snapshot.locations
    if policy.isEnforcing, parameters.contains(where: { locations.containsProtectedURI($0, observed: client) }) {
      return .response(errorResponse(.withoutRedirect(.redirectURIEnforced)))
    }
    if policy.isEnforcing, let refusal = await refusalOfOwnedCode(in: parameters) {
      return .response(errorResponse(refusal))
    }
    do throws(UpstreamFailure) {
      let answer = try await upstream.send(asReceived())
      trail.upstreamStatus = answer.head.status
      for location in answer.head.headers.all("Location") {
        guard let observed = gateway.recordObservedResponse(location: location) else { continue }
        if trail.details == nil { trail.details = observed.details }
        trail.details?.codeDigest = observed.details.codeDigest
      }
      let destinations = answer.locations + locations.suspectTargets(of: answer.links)
      if destinations.contains(where: { locations.leaksAuthorizationResponse($0, toObserved: client) }) {
        return .response(errorResponse(.withoutRedirect(.responseToEnforcedClient)))
      }
      if policy.isEnforcing, await !claimCodes(in: answer.locations, for: clientID) {
        return .response(errorResponse(.withoutRedirect(.codeFromOtherSignIn)))
      }
      var response = answer.head
      replaceOrigins(in: &response)
      if hasForeignCookieDomain(response) { trail.findings.append(ResponseFinding.foreignCookieDomain.rawValue) }
      return .relay(answer, response)
    } catch {
      return .response(errorResponse(.withoutRedirect(rejection(for: error))))
    }
  }
}
