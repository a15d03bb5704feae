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
  /// Seconds since 1970: what codes, tokens and transactions are measured by.
  let now: @Sendable () -> Int64
  let challenges = RecentChallenges()
  let observed = ObservedFlows()
  let requestIDs = RequestIDs()
  /// The dropped fields that have a line of their own in the log already.
  let droppedFields = RecentTexts()
  /// Wrong verifiers, by flow and address.
  let verifierAttempts: RateLimiter
  /// Failed client authentication, by client and address.
  let authenticationAttempts: RateLimiter
  let notices: OperatorNotices
  public let upstream: UpstreamWatch
  /// Requests to the token and revocation endpoints, by address and by client; the policy says the rates.
  let tokenRequests: RateLimiter
  let clientTokenRequests: RateLimiter
  /// Bytes of `max_buffer_memory` where the policy does not say.
  let bufferMemory: Int

  /// - Parameters:
  ///   - now: what time it is, in seconds since 1970.
  ///   - bufferMemory: bytes of `max_buffer_memory` where the policy does not say.
  ///   - notice: informs the operator of what workers noticed; may block.
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
            : "once it is full, the oldest of the largest holder go; enlarge `gateway.store`"))
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
    // A client retries by hand a few times; a program that guesses runs dry and learns nothing: a verifier has 256 bits.
    verifierAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    authenticationAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    tokenRequests = RateLimiter(TokenBucket.Rate(burst: 3_000, perMinute: 3_000))
    clientTokenRequests = RateLimiter(TokenBucket.Rate(burst: 30_000, perMinute: 30_000))
  }
}
