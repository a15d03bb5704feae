import Enforcement
import HTTP
import OAuth
import Policy
import Reactor
import Stores
import Telemetry

/// Limits of the endpoints that clients call directly.
///
/// The order matters. Requests that any program can send count by address alone. A client's own limit counts only
/// requests that carry a value sealed to it, or in which the gateway verified its secret: naming a client does not
/// count against it. Attempts at a secret count by client and address, and the limit applies before the secret is
/// compared, so that a program that guesses learns nothing once it is over the limit.
extension InterceptedRequest {
  /// Returns the response to a token or revocation request beyond the limit of its address; `nil` within the limit.
  ///
  /// Requests from this machine are not limited, as for connections.
  func throttledAddress() -> Response? {
    let limit = policy.gateway.limits.tokenRequestsPerAddress
    guard limit > 0, !request.peer.isLoopback else { return nil }
    return throttled(
      RateKey(address: request.peer.address), by: gateway.resources.tokenRequests, perMinute: limit,
      .tokenRequestsPerAddress)
  }

  /// Returns the response to a request beyond the limit of its client; `nil` within the limit. A sealed value or a
  /// verified secret proves that the request is the client's own.
  func throttled(proven client: Client) -> Response? {
    let limit = policy.gateway.limits.tokenRequestsPerClient
    guard limit > 0 else { return nil }
    return throttled(
      RateKey(client: client.id), by: gateway.resources.clientTokenRequests, perMinute: limit, .tokenRequestsPerClient)
  }

  /// Takes a token from the bucket, whose burst is the rate of one minute.
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

  /// Returns the response to credentials of a client that failed too often from this address; they are not compared
  /// then.
  func throttledCredentials(_ authentication: ClientAuthentication?) -> Response? {
    guard let authentication, authentication.method != .none else { return nil }
    let limiter = gateway.resources.authenticationAttempts
    guard let seconds = limiter.retryAfter(attempts(of: authentication.clientID), now: milliseconds) else { return nil }
    trail.refused(.clientAuthenticationFailed)
    return tokenThrottled("too many failed attempts", retryAfter: seconds)
  }

  /// Counts wrong credentials.
  func countFailedCredentials(_ authentication: ClientAuthentication?) {
    guard let authentication, authentication.method != .none else { return }
    _ = gateway.resources.authenticationAttempts.take(attempts(of: authentication.clientID), now: milliseconds)
  }

  private func attempts(of client: ClientID) -> RateKey { RateKey(client: client, address: request.peer.address) }

  /// Returns the response that replaces a refusal after too many wrong verifiers of a code.
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
