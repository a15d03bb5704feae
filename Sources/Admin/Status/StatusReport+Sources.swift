import Policy
import Rollout
import Telemetry
import Time

extension StatusReport {
  /// Collects the report.
  ///
  /// - Parameter readiness: The result of the readiness checks.
  init(_ status: ProcessStatus, readiness: Readiness, now: Timestamp) {
    let state = status.current
    let metrics = status.metrics.snapshot()
    let activity = status.metrics.activity()
    let minute = DecisionMinute.number(of: now)
    time = StatusTime(UnixTime(seconds: minute * 60))
    self.readiness = readiness
    let phase =
      switch state.phase {
      case .starting: "starting"
      case .serving: "serving"
      case .draining: "draining"
      }
    program = Program(
      version: status.version, libraries: status.libraries, phase: phase, started: StatusTime(status.startTime),
      workers: metrics.workers, stalledWorkers: metrics.workersStalled)
    policy = Policy(state, metrics)
    decisions = Decisions(metrics, activity, until: minute)
    rulesURL = state.policy.rulesURL
    refusals = Refusal.list(metrics, rulesURL: state.policy.rulesURL)
    let report = ReadinessReport(
      Dictionary(uniqueKeysWithValues: activity.clients.map { ($0, ClientTraffic($0, $1)) }),
      listed: state.policy.clients, limit: StatusReport.maximumClients,
      omittedRequests: Int(clamping: activity.omittedRequests))
    clients = report.clients
    omittedClients = report.omittedClients
    omittedRequests = report.omittedRequests
    latency =
      Handling.allCases.map { Latency($0.rawValue, metrics.durations[$0] ?? HistogramSnapshot()) }
      + [Latency("upstream", metrics.upstreamDurations)]
      + (metrics.storeActivity.map { [Latency("store", $0.durations)] } ?? [])
    traffic = Traffic(metrics)
    store = Store(metrics, now: now)
    certificates = metrics.certificates.sorted { ($0.end, $0.name) < ($1.end, $1.name) }.map {
      Certificate(
        listener: $0.listener, name: $0.name, fingerprint: $0.fingerprint, expires: StatusTime($0.end))
    }
  }
}

extension StatusReport.Policy {
  fileprivate init(_ state: ProcessStatus.State, _ metrics: MetricsSnapshot) {
    let facts = state.policy
    version = facts.version
    issuer = facts.issuer
    upstream = facts.upstream
    mode = facts.mode.rawValue
    unknownClients = facts.unknownClients.rawValue
    clients = facts.clientCount
    observedClients = facts.observedClientCount
    loaded = Load(time: StatusTime(state.loaded.time), reason: state.loaded.reason?.rawValue ?? "start")
    lastReload = state.lastReload.map { report, time in
      Reload(
        time: StatusTime(time), reason: report.reason.rawValue, result: report.result, changes: report.changes,
        settings: report.settings, warnings: report.warnings, errors: report.errors)
    }
    reloads = metrics.policyReloads
    refusedReloads = metrics.policyReloadFailures
  }
}

extension StatusReport.Outcomes {
  fileprivate init(_ minute: DecisionMinute) {
    passed = minute.forwarded
    refused = minute.rejected
    wouldRefuse = minute.wouldReject
    notObservable = minute.notObservable
  }
}

extension StatusReport.Decisions {
  fileprivate init(_ metrics: MetricsSnapshot, _ activity: DecisionActivity, until minute: Int64) {
    var total = StatusReport.Outcomes()
    var endpoints: [String: StatusReport.Outcomes] = [:]
    for (labels, count) in metrics.decisions {
      total.add(count, labels.decision)
      endpoints[labels.endpoint.rawValue, default: StatusReport.Outcomes()].add(count, labels.decision)
    }
    self.total = total
    self.endpoints = endpoints.sorted { $0.key < $1.key }.map {
      StatusReport.Endpoint(endpoint: $0.key, outcomes: $0.value)
    }
    minutes = activity.series(endingAt: minute).map {
      StatusReport.Minute(
        start: StatusTime(UnixTime(seconds: $0.minute * 60)), outcomes: StatusReport.Outcomes($0))
    }.filter { $0.outcomes.total > 0 }
    recent = minutes.reduce(into: StatusReport.Outcomes()) { $0 += $1.outcomes }
    recentMinutes = DecisionActivity.minutes
  }
}

