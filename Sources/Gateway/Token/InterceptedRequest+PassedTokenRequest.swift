import Enforcement
import HTTP
import OAuth
import Policy
import Proxy

/// Passes requests to the upstream's token, revocation, introspection and pushed authorization endpoints, with the
/// client's own parameters.
extension InterceptedRequest {
  /// Passes an observed request to the upstream unchanged. If the gateway holds the client's secret for the upstream
  /// and the upstream responds with 401, this counts as a failed attempt to authenticate.
  func observe(_ request: TokenRequest, _ authentication: ClientAuthentication?) async -> Reply {
    let reply = await observe(request.parameterSources, from: request.clientID) { tokenRejection($0) }
    if reply.status == 401, namesClientWithUpstreamSecret(authentication) { countFailedCredentials(authentication) }
    return reply
  }

  /// Sends the request upstream and returns the response, which no cache may store. If the upstream refuses the
  /// credentials, this counts as a failed attempt to authenticate.
  func pass(_ request: TokenRequest, _ authentication: ClientAuthentication?) async -> Response {
    do throws(UpstreamFailure) {
      let answer = try await upstream.send(outboundRequest(request))
      trail.upstreamStatus = answer.head.status
      var response = answer.head
      response.body = try await answer.collect()
      // The upstream does not know which scripts may read this. `Gateway` adds the fields of a known client.
      if policy.isEnforcing { gateway.snapshot.crossOrigin.edit(&response, to: self.request, from: nil) }
      if refusesCredentials(response) { countFailedCredentials(authentication) }
      response.headers.set("Cache-Control", "no-store")
      response.headers.set("Pragma", "no-cache")
      return response
    } catch {
      return tokenFailure(error)
    }
  }

  /// Passes the preflight request of a script (Fetch Standard, section 4.8), which names no client: the script may be part of
  /// an observed one, and the request that follows is decided.
  func passPreflight() async -> Reply {
    trail.mode = EnforcementMode.observe.rawValue
    do throws(UpstreamFailure) {
      let answer = try await upstream.send(
        OutboundRequest(
          method: request.method, target: String(request.path), headers: forwardedHeaders(), peer: request.peer))
      trail.upstreamStatus = answer.head.status
      return .relay(answer, answer.head)
    } catch {
      return .response(tokenFailure(error))
    }
  }

  private func refusesCredentials(_ response: Response) -> Bool {
    guard response.status != 401 else { return true }
    let answer = UpstreamTokenResponse(status: response.status, headers: response.headers, body: response.body)
    guard case .error(.invalidClient, _) = answer else { return false }
    return true
  }

  /// Returns the request for the upstream. If the client's request names a client that has a separate secret for the
  /// gateway, the credentials and the query are removed, because the upstream cannot use this secret and must not learn
  /// it (`I-credentials`).
  private func outboundRequest(_ parsed: TokenRequest) -> OutboundRequest {
    var outbound = forwardedRequest()
    outbound.body = FormContent.withoutFinalLineEnd(outbound.body)
    let ids = parsed.usersInAuthorization + parsed.parameters.all(.clientID) + (parsed.query?.all(.clientID) ?? [])
    guard ids.contains(where: gateway.snapshot.identifiers.idsWithGatewaySecret.contains) else { return outbound }
    outbound.target = String(request.path)
    outbound.headers.remove("Authorization")
    outbound.headers.set("Content-Type", "application/x-www-form-urlencoded")
    let entries = parsed.parameters.entries.filter { !ParameterNames.clientAuthentication.contains($0.parameter) }
    // If the body is not a form, it has no parsed parameters, and the gateway sends an empty body.
    outbound.body = Array(FormEncoding.serialise(entries).utf8)
    return outbound
  }
}
