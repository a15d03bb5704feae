public import AccessLog
internal import ClientDocuments
public import Policy
public import Reactor
public import Stores
public import Telemetry
public import Time

/// The resources that stay the same across reloads of the policy and that all workers share: the store and the tables
/// in memory, the metrics and the decision log.
public struct GatewayResources: Sendable {
  let store: any EphemeralStore
  /// Prepares the store for use on a worker, before the worker accepts clients; `nil` if the store needs no
  /// preparation.
  let startStore: (@Sendable (isolated Worker) -> Void)?
  /// Enforces the single use of the gateway's codes.
  let redemptions: RedemptionLedger
  /// Records the transaction to which each code of the upstream belongs.
  let codes: CodeLedger
  /// Keeps the state of each refresh token family: all refresh tokens that follow from one code.
  let refreshFamilies: RefreshLedger
  let metrics: MetricsRegistry
  let log: DecisionLog
  /// The access log of the proxies; it has no destination unless the policy names one.
  public let accessLog: AccessLog
  /// Returns the current time. Codes, tokens and transactions expire according to this time.
  let now: @Sendable () -> UnixTime
  /// The code challenges of recent authorization requests, to find a challenge that several browsers send.
  let recentChallenges = RecentChallenges()
  let observedFlows = ObservedFlows()
  /// The latest copy of the upstream's metadata document.
  let upstreamMetadata = UpstreamMetadataCache()
  /// The client ID metadata documents that were fetched.
  let documents = DocumentCache()
  let requestIDKey = RequestIDs.Key()
  /// The names of dropped header fields that were logged within the last minute.
  let droppedFields = RecentTexts()
  /// Limits wrong code verifiers, by transaction and address.
  let verifierAttempts: RateLimiter
  /// Limits failed client authentication, by client and address.
  let authenticationAttempts: RateLimiter
  /// Limits wrong user codes. Their look-up is short.
  let userCodeGuesses = GuessLimits(tokensOfGuess: 1)
  /// Limits the sign-ins whose codes the upstream refuses. 240 redemptions of sign-ins in one network may wait for the
  /// upstream at the same time.
  let codeGuesses = GuessLimits(tokensOfGuess: 8)
  /// Counts the user codes that this process has issued and that have not expired.
  let liveUserCodes = LiveUserCodes()
  let notices: OperatorNotices
  let failures: FailureNotices
  /// Informs the operator when the upstream stops and starts to accept connections.
  public let upstreamWatch: UpstreamWatch
  /// Limits requests to the token and revocation endpoints by address; the policy sets the rate.
  let tokenRequests: RateLimiter
  /// Limits requests to the token and revocation endpoints by client. Counts a request only if it uses a sealed value of
  /// the client, or has its verified secret. The policy sets the rate.
  let clientTokenRequests: RateLimiter
  /// Limits requests that can be repeated without an effect, by device flow or login and by network.
  let repeatableRequests: RateLimiter
  /// Limits registrations by network; the policy sets the rate.
  let registrationsPerNetwork: RateLimiter
  /// Limits all registrations together; the policy sets the rate.
  let registrations: RateLimiter
  /// Limits the work on expensive requests, by address.
  let processorTime: ProcessorTime
  /// The default of `max_buffer_memory`, in bytes.
  let bufferMemory: Int

  /// Creates the ledgers that keep their entries in `store`, and the limiters. Makes `metrics` measure the store, and
  /// lets the store inform the operator when it is nearly full or unavailable.
  ///
  /// - Parameters:
  ///   - startStore: Prepares the store for use on a worker; `nil` if the store needs no preparation.
  ///   - isEpochStrict: True if a refresh token family ends when the store loses the family's record and begins a new
  ///     epoch (`store_epoch: strict`). If false, the family may be refreshed once more.
  ///   - bufferMemory: The default of `max_buffer_memory`, in bytes.
  ///   - now: Returns the current time.
  ///   - workClock: Measures the work on expensive requests.
  ///   - notice: Informs the operator of a problem that a worker noticed. The closure runs on a separate thread, so it
  ///     may block.
  public init(
    store: any EphemeralStore, startStore: (@Sendable (isolated Worker) -> Void)? = nil, metrics: MetricsRegistry,
    log: DecisionLog, isEpochStrict: Bool = false,
    bufferMemory: Int = LimitSettings.defaultBufferMemory,
    now: @escaping @Sendable () -> UnixTime = { SystemClock.unixTime() },
    workClock: @escaping @Sendable () -> MonotonicInstant = { SystemClock.monotonicInstant() },
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.store = store
    self.startStore = startStore
    self.bufferMemory = bufferMemory
    self.now = now
    let notices = OperatorNotices(notice)
    self.notices = notices
    failures = FailureNotices(notices)
    upstreamWatch = UpstreamWatch(notices)
    store.reportShortages { usage in
      let kind = usage.kind.properties
      notices.report(
        "the store's share for \(kind.name) entries is 80 % full; "
          + (kind.whenFull == .refuse
            ? "once it is full, requests that need one get 503; enlarge `gateway.store`"
            : "once it is full, the oldest entries of the largest holder are dropped; enlarge `gateway.store`"))
    }
    metrics.setStoreMeasurement {
      // A store in another process counts its entries only while metrics are collected.
      store.beginCount()
      return store.usage.map {
        StoreSeries(
          kind: $0.kind.properties.name, entries: $0.entries, bytes: $0.bytes, share: $0.share > 0 ? $0.share : nil,
          evictions: $0.evictions, refusals: $0.refusals)
      }
    }
    metrics.setStoreCountMeasurement {
      store.latestCount.map { StoreCountSeries(age: $0.age.map { Seconds($0) }, problem: $0.problem) }
    }
    store.reportOutages { notices.report($0) }
    metrics.setStoreActivityMeasurement {
      store.activity.map { activity in
        StoreActivitySeries(
          engine: activity.engine, epoch: String(activity.epoch, radix: 16), outage: activity.outage,
          buckets: activity.durations, nanoseconds: activity.nanoseconds,
          failures: StoreFailure.allCases.map { .init(reason: $0.rawValue, count: activity.failures[$0] ?? 0) })
      }
    }
    self.metrics = metrics
    self.log = log
    accessLog = AccessLog(workers: metrics.workers.count, metrics: metrics) { notices.report($0) }
    redemptions = RedemptionLedger(store: store)
    codes = CodeLedger(store: store)
    refreshFamilies = RefreshLedger(store: store, isStrict: isEpochStrict)
    // A user retries a few times. A program that guesses exceeds the limit, and has no chance to find a verifier, which
    // has at least 43 characters (RFC 7636, section 4.1).
    verifierAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    authenticationAttempts = RateLimiter(TokenBucket.Rate(burst: 20, perMinute: 20))
    // The rates of these limiters are not used to count requests: each request is counted at the policy's rate.
    tokenRequests = RateLimiter(TokenBucket.Rate(burst: 3_000, perMinute: 3_000))
    clientTokenRequests = RateLimiter(TokenBucket.Rate(burst: 30_000, perMinute: 30_000))
    // A device polls every five seconds (RFC 8628, section 3.2), and may be one of a few instances behind one address.
    repeatableRequests = RateLimiter(TokenBucket.Rate(burst: 60, perMinute: 60))
    registrationsPerNetwork = RateLimiter(TokenBucket.Rate(burst: 1_000, perMinute: 1_000))
    registrations = RateLimiter(TokenBucket.Rate(burst: 10_000, perMinute: 10_000), maximumKeys: 128)
    processorTime = ProcessorTime(clock: workClock)
  }
}
