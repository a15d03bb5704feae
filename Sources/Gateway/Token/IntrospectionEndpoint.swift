import Enforcement
import HTTP
import OAuth
import Policy
import Proxy

/// The introspection endpoint (RFC 7662): a request passes as the resource server sent it, with its own credentials.
///
/// It is read because it could be used to guess the secrets that the gateway holds: a request that names a held upstream id
/// is refused, and failed attempts are limited as at the token endpoint. The number of requests is not limited, because a
/// resource server may ask for each request that it gets.
struct IntrospectionEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Reply {
    let request = intercepted.clientRequest()
    let authentication = (try? request.clientAuthentication()) ?? nil
    intercepted.note(clientID: authentication?.clientID.rawValue)
    // Without an enforced client, the request passes as it came whatever id the resource server has.
    let isObserved =
      !intercepted.policy.isEnforcing || Enforcement.mode(of: request, policy: intercepted.policy) == .observe
    if let refused = intercepted.refused(request, authentication, isObserved: isObserved) { return .response(refused) }
    if isObserved { return await intercepted.observe(request, authentication) }
    return .response(await intercepted.pass(request, authentication))
  }
}
