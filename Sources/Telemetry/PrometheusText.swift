public import Time

/// A writer of metrics in the text format of Prometheus, version 0.0.4.
public struct PrometheusText: Sendable {
  /// The `Content-Type` of the response.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private var text = ""

  /// Returns the text of all metrics.
  ///
  /// - Parameters:
  ///   - version: The version of the program.
  ///   - startTime: The start of the process.
  ///   - readiness: The conditions of readiness, and whether each is met; empty to write none.
  ///   - addresses: The addresses of the upstream.
  public static func render(
    _ snapshot: MetricsSnapshot, process: ProcessFacts, version: String, startTime: Timestamp,
    readiness: [(check: String, isMet: Bool)] = [], addresses: [UpstreamAddressSeries] = []
  ) -> String {
    var page = PrometheusText()
    page.writeRequests(snapshot)
    page.writeReadiness(readiness)
    page.writeDecisions(snapshot)
    page.writeFindings(snapshot)
    page.writeTokenChecks(snapshot)
    page.writeDocumentFetches(snapshot)
    page.writeLimits(snapshot)
    page.writeConnections(snapshot)
    page.writeUpstream(snapshot)
    page.writeAddresses(addresses)
    page.writeStore(snapshot)
    page.writePolicy(snapshot)
    page.writeProcess(process, version: version, startTime: startTime)
    return page.text
  }

  private mutating func writeRequests(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_requests_total", "counter", "Requests by how they were handled.")
    for handling in Handling.allCases {
      writeSample("proofgate_requests_total", [("handling", handling.rawValue)], snapshot.requests[handling] ?? 0)
    }
    writeMetric(
      "proofgate_responses_total", "counter", "Responses by class of status; none: the client got no response.")
    for (index, count) in snapshot.responses.enumerated() {
      writeSample("proofgate_responses_total", [("class", index == 0 ? "none" : "\(index)xx")], count)
    }
    writeMetric(
      "proofgate_request_duration_seconds", "histogram", "From a request's head to its response's last byte.")
    for handling in Handling.allCases {
      writeHistogram(
        "proofgate_request_duration_seconds", [("handling", handling.rawValue)],
        snapshot.durations[handling] ?? HistogramSnapshot())
    }
  }

  private mutating func writeDecisions(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_decisions_total", "counter", "Judged requests by endpoint, client, rule and decision.")
    for (labels, count) in snapshot.decisions.sorted(by: { $0.key < $1.key }) {
      writeSample(
        "proofgate_decisions_total",
        [
          ("endpoint", labels.endpoint.rawValue), ("client", labels.client), ("rule", labels.rule),
          ("decision", labels.decision.rawValue),
        ], count)
    }
  }

  private mutating func writeFindings(_ snapshot: MetricsSnapshot) {
    guard !snapshot.findings.isEmpty else { return }
    writeMetric("proofgate_findings_total", "counter", "Findings of judged requests that did not decide them.")
    for (labels, count) in snapshot.findings.sorted(by: { $0.key < $1.key }) {
      writeSample(
        "proofgate_findings_total", [("client", labels.client), ("finding", labels.finding), ("rule", labels.rule)],
        count)
    }
  }

  private mutating func writeReadiness(_ checks: [(check: String, isMet: Bool)]) {
    guard !checks.isEmpty else { return }
    writeMetric("proofgate_ready", "gauge", "1 if the process is ready for requests, 0 if it is not.")
    writeSample("proofgate_ready", [], checks.allSatisfy(\.isMet) ? 1 : 0)
    writeMetric("proofgate_ready_check", "gauge", "1 if this condition of readiness is met, 0 if it is not.")
    for (check, isMet) in checks { writeSample("proofgate_ready_check", [("check", check)], isMet ? 1 : 0) }
  }

  /// The series that have a value. A policy without resources or client documents has none.
  private mutating func writeTokenChecks(_ snapshot: MetricsSnapshot) {
    guard !snapshot.tokenChecks.isEmpty else { return }
    writeMetric("proofgate_token_checks_total", "counter", "Checks of access tokens for resource servers, by outcome.")
    for endpoint in DecisionEndpoint.allCases {
      for outcome in TokenCheckOutcome.allCases {
        let labels = TokenCheckLabels(endpoint: endpoint, outcome: outcome)
        guard let count = snapshot.tokenChecks[labels] else { continue }
        writeSample(
          "proofgate_token_checks_total", [("endpoint", endpoint.rawValue), ("outcome", outcome.rawValue)], count)
      }
    }
  }

  private mutating func writeDocumentFetches(_ snapshot: MetricsSnapshot) {
    guard !snapshot.documentFetches.isEmpty else { return }
    let name = "proofgate_client_document_fetches_total"
    writeMetric(name, "counter", "Fetches of client ID metadata documents, by outcome.")
    for outcome in DocumentFetchOutcome.allCases {
      guard let count = snapshot.documentFetches[outcome] else { continue }
      writeSample(name, [("outcome", outcome.rawValue)], count)
    }
  }

