import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Time

/// The gateway's own introspection endpoint (RFC 7662), for the resource servers in `resources`. A resource server
/// learns only of tokens for its own resource; every other token is inactive.
struct ResourceIntrospectionEndpoint {
  static let path = GatewaySettings.ownPath + "introspect"

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  /// Returns true if the policy lists a resource server.
  static func isOpen(_ policy: Policy) -> Bool { policy.resources.all.contains { $0.introspection != nil } }

  func respond() async -> Response {
    let request = intercepted.clientRequest(.atIntrospection)
    let authentication = request.readableClientAuthentication
    let outcome = Enforcement.decideIntrospection(request, policy: intercepted.policy)
    // The right secret is always accepted: it has at least 128 bits, so no guess finds it, and a stranger with the
    // address of the resource server cannot lock it out.
    if outcome.refusal != nil, let throttled = intercepted.throttledCredentials(authentication) { return throttled }
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return intercepted.tokenRejection(refusal)
    // Not reached: the decision is never to pass.
    case .pass: return intercepted.tokenRejection(.withoutRedirect(.clientUnauthenticated))
    case .forward(let permit): return await answer(permit)
    }
  }

  private func answer(_ permit: IntrospectionPermit) async -> Response {
    let check = TokenCheck(
      gateway: intercepted.gateway, upstream: intercepted.upstream, peer: intercepted.request.peer,
      trail: intercepted.trail)
    do throws(TokenCheck.Failure) {
      guard let token = try await check.active(permit.token, for: permit.resource) else {
        return intercepted.tokenResponse(["active": .bool(false)])
      }
      return intercepted.tokenResponse(members(of: token, permit.resource))
    } catch {
      switch error {
      case .store: return intercepted.tokenRejection(.withoutRedirect(.storeUnavailable))
      case .upstream(let failure?): return intercepted.tokenFailure(failure)
      case .upstream(nil): return intercepted.tokenRejection(.withoutRedirect(.upstreamFailed))
      }
    }
  }

  /// Returns the members of the response for an active token (RFC 7662, section 2.2).
  private func members(of token: TokenCheck.ActiveToken, _ resource: Resource) -> [String: JSONValue] {
    var members = token.user
    members["active"] = .bool(true)
    members["token_type"] = .string("Bearer")
    members["iss"] = .string(intercepted.policy.gateway.issuer)
    members["aud"] = .string(resource.uri.text)
    members["iat"] = .integer(Int64(token.record.issuedAt.seconds))
    members["exp"] = .integer(Int64(token.record.expiry.seconds))
    if let scope = token.record.scope { members["scope"] = .string(scope.text) }
    if let client = token.client { members["client_id"] = .string(client.rawValue) }
    return members
  }
}
