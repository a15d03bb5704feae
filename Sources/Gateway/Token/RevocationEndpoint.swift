import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores

/// The revocation endpoint (RFC 7009): a sealed refresh token becomes the upstream's own; everything else passes as the
/// client sent it.
struct RevocationEndpoint {
  private let exchange: Interception

  init(_ exchange: Interception) {
    self.exchange = exchange
  }

  func respond() async -> Reply {
    let request = exchange.clientRequest()
    let authentication = (try? request.clientAuthentication()) ?? nil
    exchange.note(clientID: authentication?.clientID.rawValue)
    let token = request.parameters[.token].map { Secret($0) }
    let opened: Opened<RefreshGrant> = token.map { exchange.gateway.sealer.opened($0.reveal()) } ?? .invalid
    var isObserved = false
    if case .invalid = opened { isObserved = Enforcement.mode(of: request, policy: exchange.policy) == .observe }
    if let refused = exchange.throttledAddress() ?? exchange.refused(request, authentication, isObserved: isObserved) {
      return .response(refused)
    }
    let outcome = Enforcement.decideRevocation(request, opened: opened, policy: exchange.policy)
    exchange.trail.note(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      // Only its client learns whose token it is: for others it is an invalid one, which is no error (RFC 7009,
      // section 2.2).
      if refusal.rejection == .refreshTokenForeign { return .response(exchange.revoked()) }
      if refusal.rejection == .clientAuthenticationFailed { exchange.countFailedCredentials(authentication) }
      return .response(exchange.tokenRefusal(refusal))
    case .pass where isObserved: return await exchange.observe(request, authentication)
    case .pass: return .response(await exchange.pass(request, authentication))
    case .forward(let form):
      guard case .value(let grant) = opened else {
        return .response(exchange.tokenRefusal(.here(.refreshTokenUnbound)))
      }
      return .response(await revoke(grant, with: form))
    }
  }

  /// Revokes the token upstream. The answer is the gateway's own: the upstream's could show the token or the credentials
  /// that were used.
  private func revoke(_ grant: RefreshGrant, with form: UpstreamTokenRequest) async -> Response {
    exchange.trail.family = grant.family
    if let client = exchange.policy.clients[grant.clientID], let throttled = exchange.throttled(proven: client) {
      return throttled
    }
    guard await isEnded(grant) else { return exchange.tokenRefusal(.here(.storeUnavailable)) }
    return switch await exchange.askForTokens(form) {
    case .failure(let failure): exchange.tokenFailure(failure)
    case .success(let upstream) where (200..<300).contains(upstream.status):
      if case .error = upstream.answer {
        exchange.answer(upstream, isHeld: form.usesHeldCredentials)
      } else {
        exchange.revoked()
      }
    case .success(let upstream): exchange.answer(upstream, isHeld: form.usesHeldCredentials)
    }
  }

  /// The family ends here too: an upstream that does not rotate knows only one token, of which there may be others sealed.
  private func isEnded(_ grant: RefreshGrant) async -> Bool {
    guard let client = exchange.policy.clients[grant.clientID] else { return true }
    do throws(StoreError) {
      _ = try await exchange.endFamily(grant.family, of: client, revoking: grant.generation + 1)
      return true
    } catch {
      return false
    }
  }
}
