import Enforcement
import HTTP
import OAuth
import Reactor
import Stores

/// Failed attempts at a secret, counted after it was compared: whoever has the right one is never kept waiting by those
/// who guess. They learn nothing from that, for secrets are too long to be guessed; they only cost less.
extension Interception {
  /// The answer in place of a refusal when this client failed too often to prove itself from this address.
  func throttledAuthentication(of client: ClientID?, _ refusal: Refusal) -> Response? {
    guard refusal.rejection == .clientAuthenticationFailed else { return nil }
    return throttled(
      RateKey(client: client, address: request.peer.address), by: gateway.resources.authenticationAttempts, refusal)
  }

  /// The same for wrong verifiers of a code.
  func throttledVerifier(of opened: Opened<IssuedCode>, _ refusal: Refusal) -> Response? {
    guard refusal.rejection == .verifierMismatch, case .value(let code) = opened else { return nil }
    return throttled(
      RateKey(transaction: code.transactionID, address: request.peer.address), by: gateway.resources.verifierAttempts,
      refusal)
  }

  private func throttled(_ key: RateKey, by limiter: RateLimiter, _ refusal: Refusal) -> Response? {
    let milliseconds = Int64(Clock.monotonicNanoseconds() / 1_000_000)
    guard !limiter.take(key, now: milliseconds) else { return nil }
    trail.refused(refusal.rejection)
    return tokenThrottled(retryAfter: limiter.retryAfter(key, now: milliseconds) ?? 1)
  }
}
