import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

/// The endpoint for pushed authorization requests (RFC 9126): the gateway's own, of which the upstream never hears.
///
/// A request is judged here as it will be when the browser comes with its reference, so the app learns at once what is
/// wrong with it.
struct PushedAuthorizationEndpoint {
  private let exchange: Interception
  private let request: TokenRequest

  init(_ exchange: Interception) {
    self.exchange = exchange
    request = exchange.clientRequest(.atPushed)
  }

  func respond() async -> Reply {
    let authentication = (try? request.clientAuthentication()) ?? nil
    exchange.note(clientID: authentication?.clientID.rawValue)
    do throws(StoreError) {
      var isObserved = Enforcement.mode(of: request, policy: exchange.policy) == .observe
      if isObserved { isObserved = !(try await stateIsSealed()) }
      if let refused = exchange.refused(request, authentication, isObserved: isObserved) { return .response(refused) }
      if isObserved {
        return await exchange.observe(request, authentication)
      }
      return .response(try await decide(authentication))
    } catch {
      return .response(error == .tooLong ? tooLong() : exchange.tokenRefusal(.here(.storeUnavailable)))
    }
  }

  private func decide(_ authentication: ClientAuthentication?) async throws(StoreError) -> Response {
    let outcome = Enforcement.decidePushed(
      request, policy: exchange.policy, stateIsSealed: try await stateIsSealed())
    exchange.trail.note(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      if refusal.rejection == .clientAuthenticationFailed { exchange.countFailedCredentials(authentication) }
      return exchange.tokenRefusal(refusal)
    case .pass: return exchange.tokenRefusal(.here(.pushedNotAllowed))
    case .forward(let permit): return try await keep(permit)
    }
  }

  private func stateIsSealed() async throws(StoreError) -> Bool {
    guard let state = request.parameters[.state] else { return false }
    switch try await exchange.gateway.states.open(state, now: exchange.now) {
    case .value: return true
    case .invalid, .keyUnknown: return false
    }
  }

  private func keep(_ permit: PushedPermit) async throws(StoreError) -> Response {
    exchange.trail.note(permit.authorization.redirectURI)
    if let name = permit.authorization.overlongParameter {
      exchange.trail.refused(.parameterMalformed)
      return exchange.tokenError(.invalidRequest, status: 400, description: "\(name) is too long")
    }
    guard permit.query.utf8.count <= PushedRequests.longest else { return tooLong() }
    let uri = try await exchange.gateway.pushedRequests.push(
      permit, exchange.transactionID(), from: exchange.request.peer, now: exchange.now)
    return exchange.pushed(uri, lifetime: PushedRequests.lifetime)
  }

  /// RFC 9126, section 2.3.
  private func tooLong() -> Response {
    exchange.trail.refused(.parametersTooMany)
    return exchange.tokenError(.invalidRequest, status: 413, description: "the request is too long")
  }
}