  private mutating func writeLimits(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_limits_total", "counter", "Number of times that each limit was reached.")
    for kind in LimitKind.allCases {
      writeSample("proofgate_limits_total", [("limit", kind.rawValue)], snapshot.limits[kind] ?? 0)
    }
    writeMetric(
      "proofgate_identity_fields_dropped_total", "counter",
      "Removed request fields that only a trusted proxy may send, while a client is observed.")
    writeSample("proofgate_identity_fields_dropped_total", [], snapshot.identityFieldsDropped)
  }

  private mutating func writeConnections(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_connections_accepted_total", "counter", "Connections from clients.")
    writeSample("proofgate_connections_accepted_total", [], snapshot.connectionsAccepted)
    writeMetric("proofgate_connections", "gauge", "Open connections from clients.")
    writeSample("proofgate_connections", [], snapshot.connections)
    writeMetric("proofgate_accept_pauses_total", "counter", "Pauses of accepting, for lack of descriptors or memory.")
    writeSample("proofgate_accept_pauses_total", [], snapshot.acceptPauses)
    writeMetric("proofgate_listeners_paused", "gauge", "Listeners that pause accepting, counted for each worker.")
    writeSample("proofgate_listeners_paused", [], snapshot.listenersPaused)
    writeMetric("proofgate_http2_connections_total", "counter", "Connections that spoke HTTP/2.")
    writeSample("proofgate_http2_connections_total", [], snapshot.http2Connections)
    writeMetric("proofgate_http2_streams_total", "counter", "Requests that came on HTTP/2 streams.")
    writeSample("proofgate_http2_streams_total", [], snapshot.http2Streams)
    writeMetric("proofgate_tls_handshakes_total", "counter", "TLS handshakes with clients.")
    writeSample("proofgate_tls_handshakes_total", [("result", "ok")], snapshot.handshakes)
    writeSample("proofgate_tls_handshakes_total", [("result", "failed")], snapshot.failedHandshakes)
    writeMetric("proofgate_tls_resumptions_total", "counter", "TLS handshakes that resumed a session.")
    writeSample("proofgate_tls_resumptions_total", [], snapshot.resumptions)
    writeMetric("proofgate_workers", "gauge", "Event loops.")
    writeSample("proofgate_workers", [], UInt64(clamping: snapshot.workers))
    writeMetric("proofgate_workers_stalled", "gauge", "Event loops that have been busy or blocked for a second.")
    writeSample("proofgate_workers_stalled", [], UInt64(clamping: snapshot.workersStalled))
  }

  private mutating func writeUpstream(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_upstream_connections_opened_total", "counter", "Connections opened to the upstream.")
    writeSample("proofgate_upstream_connections_opened_total", [], snapshot.upstreamConnectionsOpened)
    writeMetric("proofgate_upstream_connections", "gauge", "Open connections to the upstream.")
    writeSample("proofgate_upstream_connections", [], snapshot.upstreamConnections)
    writeMetric("proofgate_upstream_errors_total", "counter", "Requests that the upstream did not answer.")
    for kind in UpstreamErrorKind.allCases {
      writeSample("proofgate_upstream_errors_total", [("kind", kind.rawValue)], snapshot.upstreamErrors[kind] ?? 0)
    }
    writeMetric(
      "proofgate_upstream_response_seconds", "histogram", "Time until the head of the upstream's response.")
    writeHistogram("proofgate_upstream_response_seconds", [], snapshot.upstreamDurations)
  }

  private mutating func writeStore(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_store_entries", "gauge", "Entries of the store, by kind.")
    for series in snapshot.store {
      writeSample("proofgate_store_entries", [("kind", series.kind)], UInt64(clamping: series.entries))
    }
    writeMetric("proofgate_store_bytes", "gauge", "Bytes that the entries use.")
    for series in snapshot.store {
      writeSample("proofgate_store_bytes", [("kind", series.kind)], UInt64(clamping: series.bytes))
    }
    if let age = snapshot.storeCount?.age {
      writeMetric("proofgate_store_count_age_seconds", "gauge", "Age of the numbers of entries and bytes.")
      writeSample("proofgate_store_count_age_seconds", [], UInt64(clamping: age.count))
    }
    writeMetric("proofgate_store_share_bytes", "gauge", "Bytes that the entries of a kind may use.")
    for series in snapshot.store {
      guard let share = series.share else { continue }
      writeSample("proofgate_store_share_bytes", [("kind", series.kind)], UInt64(clamping: share))
    }
    writeMetric("proofgate_store_evictions_total", "counter", "Entries removed to make room for others.")
    for series in snapshot.store where series.share != nil {
      writeSample("proofgate_store_evictions_total", [("kind", series.kind)], series.evictions)
    }
    writeMetric("proofgate_store_refusals_total", "counter", "Requests for which the store had no room.")
    for series in snapshot.store where series.share != nil {
      writeSample("proofgate_store_refusals_total", [("kind", series.kind)], series.refusals)
    }
    if let activity = snapshot.storeActivity { writeStoreActivity(activity) }
  }

