internal import Synchronization

/// What one worker counts. Only that worker calls it; the registry reads it from any thread.
///
/// Everything on the way of a passed request is a relaxed load and store. The table of decisions has a lock, which nobody
/// else holds except while metrics are collected.
public final class WorkerMetrics: Sendable {
  private let handled = InlineArray<4, Counter> { _ in Counter() }
  private let durations = InlineArray<4, LatencyHistogram> { _ in LatencyHistogram() }
  private let statuses = InlineArray<6, Counter> { _ in Counter() }
  private let upstreamDuration = LatencyHistogram()
  private let upstreamErrors = InlineArray<7, Counter> { _ in Counter() }
  private let limits = InlineArray<24, Counter> { _ in Counter() }
  private let accepted = Counter()
  private let closed = Counter()
  private let handshakes = Counter()
  private let resumptions = Counter()
  private let failedHandshakes = Counter()
  private let upstreamOpened = Counter()
  private let upstreamClosed = Counter()
  private let http2Connections = Counter()
  private let http2Streams = Counter()
  private let identityFieldsDropped = Counter()
  private let pauses = Counter()
  private let pausesEnded = Counter()
  private let stalled = Atomic<Bool>(false)
  private let decisions = Mutex<[DecisionLabels: UInt64]>([:])
  private let clients: ClientSeries

  init(clients: ClientSeries) {
    self.clients = clients
  }

  /// A response was sent, or the connection given up on.
  /// - Parameters:
  ///   - status: as sent; 0 when nothing was.
  ///   - durationNanoseconds: from the request's head to the response's last byte.
  public func requestFinished(_ handling: Handling, status: Int, durationNanoseconds: UInt64) {
    let index = WorkerMetrics.index(handling)
    handled[index].add(1)
    durations[index].observe(nanoseconds: durationNanoseconds)
    statuses[(100...599).contains(status) ? status / 100 : 0].add(1)
  }

  /// A request that was forwarded without a look at its meaning has been answered.
  public func requestPassed(durationNanoseconds: UInt64, status: Int) {
    requestFinished(.pass, status: status, durationNanoseconds: durationNanoseconds)
  }

  /// The upstream's response head arrived, so long after the request went out.
  public func upstreamAnswered(nanoseconds: UInt64) {
    upstreamDuration.observe(nanoseconds: nanoseconds)
  }

  public func upstreamFailed(_ kind: UpstreamErrorKind) {
    upstreamErrors[WorkerMetrics.index(kind)].add(1)
  }

  /// A limit was met.
  public func limited(_ limit: LimitKind) { limits[limit.index].add(1) }

  public func connectionAccepted() { accepted.add(1) }
  public func connectionClosed() { closed.add(1) }
  /// A connection turned out to speak HTTP/2.
  public func http2ConnectionOpened() { http2Connections.add(1) }
  /// A request came on a stream.
  public func http2StreamOpened() { http2Streams.add(1) }
  /// A field of an observed request does not go upstream, because only a trusted proxy may send it.
  public func identityFieldDropped() { identityFieldsDropped.add(1) }
  /// A listener accepts nothing for now.
  public func acceptingPaused() { pauses.add(1) }
  /// It accepts again, or was closed.
  public func acceptingResumed() { pausesEnded.add(1) }

  /// A client's TLS handshake is done.
  public func handshakeFinished(isResumed: Bool) {
    handshakes.add(1)
    if isResumed { resumptions.add(1) }
  }

  public func handshakeFailed() { failedHandshakes.add(1) }

  public func upstreamConnectionOpened() { upstreamOpened.add(1) }
  public func upstreamConnectionClosed() { upstreamClosed.add(1) }

  /// Set and cleared by whoever watches the loop, on any thread.
  public func setStalled(_ isStalled: Bool) { stalled.store(isStalled, ordering: .relaxed) }

  /// A request was judged.
  /// - Parameters:
  ///   - client: a configured client's id, never text of the request; `nil` for every other.
  ///   - rule: the stable id of the rule that decided, if one did.
  public func decided(_ decision: DecisionKind, at endpoint: DecisionEndpoint, client: String?, rule: String?) {
    let label = client.map(clients.label(for:)) ?? "unknown"
    let labels = DecisionLabels(endpoint: endpoint, client: label, rule: rule ?? "", decision: decision)
    decisions.withLock { $0[labels, default: 0] += 1 }
  }

  /// Adds what this worker counted.
  func add(to snapshot: inout MetricsSnapshot) {
    for handling in Handling.allCases {
      let index = WorkerMetrics.index(handling)
      snapshot.requests[handling, default: 0] += handled[index].value
      snapshot.durations[handling, default: HistogramSnapshot()] += durations[index].snapshot
    }
    for index in statuses.indices { snapshot.responses[index] += statuses[index].value }
    snapshot.upstreamDurations += upstreamDuration.snapshot
    for kind in UpstreamErrorKind.allCases {
      snapshot.upstreamErrors[kind, default: 0] += upstreamErrors[WorkerMetrics.index(kind)].value
    }
    for kind in LimitKind.allCases { snapshot.limits[kind, default: 0] += limits[kind.index].value }
    // Read in this order, so that a connection that ends in between does not make a gauge negative.
    let gone = closed.value
    let total = accepted.value
    snapshot.connectionsAccepted += total
    snapshot.connections += total > gone ? total - gone : 0
    snapshot.handshakes += handshakes.value
    snapshot.resumptions += resumptions.value
    snapshot.failedHandshakes += failedHandshakes.value
    let upstreamGone = upstreamClosed.value
    let upstreamTotal = upstreamOpened.value
    snapshot.upstreamConnections += upstreamTotal > upstreamGone ? upstreamTotal - upstreamGone : 0
    snapshot.upstreamConnectionsOpened += upstreamTotal
    snapshot.http2Connections += http2Connections.value
    snapshot.http2Streams += http2Streams.value
    snapshot.identityFieldsDropped += identityFieldsDropped.value
    let resumed = pausesEnded.value
    let paused = pauses.value
    snapshot.acceptPauses += paused
    snapshot.listenersPaused += paused > resumed ? paused - resumed : 0
    snapshot.workers += 1
    snapshot.workersStalled += stalled.load(ordering: .relaxed) ? 1 : 0
    let counted = decisions.withLock { $0 }
    snapshot.decisions.merge(counted, uniquingKeysWith: +)
  }

  private static func index(_ handling: Handling) -> Int {
    switch handling {
    case .pass: 0
    case .forward: 1
    case .answer: 2
    case .refuse: 3
    }
  }

  private static func index(_ kind: UpstreamErrorKind) -> Int {
    switch kind {
    case .refused: 0
    case .timeout: 1
    case .reset: 2
    case .protocol: 3
    case .dns: 4
    case .busy: 5
    case .tls: 6
    }
  }
}