extension StatusReport.Refusal {
  fileprivate static func list(_ metrics: MetricsSnapshot, rulesURL: String) -> [StatusReport.Refusal] {
    var rules: [String: (outcomes: StatusReport.Outcomes, last: Int64)] = [:]
    for (labels, count) in metrics.decisions where !labels.rule.isEmpty {
      var rule = rules[labels.rule] ?? (StatusReport.Outcomes(), 0)
      rule.outcomes.add(count, labels.decision)
      rule.last = max(rule.last, metrics.lastDecisions[labels]?.milliseconds ?? 0)
      rules[labels.rule] = rule
    }
    return rules.sorted { ($1.value.outcomes.total, $0.key) < ($0.value.outcomes.total, $1.key) }
      .prefix(StatusReport.maximumRefusals).map { rule, uses in
        StatusReport.Refusal(
          rule: rule, url: "\(rulesURL)/\(rule)", refused: uses.outcomes.refused,
          wouldRefuse: uses.outcomes.wouldRefuse, last: StatusTime(Timestamp(milliseconds: uses.last)))
      }
  }
}

extension StatusReport.Latency {
  fileprivate init(_ name: String, _ histogram: HistogramSnapshot) {
    func milliseconds(_ part: Double) -> Double? {
      // The estimate has no more than three significant digits.
      histogram.quantile(part).map { ($0 * 1_000_000).rounded() / 1_000 }
    }
    self.name = name
    count = histogram.count
    median = milliseconds(0.5)
    p95 = milliseconds(0.95)
    p99 = milliseconds(0.99)
    buckets = histogram.buckets
  }
}

extension StatusReport.Traffic {
  fileprivate init(_ metrics: MetricsSnapshot) {
    requests = Handling.allCases.map { StatusReport.Count(name: $0.rawValue, count: metrics.requests[$0] ?? 0) }
    connections = metrics.connections
    acceptedConnections = metrics.connectionsAccepted
    upstreamConnections = metrics.upstreamConnections
    upstreamErrors = UpstreamErrorKind.allCases.compactMap { kind in
      guard let count = metrics.upstreamErrors[kind], count > 0 else { return nil }
      return StatusReport.Count(name: kind.rawValue, count: count)
    }
    droppedLogLines = metrics.logLinesDropped
    failedLogWrites = metrics.logWriteFailures
  }
}

extension StatusReport.Store {
  fileprivate init(_ metrics: MetricsSnapshot, now: Timestamp) {
    engine = metrics.storeActivity?.engine ?? "memory"
    epoch = metrics.storeActivity?.epoch
    outage = metrics.storeActivity?.outage
    failures =
      metrics.storeActivity?.failures.filter { $0.count > 0 }.map {
        StatusReport.Count(name: $0.reason, count: $0.count)
      } ?? []
    kinds = metrics.store.map {
      Kind(
        kind: $0.kind, entries: $0.entries, bytes: $0.bytes, share: $0.share, evicted: $0.evictions,
        refused: $0.refusals)
    }
    isCountedInBackground = metrics.storeCount != nil
    counted = metrics.storeCount?.age.map { age in
      // Only the minute, because the age is in whole seconds, and the time would change by one second now and then.
      StatusTime(UnixTime(seconds: (now.milliseconds / 1_000 - Int64(age.count)) / 60 * 60))
    }
    countProblem = metrics.storeCount?.problem
  }
}

extension ClientTraffic {
  /// Creates the traffic of a client from the numbers of the process.
  init(_ id: String, _ use: ClientUse) {
    var counts = Counts(first: use.first.text, last: use.last.text)
    counts.requests = use.requests
    counts.refusedRequests = use.refused
    counts.notObservable = use.notObservable
    counts.refusals = use.refusals.mapValues { refusal in
      ClientTraffic.Refusal(
        count: refusal.count, first: refusal.first.text, last: refusal.last.text,
        example: SeenRequest(refusal.example, of: id))
    }
    counts.signIns.started = use.signIns.started
    counts.signIns.completed = use.signIns.completed
    counts.signIns.refreshed = use.signIns.refreshed
    counts.signIns.withCredentials = use.signIns.withCredentials
    counts.signIns.withoutCredentials = use.signIns.withoutCredentials
    counts.signIns.failure = use.signIns.failure
    counts.signIns.failedAtToken = use.signIns.failedAtToken
    self.init(id: id, counts)
  }
}

extension SeenRequest {
  /// Reads the request as `proofgate readiness` reads it from the line of the record, so that both show the same.
  fileprivate init(_ record: DecisionRecord, of client: String) {
    if case .request(let seen) = LogLine(parsing: record.line) {
      self = seen
    } else {
      self.init(time: record.time.text, client: client, endpoint: .other)
    }
  }
}
