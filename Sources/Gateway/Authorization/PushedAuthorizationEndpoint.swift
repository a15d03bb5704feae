import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Telemetry

/// The gateway's endpoint for pushed authorization requests (RFC 9126). The gateway stores an enforced request, and
/// forwards an observed request to the upstream (`I-observe`).
///
/// The rules for authorization requests, except the rule on the user agent, run before an enforced request is stored,
/// so that the app gets error responses immediately. All rules run again when the browser presents the `request_uri` of
/// the stored request.
struct PushedAuthorizationEndpoint {
  private let intercepted: InterceptedRequest
  private let request: TokenRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
    request = intercepted.clientRequest(.atPushed)
  }

  func respond() async -> Reply {
    let authentication = intercepted.authentication(of: request)
    do throws(StoreError) {
      var isObserved = Enforcement.mode(of: request, policy: intercepted.policy) == .observe
      // A sealed state belongs to a transaction, so a request with it is always enforced.
      if isObserved { isObserved = !(try await stateIsSealed()) }
      if let refused = intercepted.preliminaryRefusal(request, authentication, isObserved: isObserved) {
        return .response(refused)
      }
      if isObserved {
        return await intercepted.observe(request, authentication)
      }
      return .response(try await decide(authentication))
    } catch {
      return .response(
        error == .tooLong ? refuseLongRequest() : intercepted.tokenRejection(.withoutRedirect(.storeUnavailable)))
    }
  }

  private func decide(_ authentication: ClientAuthentication?) async throws(StoreError) -> Response {
    // The rules would copy a request that is too long some times before it is refused.
    let length = request.parameters.entries.reduce(0) { $0 + $1.value.utf8.count }
    guard length <= PushedRequests.maximumLength else { return refuseLongRequest() }
    let outcome = Enforcement.decidePushed(
      request, policy: intercepted.policy, stateIsSealed: try await stateIsSealed(),
      unlisted: intercepted.unlistedClient(of: request))
    intercepted.trail.record(outcome)
    var details = RequestDetails(authorization: request.parameters)
    details.setAuthentication(authentication)
    intercepted.trail.details = details
    switch outcome.decision {
    case .reject(let refusal):
      if refusal.rejection == .clientAuthenticationFailed { intercepted.countFailedCredentials(authentication) }
      return intercepted.tokenRejection(refusal)
    case .pass: return intercepted.tokenRejection(.withoutRedirect(.pushedNotAllowed))
    case .forward(let permit): return try await store(permit)
    }
  }

  /// Returns true if the gateway sealed the `state` of the request. A client must not send such a state.
  private func stateIsSealed() async throws(StoreError) -> Bool {
    for state in request.all(.state) {
      if case .value = try await intercepted.gateway.states.open(state, now: intercepted.now) { return true }
    }
    return false
  }

  private func store(_ permit: PushedPermit) async throws(StoreError) -> Response {
    intercepted.trail.recordRedirectKind(of: permit.authorization.redirectURI)
    if let name = permit.authorization.overlongParameter {
      intercepted.trail.recordRefusal(.parameterTooLong)
      return intercepted.tokenError(.invalidRequest, status: 400, description: "\(name) is too long")
    }
    guard permit.query.utf8.count <= PushedRequests.maximumLength else { return refuseLongRequest() }
    let uri = try await intercepted.gateway.pushedRequests.push(
      permit, intercepted.ensureTransactionID(), from: intercepted.request.peer, now: intercepted.now)
    return intercepted.pushedResponse(uri, lifetime: PushedRequests.lifetime)
  }

  /// Refuses a request that is too long (RFC 9126, section 2.3).
  private func refuseLongRequest() -> Response {
    intercepted.trail.recordRefusal(.parametersTooMany)
    return intercepted.tokenError(.invalidRequest, status: 413, description: "the request is too long")
  }
}