  private mutating func writeStoreActivity(_ store: StoreActivitySeries) {
    writeMetric("proofgate_store_info", "gauge", "The engine of the store, and the epoch of its entries.")
    writeSample("proofgate_store_info", [("engine", store.engine), ("epoch", store.epoch)], 1)
    writeMetric("proofgate_store_available", "gauge", "1 if the store answers, 0 if it does not.")
    writeSample("proofgate_store_available", [], store.outage == nil ? 1 : 0)
    writeMetric("proofgate_store_operation_seconds", "histogram", "From an operation of the store to its answer.")
    writeHistogram("proofgate_store_operation_seconds", [], store.durations)
    writeMetric("proofgate_store_errors_total", "counter", "Operations of the store that failed, by reason.")
    for failure in store.failures {
      writeSample("proofgate_store_errors_total", [("reason", failure.reason)], failure.count)
    }
  }

  private mutating func writePolicy(_ snapshot: MetricsSnapshot) {
    writeMetric("proofgate_policy_info", "gauge", "The policy in force.")
    writeSample("proofgate_policy_info", [("version", snapshot.policyVersion)], 1)
    writeMetric("proofgate_policy_reloads_total", "counter", "Attempts to load another policy.")
    writeSample("proofgate_policy_reloads_total", [("result", "ok")], snapshot.policyReloads)
    writeSample("proofgate_policy_reloads_total", [("result", "failed")], snapshot.policyReloadFailures)
    let expiryName = "proofgate_certificate_expiry_timestamp_seconds"
    writeMetric(expiryName, "gauge", "Expiry of each certificate that the gateway presents, in seconds since 1970.")
    for certificate in snapshot.certificates {
      writeLine(
        expiryName,
        [("listener", certificate.listener), ("name", certificate.name), ("fingerprint", certificate.fingerprint)],
        String(certificate.end.seconds))
    }
    writeMetric(
      "proofgate_log_lines_dropped_total", "counter", "Decision-log lines that were dropped for lack of room.")
    writeSample("proofgate_log_lines_dropped_total", [], snapshot.logLinesDropped)
    writeMetric("proofgate_log_write_failures_total", "counter", "Writes to the decision log that failed.")
    writeSample("proofgate_log_write_failures_total", [], snapshot.logWriteFailures)
    writeMetric(
      "proofgate_access_log_lines_dropped_total", "counter",
      "Access-log lines that were dropped, because the log could not be written fast enough or not at all.")
    writeSample("proofgate_access_log_lines_dropped_total", [], snapshot.accessLinesDropped)
  }

  private mutating func writeProcess(_ facts: ProcessFacts, version: String, startTime: Timestamp) {
    writeMetric("proofgate_build_info", "gauge", "The program's version.")
    writeSample("proofgate_build_info", [("version", version)], 1)
    writeMetric("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.")
    writeLine("process_start_time_seconds", [], PrometheusText.decimal(startTime.milliseconds, places: 3))
    if let bytes = facts.residentBytes {
      writeMetric("process_resident_memory_bytes", "gauge", "Resident memory.")
      writeSample("process_resident_memory_bytes", [], bytes)
    }
    if let files = facts.openFiles {
      writeMetric("process_open_fds", "gauge", "Open file descriptors.")
      writeLine("process_open_fds", [], String(files))
    }
    if let files = facts.maximumFiles {
      writeMetric("process_max_fds", "gauge", "File descriptors that the process may open.")
      writeSample("process_max_fds", [], files)
    }
  }

  /// Writes the HELP and TYPE lines of a metric, which precede its samples.
  mutating func writeMetric(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// Writes the value of one series of a metric.
  mutating func writeSample(_ name: String, _ labels: [(String, String)], _ value: UInt64) {
    writeLine(name, labels, String(value))
  }

  private mutating func writeLine(_ name: String, _ labels: [(String, String)], _ value: String) {
    text += name
    if !labels.isEmpty {
      let list = labels.map { "\($0)=\"\(PrometheusText.escaped($1))\"" }
      text += "{\(list.joined(separator: ","))}"
    }
    text += " \(value)\n"
  }

  private mutating func writeHistogram(_ name: String, _ labels: [(String, String)], _ histogram: HistogramSnapshot) {
    var cumulative: UInt64 = 0
    for (index, count) in histogram.buckets.enumerated() {
      cumulative += count
      let bound = index < LatencyHistogram.bounds.count ? LatencyHistogram.bounds[index] : "+Inf"
      writeSample("\(name)_bucket", labels + [("le", bound)], cumulative)
    }
    writeLine("\(name)_sum", labels, PrometheusText.decimal(Int64(clamping: histogram.nanoseconds), places: 9))
    writeSample("\(name)_count", labels, cumulative)
  }

  /// Returns a label value with backslash, double quote and line feed escaped.
  private static func escaped(_ value: String) -> String {
    var escaped = ""
    for character in value.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }

  /// Returns `value` divided by ten to the power of `places`, exactly and without trailing zeros.
  static func decimal(_ value: Int64, places: Int) -> String {
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    let (whole, rest) = value.quotientAndRemainder(dividingBy: scale)
    guard rest > 0 else { return String(whole) }
    var digits = String(rest)
    digits = String(repeating: "0", count: places - digits.utf8.count) + digits
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
