import Enforcement
import HTTP
import OAuth
import Policy
import Reactor
import Stores
import Telemetry
import Time

/// The first steps at the endpoints that clients call directly: parse the request, apply the limits, and refuse a
/// request with a client id whose secret only the gateway may use.
///
/// All token and revocation requests count towards the limit of their address. A request counts towards the limit of a
/// client only if it had an effect: if it used a code or token that the gateway sealed for the client, or if the gateway
/// has verified the secret of the client and sends the request upstream. Any program can send the id of the client, and
/// keep sending a code or token that has been used, has ended or is refused by the upstream. The polls of a device flow
/// count for the flow and its network. Failed attempts to authenticate count for the pair of client and address. After too
/// many failed attempts, the gateway no longer compares the secret, so a program that guesses secrets learns nothing.
extension InterceptedRequest {
  /// Parses a request to an endpoint that clients call directly, such as the token endpoint (RFC 6749, section 3.2).
  ///
  /// - Parameter names: The parameters that the endpoint defines.
  func clientRequest(_ names: ParameterNames = .atToken) -> TokenRequest {
    defer { chargeWork() }
    return TokenRequest(
      method: request.method, query: request.query, contentTypes: request.headers.all("Content-Type"),
      contentEncodings: request.headers.all("Content-Encoding"), authorization: request.headers.all("Authorization"),
      body: request.body, definedParameters: names, hasDPoPProof: request.headers.contains("DPoP"),
      hasClientCertificate: request.headers.fields.contains { InterceptedRequest.certificateFields.contains($0.name) })
  }

  /// Returns the client id and the credentials of a request that the client sends directly, and records the client for
  /// the log. Returns `nil` if the request has no client id, or if its credentials are malformed.
  func authentication(of request: TokenRequest) -> ClientAuthentication? {
    let authentication = request.readableClientAuthentication
    recordClient(id: authentication?.clientID.rawValue ?? request.clientID)
    return authentication
  }

  /// The fields in which a TLS-terminating proxy forwards the client certificate (RFC 9440, and older names). They are
  /// already removed from requests that do not come from a trusted proxy.
  private static let certificateFields: FieldNames = [
    "client-cert", "x-client-cert", "x-ssl-client-cert", "ssl-client-cert", "x-forwarded-client-cert",
    "x-forwarded-tls-client-cert",
  ]

  /// Returns the refusal of a request after too many failed attempts to authenticate, or of a request with an upstream
  /// client id whose secret the gateway holds; otherwise `nil`. A request that cannot be searched for such ids is also
  /// refused.
  ///
  /// - Parameter isObserved: True if the request is only observed. The limit of failed attempts then applies only to
  ///   client ids whose secret the gateway holds.
  func preliminaryRefusal(
    _ request: TokenRequest, _ authentication: ClientAuthentication?, isObserved: Bool
  ) -> Response? {
    if !isObserved || namesClientWithUpstreamSecret(authentication),
      let throttled = throttledCredentials(authentication)
    {
      return throttled
    }
    let snapshot = gateway.snapshot
    guard let rejection = Enforcement.guardedIDRejection(in: request, guarded: snapshot.identifiers, policy: policy)
    else {
      if isObserved,
        let finding = Enforcement.guardedIDRejection(
          in: request, guarded: snapshot.identifiersIfEnforced, policy: policy)
      {
        trail.recordWouldReject(finding)
      }
      return nil
    }
    return tokenRejection(.withoutRedirect(rejection))
  }

  /// Returns true if the gateway holds the upstream secret for the client id in the credentials.
  func namesClientWithUpstreamSecret(_ authentication: ClientAuthentication?) -> Bool {
    authentication.map { gateway.snapshot.identifiers.idsWithUpstreamSecret.contains($0.clientID.rawValue) } ?? false
  }

  // MARK: Limits

  /// Counts a token or revocation request for its address. Returns the response for a request beyond the limit; `nil`
  /// within the limit.
  ///
  /// Requests from this machine are not limited.
  func throttledAddress() -> Response? {
    let limit = policy.gateway.limits.tokenRequestsPerAddress
    guard limit > 0, !request.peer.isLoopback else { return nil }
    return throttled(
      RateKey(address: request.peer.address), by: gateway.resources.tokenRequests, perMinute: limit,
      .tokenRequestsPerAddress)
  }

