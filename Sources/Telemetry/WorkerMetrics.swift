internal import Synchronization
public import Time

/// The metrics of one worker. Only that worker changes them, except for the state that `setStalled` sets. Any
/// thread may read them.
///
/// Counting a request that is not judged (checked by rules) takes only relaxed loads and stores. The table of decisions
/// has a lock, for which the worker waits only while metrics are collected.
public final class WorkerMetrics: Sendable {
  private let handled = InlineArray<4, Counter> { _ in Counter() }
  private let durations = InlineArray<4, LatencyHistogram> { _ in LatencyHistogram() }
  private let statuses = InlineArray<6, Counter> { _ in Counter() }
  private let upstreamDuration = LatencyHistogram()
  private let upstreamErrors = InlineArray<7, Counter> { _ in Counter() }
  /// A counter for each `LimitKind`.
  private let limits = InlineArray<29, Counter> { _ in Counter() }
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
  private let decisions = Mutex(Decisions())
  private let findings = Mutex<[FindingLabels: UInt64]>([:])
  private let tokenChecks = Mutex<[TokenCheckLabels: UInt64]>([:])
  private let documentFetches = Mutex<[DocumentFetchOutcome: UInt64]>([:])
  private let clients: ClientUses

  private struct Decisions: Sendable {
    struct Entry: Sendable {
      var count: UInt64 = 0
      var last: Timestamp = 0

      mutating func add(_ time: Timestamp) {
        count += 1
        // The system clock can be set back.
        if time.milliseconds > last.milliseconds { last = time }
      }
    }

    var entries: [DecisionLabels: Entry] = [:]
    var minutes = DecisionMinutes()

    mutating func add(_ labels: DecisionLabels, at time: Timestamp) {
      entries[labels, default: Entry()].add(time)
      minutes.add(labels.decision, at: time)
    }
  }

  init(clients: ClientUses) {
    self.clients = clients
    precondition(limits.count == LimitKind.allCases.count, "a counter for each limit")
  }

  /// Counts a request whose response was sent or whose connection was closed without one.
  ///
  /// - Parameters:
  ///   - handling: The way in which the gateway handled the request.
  ///   - status: The status of the response; 0 if none was sent.
  ///   - durationNanoseconds: The time from the request's head to the last byte of the response.
  public func requestFinished(_ handling: Handling, status: Int, durationNanoseconds: UInt64) {
    let index = WorkerMetrics.index(handling)
    handled[index].add(1)
    durations[index].observe(nanoseconds: durationNanoseconds)
    statuses[(100...599).contains(status) ? status / 100 : 0].add(1)
  }

  /// Counts a response head from the upstream. The duration is that of `MetricsSnapshot.upstreamDurations`.
  public func upstreamAnswered(nanoseconds: UInt64) {
    upstreamDuration.observe(nanoseconds: nanoseconds)
  }

  /// Counts a request to which the upstream sent no complete response.
  public func upstreamFailed(_ kind: UpstreamErrorKind) {
    upstreamErrors[WorkerMetrics.index(kind)].add(1)
  }

  /// Counts that a limit was reached.
  public func recordLimit(_ limit: LimitKind) { limits[limit.index].add(1) }

  /// Counts a connection that a client opened.
  public func connectionAccepted() { accepted.add(1) }
  /// Counts a client connection that ended.
  public func connectionClosed() { closed.add(1) }
  /// Counts a connection that speaks HTTP/2.
  public func http2ConnectionOpened() { http2Connections.add(1) }
  /// Counts a request on an HTTP/2 stream.
  public func http2StreamOpened() { http2Streams.add(1) }
  /// Counts a header field that was removed because only a trusted proxy may send it.
  public func identityFieldDropped() { identityFieldsDropped.add(1) }
  /// Counts that a listener stopped accepting connections for a while.
  public func acceptingPaused() { pauses.add(1) }
  /// Counts that a listener that had stopped accepts connections again or was closed.
  public func acceptingResumed() { pausesEnded.add(1) }

  /// Counts a completed TLS handshake with a client.
  public func handshakeFinished(isResumed: Bool) {
    handshakes.add(1)
    if isResumed { resumptions.add(1) }
  }

  /// Counts a TLS handshake with a client that failed.
  public func handshakeFailed() { failedHandshakes.add(1) }

  /// Counts a connection that the gateway opened to the upstream.
  public func upstreamConnectionOpened() { upstreamOpened.add(1) }
  /// Counts a connection to the upstream that ended.
  public func upstreamConnectionClosed() { upstreamClosed.add(1) }

