import Enforcement
import HTTP
import OAuth
import Policy
import Reactor
import Stores
import Telemetry

/// Limits of the endpoints that clients call.
///
/// The order matters. What anybody can cause counts by address alone. A client's own limit counts only requests that carry
/// a value sealed to it, or in which the gateway verified its secret: to name a client costs it nothing. Attempts at a
/// secret count by client and address, and the limit applies before the secret is compared, so that a program which
/// guesses learns nothing once it is over the limit.
extension InterceptedRequest {
  /// The answer to a token or revocation request that is one too many of its address.
  ///
  /// Requests from this machine are not limited, as for connections.
  func throttledAddress() -> Response? {
    let limit = policy.gateway.limits.tokenRequestsPerAddress
    guard limit > 0, !request.peer.isLoopback else { return nil }
    return throttled(
      RateKey(address: request.peer.address), by: gateway.resources.tokenRequests, perMinute: limit,
      .tokenRequestsPerAddress)
  }

  /// The answer to a request that is one too many of its client, which a sealed value or a verified secret shows to be its
  /// own.
  func throttled(proven client: Client) -> Response? {
    let limit = policy.gateway.limits.tokenRequestsPerClient
    guard limit > 0 else { return nil }
    return throttled(
      RateKey(client: client.id), by: gateway.resources.clientTokenRequests, perMinute: limit, .tokenRequestsPerClient)
  }

  /// A bucket holds what a minute brings.
  private func throttled(
    _ key: RateKey, by limiter: RateLimiter, perMinute: Int, _ limit: LimitKind
  ) -> Response? {
    let rate = TokenBucket.Rate(burst: perMinute, perMinute: perMinute)
    let now = milliseconds
    guard !limiter.take(key, at: rate, now: now) else { return nil }
    gateway.limited(limit)
    trail.refused(.tooManyRequests)
    return tokenThrottled("too many requests", retryAfter: limiter.retryAfter(key, at: rate, now: now) ?? 1)
  }

  // MARK: Attempts at a secret

  /// The answer to credentials of a client that failed too often from this address; nothing is compared then.
  func throttledCredentials(_ authentication: ClientAuthentication?) -> Response? {
    guard let authentication, authentication.method != .none else { return nil }
    let limiter = gateway.resources.authenticationAttempts
    guard let seconds = limiter.retryAfter(attempts(of: authentication.clientID), now: milliseconds) else { return nil }
    trail.refused(.clientAuthenticationFailed)
    return tokenThrottled("too many failed attempts", retryAfter: seconds)
  }

  /// Counts credentials that were wrong.
  func countFailedCredentials(_ authentication: ClientAuthentication?) {
    guard let authentication, authentication.method != .none else { return }
    _ = gateway.resources.authenticationAttempts.take(attempts(of: authentication.clientID), now: milliseconds)
  }

  private func attempts(of client: ClientID) -> RateKey { RateKey(client: client, address: request.peer.address) }

  /// The answer in place of a refusal after too many wrong verifiers of a code.
  func throttledVerifier(of opened: Opened<IssuedCode>, _ refusal: RejectionResponse) -> Response? {
    guard refusal.rejection == .verifierMismatch, case .value(let code) = opened else { return nil }
    let key = RateKey(transaction: code.transactionID, address: request.peer.address)
    let limiter = gateway.resources.verifierAttempts
    let now = milliseconds
    guard !limiter.take(key, now: now) else { return nil }
    trail.refused(refusal.rejection)
    return tokenThrottled("too many failed attempts", retryAfter: limiter.retryAfter(key, now: now) ?? 1)
  }

  private var milliseconds: Int64 { Int64(Clock.monotonicNanoseconds() / 1_000_000) }
}