  /// Returns the response for a request of a client that is beyond its limit; `nil` within the limit. Counts nothing:
  /// ``countUse(by:)`` counts a request that has an effect.
  ///
  /// - Parameter client: The client that has proven, by a sealed value or its secret, that it sent the request.
  func throttled(proven client: Client) -> Response? {
    guard let rate = clientRate else { return nil }
    let wait = gateway.resources.clientTokenRequests.retryAfter(
      RateKey(client: client.id), at: rate, now: SystemClock.monotonicTime())
    return wait.map { tooManyRequests(.tokenRequestsPerClient, retryAfter: $0) }
  }

  /// Counts a request for its client: one whose code or token is used now, so that it cannot be repeated, or one with a
  /// verified secret.
  func countUse(by client: Client) {
    guard let rate = clientRate else { return }
    _ = gateway.resources.clientTokenRequests.take(
      RateKey(client: client.id), at: rate, now: SystemClock.monotonicTime())
  }

  private var clientRate: TokenBucket.Rate? {
    let limit = policy.gateway.limits.tokenRequestsPerClient
    return limit > 0 ? TokenBucket.Rate(burst: limit, perMinute: limit) : nil
  }

  /// Counts a request that uses up nothing: a poll of a device flow, or another revocation of a login that has ended.
  /// Returns false beyond the limit of the flow or login and the network of the request. The limit is that of no client,
  /// so that such requests cannot use up the limit of one.
  func countRepeatable(in transaction: TransactionID) -> Bool {
    gateway.resources.repeatableRequests.take(
      RateKey(transaction: transaction, network: request.peer.address), now: SystemClock.monotonicTime())
  }

  /// Takes one token from the token bucket of `key`. Returns the response for a request beyond the limit; `nil` within
  /// the limit.
  ///
  /// - Parameter perMinute: The number of requests per minute, which is also the capacity of the bucket.
  func throttled(
    _ key: RateKey, by limiter: RateLimiter, perMinute: Int, _ limit: LimitKind
  ) -> Response? {
    let rate = TokenBucket.Rate(burst: perMinute, perMinute: perMinute)
    let now = SystemClock.monotonicTime()
    guard !limiter.take(key, at: rate, now: now) else { return nil }
    return tooManyRequests(limit, retryAfter: limiter.retryAfter(key, at: rate, now: now) ?? 1)
  }

  private func tooManyRequests(_ limit: LimitKind, retryAfter wait: Seconds) -> Response {
    gateway.recordLimit(limit)
    trail.recordRefusal(.tooManyRequests)
    return tokenThrottled("too many requests", retryAfter: wait)
  }

  // MARK: Failed attempts

  /// Returns the response for a request with credentials after too many failed attempts for the same client id from
  /// this address; otherwise `nil`. If the result is a response, the caller must not compare the credentials.
  func throttledCredentials(_ authentication: ClientAuthentication?) -> Response? {
    guard let authentication, authentication.method != .none else { return nil }
    let limiter = gateway.resources.authenticationAttempts
    let wait = limiter.retryAfter(attemptsKey(of: authentication.clientID), now: SystemClock.monotonicTime())
    guard let wait else { return nil }
    trail.recordRefusal(.clientAuthenticationFailed)
    return tokenThrottled("too many failed attempts", retryAfter: wait)
  }

  /// Counts a failed attempt to authenticate.
  func countFailedCredentials(_ authentication: ClientAuthentication?) {
    guard let authentication, authentication.method != .none else { return }
    let limiter = gateway.resources.authenticationAttempts
    _ = limiter.take(attemptsKey(of: authentication.clientID), now: SystemClock.monotonicTime())
  }

  private func attemptsKey(of client: ClientID) -> RateKey { RateKey(client: client, address: request.peer.address) }

  /// Counts a wrong code verifier. If this address has sent too many wrong verifiers for the same transaction, returns
  /// the response that replaces the refusal; otherwise `nil`.
  ///
  /// - Parameters:
  ///   - opened: The decrypted code.
  ///   - refusal: The refusal of the request. Only `verifierMismatch` counts.
  func throttledVerifier(of opened: Opened<IssuedCode>, _ refusal: RejectionResponse) -> Response? {
    guard refusal.rejection == .verifierMismatch, case .value(let code) = opened else { return nil }
    let key = RateKey(transaction: code.transactionID, address: request.peer.address)
    let limiter = gateway.resources.verifierAttempts
    let now = SystemClock.monotonicTime()
    guard !limiter.take(key, now: now) else { return nil }
    trail.recordRefusal(refusal.rejection)
    return tokenThrottled("too many failed attempts", retryAfter: limiter.retryAfter(key, now: now) ?? 1)
  }
}