  /// Records whether the event loop of this worker is stalled, i.e. has been busy or blocked for a second. May be
  /// called on any thread.
  public func setStalled(_ isStalled: Bool) { stalled.store(isStalled, ordering: .relaxed) }

  /// Counts a record for the decision log and its findings. May be called on any thread.
  ///
  /// - Parameter isListed: True if the policy lists the client of the record.
  public func decided(_ record: DecisionRecord, isListed: Bool) {
    let client = clients.add(record, isListed: isListed)
    let labels = DecisionLabels(
      endpoint: record.endpoint, client: client, rule: record.rule ?? "", decision: record.decision)
    decisions.withLock { $0.add(labels, at: record.time) }
    guard !record.findings.isEmpty else { return }
    findings.withLock { counts in
      for finding in record.findings { counts[FindingLabels(client: client, finding: finding), default: 0] += 1 }
    }
  }

  /// Counts a request that is refused because the decision log has no room for its record. May be called on any thread.
  ///
  /// - Parameter rule: The id of the rule about the log.
  public func refusedUnlogged(at endpoint: DecisionEndpoint, rule: String, time: Timestamp) {
    let labels = DecisionLabels(endpoint: endpoint, client: ClientUses.unknown, rule: rule, decision: .reject)
    decisions.withLock { $0.add(labels, at: time) }
  }

  /// Counts a check of an access token for a resource server. May be called on any thread.
  public func tokenChecked(_ outcome: TokenCheckOutcome, at endpoint: DecisionEndpoint) {
    let labels = TokenCheckLabels(endpoint: endpoint, outcome: outcome)
    tokenChecks.withLock { $0[labels, default: 0] += 1 }
  }

  /// Counts a fetch of a client ID metadata document.
  public func documentFetched(_ outcome: DocumentFetchOutcome) {
    documentFetches.withLock { $0[outcome, default: 0] += 1 }
  }

  /// Adds the metrics of this worker to `snapshot`.
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
    // Of each pair of counts (opened and closed, or paused and resumed), the second is read first. Otherwise a
    // connection that begins and ends between the two reads could make the difference negative.
    let closedCount = closed.value
    let acceptedCount = accepted.value
    snapshot.connectionsAccepted += acceptedCount
    snapshot.connections += acceptedCount.saturatingDifference(closedCount)
    snapshot.handshakes += handshakes.value
    snapshot.resumptions += resumptions.value
    snapshot.failedHandshakes += failedHandshakes.value
    let upstreamClosedCount = upstreamClosed.value
    let upstreamOpenedCount = upstreamOpened.value
    snapshot.upstreamConnections += upstreamOpenedCount.saturatingDifference(upstreamClosedCount)
    snapshot.upstreamConnectionsOpened += upstreamOpenedCount
    snapshot.http2Connections += http2Connections.value
    snapshot.http2Streams += http2Streams.value
    snapshot.identityFieldsDropped += identityFieldsDropped.value
    let resumed = pausesEnded.value
    let paused = pauses.value
    snapshot.acceptPauses += paused
    snapshot.listenersPaused += paused.saturatingDifference(resumed)
    snapshot.workers += 1
    snapshot.workersStalled += stalled.load(ordering: .relaxed) ? 1 : 0
    for (labels, entry) in decisions.withLock({ $0.entries }) {
      snapshot.decisions[labels, default: 0] += entry.count
      let last = snapshot.lastDecisions[labels]?.milliseconds ?? 0
      snapshot.lastDecisions[labels] = Timestamp(milliseconds: max(last, entry.last.milliseconds))
    }
    let findingCounts = findings.withLock { $0 }
    snapshot.findings.merge(findingCounts, uniquingKeysWith: +)
    let tokenCheckCounts = tokenChecks.withLock { $0 }
    snapshot.tokenChecks.merge(tokenCheckCounts, uniquingKeysWith: +)
    let documentFetchCounts = documentFetches.withLock { $0 }
    snapshot.documentFetches.merge(documentFetchCounts, uniquingKeysWith: +)
  }

  /// Adds the decisions of the latest minutes to `activity`.
  func add(to activity: inout DecisionActivity) {
    for minute in decisions.withLock({ $0.minutes.recorded }) {
      activity.recent[minute.minute, default: DecisionMinute(minute: minute.minute)] += minute
    }
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
