import Enforcement
import HTTP
import OAuth
import Policy
import Proxy

/// The introspection endpoint (RFC 7662). Requests pass with the parameters and credentials of the resource server. If
/// a request names a client that has a separate secret for the gateway, the gateway removes the credentials, unless the
/// request is only observed. A request with an upstream client id whose secret the gateway holds is refused. A request
/// with the secret by which a resource server authenticates to the gateway gets the response of the gateway's own
/// endpoint, because the upstream must not learn this secret.
///
/// The gateway reads the requests because a program could use this endpoint to guess such a secret. Failed attempts are
/// therefore limited as at the token endpoint. The number of requests is not limited, because a resource server may
/// introspect a token for every request that it gets.
struct IntrospectionEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Reply {
    let request = intercepted.clientRequest()
    // The resource server means the gateway's own endpoint.
    if intercepted.policy.isEnforcing,
      Enforcement.hasSecretForGateway(introspection: request, policy: intercepted.policy)
    {
      return .response(await ResourceIntrospectionEndpoint(intercepted).respond())
    }
    let authentication = intercepted.authentication(of: request)
    // If the policy enforces no client, the request is observed, even if the policy refuses unknown clients.
    let isObserved =
      !intercepted.policy.isEnforcing || Enforcement.mode(of: request, policy: intercepted.policy) == .observe
    if let refused = intercepted.preliminaryRefusal(request, authentication, isObserved: isObserved) {
      return .response(refused)
    }
    if let rejection = Enforcement.authorizationRejection(ofIntrospection: request) {
      if intercepted.policy.isEnforcing { return .response(intercepted.tokenRejection(.withoutRedirect(rejection))) }
      intercepted.trail.recordWouldReject(rejection)
    }
    // The upstream does not know the ids of clients that the policy does not list.
    let ids = request.parameters.all(.clientID) + request.usersInAuthorization
    if ids.contains(where: intercepted.policy.isUnlistedID) {
      return .response(intercepted.tokenRejection(.withoutRedirect(.clientNotKnownAtToken)))
    }
    if isObserved { return await intercepted.observe(request, authentication) }
    return .response(await intercepted.pass(request, authentication))
  }
}
