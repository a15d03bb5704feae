import Enforcement
import HTTP
import OAuth
import Policy
import Proxy

/// The introspection endpoint (RFC 7662): a request passes as the resource server sent it, with its own credentials.
///
/// The gateway reads it because it could be used to guess the secrets that the gateway holds: a request that names an
/// upstream id whose secret the gateway holds is refused, and failed attempts are limited as at the token endpoint. The
/// number of requests is not limited, because a resource server may introspect a token for every request that it gets.
struct IntrospectionEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Reply {
    let request = intercepted.clientRequest()
    let authentication = (try? request.clientAuthentication()) ?? nil
    intercepted.note(clientID: authentication?.clientID.rawValue)
    // If the policy enforces no client, the request passes unchanged, regardless of the resource server's id.
    let isObserved =
      !intercepted.policy.isEnforcing || Enforcement.mode(of: request, policy: intercepted.policy) == .observe
    if let refused = intercepted.refused(request, authentication, isObserved: isObserved) { return .response(refused) }
    if isObserved { return await intercepted.observe(request, authentication) }
    return .response(await intercepted.pass(request, authentication))
  }
}
