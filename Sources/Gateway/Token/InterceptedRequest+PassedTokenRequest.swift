import Enforcement
import HTTP
import OAuth
import Policy
import Proxy

/// Passes requests to the upstream's token, revocation and introspection endpoints as the client sent them.
extension InterceptedRequest {
  /// Returns the refusal of a request before its client is known: after too many failed attempts at a secret, or
  /// because it names an upstream id whose secret the gateway holds.
  ///
  /// - Parameter isObserved: True if the request only passes. Its attempts are limited, too, if they are made at a
  ///   secret that the gateway holds.
  func refused(
    _ request: TokenRequest, _ authentication: ClientAuthentication?, isObserved: Bool
  ) -> Response? {
    if !isObserved || namesHeldID(authentication), let throttled = throttledCredentials(authentication) {
      return throttled
    }
    let snapshot = gateway.snapshot
    guard let rejection = Enforcement.refusal(naming: request, guarded: snapshot.identifiers, policy: policy) else {
      if isObserved,
        let finding = Enforcement.refusal(naming: request, guarded: snapshot.identifiersIfEnforced, policy: policy)
      {
        trail.wouldReject(finding)
      }
      return nil
    }
    return tokenRejection(.here(rejection))
  }

  /// Sends an observed request upstream unchanged.
  func observe(_ request: TokenRequest, _ authentication: ClientAuthentication?) async -> Reply {
    let reply = await observe([request.parameters], from: authentication?.clientID.rawValue) { tokenRejection($0) }
    if reply.status == 401, namesHeldID(authentication) { countFailedCredentials(authentication) }
    return reply
  }

  private func namesHeldID(_ authentication: ClientAuthentication?) -> Bool {
    authentication.map { gateway.snapshot.identifiers.held.contains($0.clientID.rawValue) } ?? false
  }

  /// Sends the request upstream and returns the response. Credentials that the upstream refuses count as a failed
  /// attempt.
  func pass(_ request: TokenRequest, _ authentication: ClientAuthentication?) async -> Response {
    do throws(UpstreamFailure) {
      let answer = try await upstream.send(passing(request))
      trail.upstreamStatus = answer.head.status
      var response = answer.head
      response.body = try await answer.collect()
      if refusesClient(response) { countFailedCredentials(authentication) }
      response.headers.set("Cache-Control", "no-store")
      response.headers.set("Pragma", "no-cache")
      return response
    } catch {
      return tokenFailure(error)
    }
  }

  private func refusesClient(_ response: Response) -> Bool {
    guard response.status != 401 else { return true }
    let answer = UpstreamTokenResponse(status: response.status, headers: response.headers, body: response.body)
    guard case .error(.invalidClient, _) = answer else { return false }
    return true
  }

  /// Returns the request without credentials that the gateway verifies: the upstream does not know them, cannot use
  /// them, and must not learn them (`I-credentials`).
  private func passing(_ parsed: TokenRequest) -> OutboundRequest {
    var outbound = unchanged()
    let named = parsed.namedInHeader + parsed.parameters.all(.clientID) + (parsed.query?.all(.clientID) ?? [])
    guard named.contains(where: gateway.snapshot.identifiers.provedHere.contains) else { return outbound }
    outbound.target = String(request.path)
    outbound.headers.remove("Authorization")
    outbound.headers.remove("Content-Encoding")
    outbound.headers.set("Content-Type", "application/x-www-form-urlencoded")
    let entries = parsed.parameters.entries.filter { !ParameterNames.clientAuthentication.contains($0.parameter) }
    // If the body is not a form, no parameter could be read, and an empty body is sent.
    outbound.body = Array(FormEncoding.serialise(entries).utf8)
    return outbound
  }
}
