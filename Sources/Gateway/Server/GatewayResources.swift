public import Policy
import Reactor
public import Stores
public import Telemetry

/// The resources that outlive a policy: the memory that all workers share, the metrics and the decision log.
public struct GatewayResources: Sendable {
  let store: any EphemeralStore
  let ledger: RedemptionLedger
  let codes: CodeLedger
  let families: RefreshLedger
  let metrics: MetricsRegistry
  let log: DecisionLog
  /// Returns the time in seconds since 1970, by which codes, tokens and transactions expire.
  let now: @Sendable () -> Int64
  let challenges = RecentChallenges()
  let observed = ObservedFlows()
  let requestIDs = RequestIDs()
  /// The dropped fields that were logged within the last minute.
  let droppedFields = RecentTexts()
  /// Limits wrong verifiers, by flow and address.
  let verifierAttempts: RateLimiter
  /// Limits failed client authentication, by client and address.
  let authenticationAttempts: RateLimiter
  let notices: OperatorNotices
  /// Informs the operator when the upstream stops and starts to accept connections.
  public let upstream: UpstreamWatch
  /// Limits requests to the token and revocation endpoints by address; the policy sets the rate.
  let tokenRequests: RateLimiter
  /// Limits requests to these endpoints by client; the policy sets the rate.
  let clientTokenRequests: RateLimiter
  /// The value of `max_buffer_memory` if the policy does not set it, in bytes.
  let bufferMemory: Int

  /// Creates the ledgers and limiters on top of the store.
  ///
  /// - Parameters:
  ///   - bufferMemory: The value of `max_buffer_memory` if the policy does not set it, in bytes.
  ///   - now: Returns the time, in seconds since 1970.
  ///   - notice: Informs the operator of a problem that a worker noticed; may block.
  public init(
    store: any EphemeralStore, metrics: MetricsRegistry, log: DecisionLog,
    bufferMemory: Int = LimitSettings.defaultBufferMemory,
    now: @escaping @Sendable () -> Int64 = { Int64(Clock.realSeconds()) },
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.store = store
    self.bufferMemory = bufferMemory
    self.now = now
    let notices = OperatorNotices(notice)
    self.notices = notices
    upstream = UpstreamWatch(notices)
    store.reportShortages { usage in
      let kind = usage.kind.row
      notices.report(
        "the store's share for \(kind.name) entries is 80 % full; "
          + (kind.whenFull == .refuse
            ? "once it is full, requests that need one get 503; enlarge `gateway.store`"
            : "once it is full, the oldest entries of the largest holder are dropped; enlarge `gateway.store`"))
    }
    metrics.measureStore {
      store.usage.map {
        StoreSeries(
          kind: $0.kind.row.name, entries: $0.entries, bytes: $0.bytes, share: $0.share, evictions: $0.evictions,
          refusals: $0.refusals)
      }
    }
    self.metrics = metrics
    self.log = log
    ledger = RedemptionLedger(store: store)
    codes = CodeLedger(store: store)
    families = RefreshLedger(store: store)
    // A user retries a few times. A program that guesses exceeds the limit and learns nothing: a verifier has 256 bits.
    verifierAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    authenticationAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    tokenRequests = RateLimiter(TokenBucket.Rate(burst: 3_000, perMinute: 3_000))
    clientTokenRequests = RateLimiter(TokenBucket.Rate(burst: 30_000, perMinute: 30_000))
  }
}
