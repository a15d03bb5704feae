import Enforcement
import HTTP
import OAuth
import Policy
import Reactor
import Stores
import Telemetry

/// Failed attempts at a secret, counted after it was compared: whoever has the right one is never kept waiting by those
/// who guess. They learn nothing from that, for secrets are too long to be guessed; they only cost less.
extension Interception {
  /// The answer to a token or revocation request that is one too many: of its address, or of the client that it names.
  ///
  /// The address comes first, so that no one address uses up what a client has. Who is on this machine is no stranger, as
  /// for connections.
  func throttledRequest(of client: ClientID?) -> Response? {
    let limits = policy.gateway.limits
    let milliseconds = Int64(Clock.monotonicNanoseconds() / 1_000_000)
    if limits.tokenRequestsPerAddress > 0, !request.peer.isLoopback {
      let response = throttled(
        RateKey(address: request.peer.address), by: gateway.resources.tokenRequests,
        perMinute: limits.tokenRequestsPerAddress, .tokenRequestsPerAddress, now: milliseconds)
      if let response { return response }
    }
    guard limits.tokenRequestsPerClient > 0, let client, policy.clients[client] != nil else { return nil }
    return throttled(
      RateKey(client: client), by: gateway.resources.clientTokenRequests, perMinute: limits.tokenRequestsPerClient,
      .tokenRequestsPerClient, now: milliseconds)
  }

  /// A bucket holds what a minute brings.
  private func throttled(
    _ key: RateKey, by limiter: RateLimiter, perMinute: Int, _ limit: LimitKind, now: Int64
  ) -> Response? {
    let rate = TokenBucket.Rate(burst: perMinute, perMinute: perMinute)
    guard !limiter.take(key, at: rate, now: now) else { return nil }
    gateway.limited(limit)
    trail.refused(.tooManyRequests)
    return tokenThrottled("too many requests", retryAfter: limiter.retryAfter(key, at: rate, now: now) ?? 1)
  }

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
    return tokenThrottled("too many failed attempts", retryAfter: limiter.retryAfter(key, now: milliseconds) ?? 1)
  }
}
