public import Time

/// The values of all metrics at one moment, summed over the workers.
public struct MetricsSnapshot: Equatable, Sendable {
  /// The number of requests that have ended.
  public internal(set) var requests: [Handling: UInt64] = [:]
  /// The time from a request's head to the last byte of its response.
  public internal(set) var durations: [Handling: HistogramSnapshot] = [:]
  /// The number of responses by the first digit of the status; index 0 counts requests that got no response.
  public internal(set) var responses = [UInt64](repeating: 0, count: 6)
  /// The time until the response head of the upstream: from the head of a forwarded request, or from the moment at
  /// which the gateway sends a request of its own.
  public internal(set) var upstreamDurations = HistogramSnapshot()
  /// The number of requests to which the upstream sent no complete response.
  public internal(set) var upstreamErrors: [UpstreamErrorKind: UInt64] = [:]
  /// The number of times that each limit was reached.
  public internal(set) var limits: [LimitKind: UInt64] = [:]
  /// The number of connections that clients have opened.
  public internal(set) var connectionsAccepted: UInt64 = 0
  /// The number of open connections from clients.
  public internal(set) var connections: UInt64 = 0
  /// The number of completed TLS handshakes with clients, including resumed ones.
  public internal(set) var handshakes: UInt64 = 0
  /// The number of TLS handshakes that resumed a session.
  public internal(set) var resumptions: UInt64 = 0
  /// The number of TLS handshakes with clients that failed.
  public internal(set) var failedHandshakes: UInt64 = 0
  /// The number of open connections to the upstream.
  public internal(set) var upstreamConnections: UInt64 = 0
  /// The number of connections that the gateway has opened to the upstream.
  public internal(set) var upstreamConnectionsOpened: UInt64 = 0
  /// The number of connections that spoke HTTP/2.
  public internal(set) var http2Connections: UInt64 = 0
  /// The number of requests that came on HTTP/2 streams.
  public internal(set) var http2Streams: UInt64 = 0
  /// The number of header fields that the gateway removed because only a trusted proxy may send them. They are counted
  /// only if the policy observes some requests.
  public internal(set) var identityFieldsDropped: UInt64 = 0
  /// The number of times that a listener stopped accepting connections for a while, for lack of descriptors or memory.
  public internal(set) var acceptPauses: UInt64 = 0
  /// The number of listeners that are paused now. Each worker counts its own pause of a listener.
  public internal(set) var listenersPaused: UInt64 = 0
  /// The number of event loops.
  public internal(set) var workers = 0
  /// The number of event loops that have been busy or blocked for a second.
  public internal(set) var workersStalled = 0
  /// The number of records for the decision log, including dropped ones. There is a record for each judged request (a
  /// request to which rules were applied), for each observed authorization response on a path that is not an endpoint,
  /// and for each report of a removed header field.
  public internal(set) var decisions: [DecisionLabels: UInt64] = [:]
  /// The time of the latest record with the labels.
  public internal(set) var lastDecisions: [DecisionLabels: Timestamp] = [:]
  /// The number of findings in the decision log.
  public internal(set) var findings: [FindingLabels: UInt64] = [:]
  /// The number of checks of access tokens for resource servers.
  var tokenChecks: [TokenCheckLabels: UInt64] = [:]
  /// The number of fetches of client ID metadata documents.
  public internal(set) var documentFetches: [DocumentFetchOutcome: UInt64] = [:]
  /// The version of the policy in force.
  public internal(set) var policyVersion = ""
  /// The number of reloads that took effect.
  public internal(set) var policyReloads: UInt64 = 0
  /// The number of reloads that failed, so that the old policy stayed in force.
  public internal(set) var policyReloadFailures: UInt64 = 0
  /// The certificates that the gateway presents.
  public internal(set) var certificates: [CertificateExpiry] = []
  /// The memory use of each kind of store entry.
  public internal(set) var store: [StoreSeries] = []
  /// The state of the count that `store` comes from; `nil` for a store that does not count in the background.
  public internal(set) var storeCount: StoreCountSeries?
  /// The operations of a store in another process or on a disk; `nil` for a store in memory.
  public internal(set) var storeActivity: StoreActivitySeries?
  /// The number of decision-log records that were dropped because a buffer was full.
  public internal(set) var logLinesDropped: UInt64 = 0
  /// The number of writes to the decision log that failed.
  public internal(set) var logWriteFailures: UInt64 = 0
  /// The number of access-log lines that were dropped.
  public internal(set) var accessLinesDropped: UInt64 = 0
}
