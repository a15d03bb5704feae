public import Stores
public import Telemetry

/// What outlives a policy: memory that all workers share, and where numbers and decisions go.
public struct GatewayResources: Sendable {
  let store: any EphemeralStore
  let ledger: RedemptionLedger
  let metrics: MetricsRegistry
  let log: DecisionLog
  /// Wrong verifiers, by flow and address.
  let verifierAttempts: RateLimiter
  /// Failed client authentication, by client and address.
  let authenticationAttempts: RateLimiter

  public init(store: any EphemeralStore, metrics: MetricsRegistry, log: DecisionLog) {
    self.store = store
    self.metrics = metrics
    self.log = log
    ledger = RedemptionLedger(store: store)
    // A client retries by hand a few times; a program that guesses runs dry and learns nothing: a verifier has 256 bits.
    verifierAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    authenticationAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
  }
}
