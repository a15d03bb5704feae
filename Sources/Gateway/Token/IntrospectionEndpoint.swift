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
  private let exchange: Interception

  init(_ exchange: Interception) {
    self.exchange = exchange
  }

  func respond() async -> Reply {
    let request = exchange.clientRequest()
    let authentication = (try? request.clientAuthentication()) ?? nil
    exchange.note(clientID: authentication?.clientID.rawValue)
    // Without an enforced client, the request passes as it came whatever id the resource server has.
    let isObserved = !exchange.policy.isEnforcing || Enforcement.mode(of: request, policy: exchange.policy) == .observe
    if let refused = exchange.refused(request, authentication, isObserved: isObserved) { return .response(refused) }
    if isObserved { return await exchange.observe(request, authentication) }
    return .response(await exchange.pass(request, authentication))
  }
}
