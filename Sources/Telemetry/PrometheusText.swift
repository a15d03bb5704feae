/// A writer of metrics in the text format of Prometheus, version 0.0.4.
public struct PrometheusText: Sendable {
  /// The value for the `Content-Type` field of the response.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private var text = ""

  /// Returns the text of all metrics.
  ///
  /// - Parameters:
  ///   - version: the version of the program.
  ///   - startTime: the start of the process, in milliseconds since 1970.
  public static func render(
    _ snapshot: MetricsSnapshot, process: ProcessFacts, version: String, startTime: Int64
  ) -> String {
    var page = PrometheusText()
    page.requests(snapshot)
    page.decisions(snapshot)
    page.limits(snapshot)
    page.connections(snapshot)
    page.upstream(snapshot)
    page.store(snapshot)
    page.policy(snapshot)
    page.process(process, version: version, startTime: startTime)
    return page.text
  }

  private mutating func requests(_ snapshot: MetricsSnapshot) {
    family("proofgate_requests_total", "counter", "Requests by how they were handled.")
    for handling in Handling.allCases {
      sample("proofgate_requests_total", [("handling", handling.rawValue)], snapshot.requests[handling] ?? 0)
    }
    family("proofgate_responses_total", "counter", "Responses by class of status; none: the client got no response.")
    for (index, count) in snapshot.responses.enumerated() {
      sample("proofgate_responses_total", [("class", index == 0 ? "none" : "\(index)xx")], count)
    }
    family(
      "proofgate_request_duration_seconds", "histogram", "From a request's head to its response's last byte.")
    for handling in Handling.allCases {
      histogram(
        "proofgate_request_duration_seconds", [("handling", handling.rawValue)],
        snapshot.durations[handling] ?? HistogramSnapshot())
    }
  }

  private mutating func decisions(_ snapshot: MetricsSnapshot) {
    family("proofgate_decisions_total", "counter", "Judged requests by endpoint, client, rule and decision.")
    for (labels, count) in snapshot.decisions.sorted(by: { $0.key < $1.key }) {
      sample(
        "proofgate_decisions_total",
        [
          ("endpoint", labels.endpoint.rawValue), ("client", labels.client), ("rule", labels.rule),
          ("decision", labels.decision.rawValue),
        ], count)
    }
  }

  private mutating func limits(_ snapshot: MetricsSnapshot) {
    family("proofgate_limits_total", "counter", "Number of times that each limit was reached.")
    for kind in LimitKind.allCases {
      sample("proofgate_limits_total", [("limit", kind.rawValue)], snapshot.limits[kind] ?? 0)
    }
    family(
      "proofgate_identity_fields_dropped_total", "counter",
      "Removed fields of observed requests, which only a trusted proxy may send.")
    sample("proofgate_identity_fields_dropped_total", [], snapshot.identityFieldsDropped)
  }

  private mutating func connections(_ snapshot: MetricsSnapshot) {
    family("proofgate_connections_accepted_total", "counter", "Connections from clients.")
    sample("proofgate_connections_accepted_total", [], snapshot.connectionsAccepted)
    family("proofgate_connections", "gauge", "Open connections from clients.")
    sample("proofgate_connections", [], snapshot.connections)
    family("proofgate_accept_pauses_total", "counter", "Pauses of accepting, for lack of descriptors or memory.")
    sample("proofgate_accept_pauses_total", [], snapshot.acceptPauses)
    family("proofgate_listeners_paused", "gauge", "Listeners that pause accepting, counted for each worker.")
    sample("proofgate_listeners_paused", [], snapshot.listenersPaused)
    family("proofgate_http2_connections_total", "counter", "Connections that spoke HTTP/2.")
    sample("proofgate_http2_connections_total", [], snapshot.http2Connections)
    family("proofgate_http2_streams_total", "counter", "Requests that came on HTTP/2 streams.")
    sample("proofgate_http2_streams_total", [], snapshot.http2Streams)
    family("proofgate_tls_handshakes_total", "counter", "TLS handshakes with clients.")
    sample("proofgate_tls_handshakes_total", [("result", "ok")], snapshot.handshakes)
    sample("proofgate_tls_handshakes_total", [("result", "failed")], snapshot.failedHandshakes)
    family("proofgate_tls_resumptions_total", "counter", "TLS handshakes that resumed a session.")
    sample("proofgate_tls_resumptions_total", [], snapshot.resumptions)
    family("proofgate_workers", "gauge", "Event loops.")
    sample("proofgate_workers", [], UInt64(snapshot.workers))
    family("proofgate_workers_stalled", "gauge", "Event loops that have been busy or blocked for a second.")
    sample("proofgate_workers_stalled", [], UInt64(snapshot.workersStalled))
  }

  private mutating func upstream(_ snapshot: MetricsSnapshot) {
    family("proofgate_upstream_connections_opened_total", "counter", "Connections opened to the upstream.")
    sample("proofgate_upstream_connections_opened_total", [], snapshot.upstreamConnectionsOpened)
    family("proofgate_upstream_connections", "gauge", "Open connections to the upstream.")
    sample("proofgate_upstream_connections", [], snapshot.upstreamConnections)
    family("proofgate_upstream_errors_total", "counter", "Requests that the upstream did not answer.")
    for kind in UpstreamErrorKind.allCases {
      sample("proofgate_upstream_errors_total", [("kind", kind.rawValue)], snapshot.upstreamErrors[kind] ?? 0)
    }
    family(
      "proofgate_upstream_response_seconds", "histogram", "From a request's last byte to the upstream's response head.")
    histogram("proofgate_upstream_response_seconds", [], snapshot.upstreamDurations)
  }

  private mutating func store(_ snapshot: MetricsSnapshot) {
    family("proofgate_store_entries", "gauge", "Entries of the store, by kind.")
    for kind in snapshot.store { sample("proofgate_store_entries", [("kind", kind.kind)], UInt64(kind.entries)) }
    family("proofgate_store_bytes", "gauge", "Bytes that the entries use.")
    for kind in snapshot.store { sample("proofgate_store_bytes", [("kind", kind.kind)], UInt64(kind.bytes)) }
    family("proofgate_store_share_bytes", "gauge", "Bytes that the entries of a kind may use.")
    for kind in snapshot.store { sample("proofgate_store_share_bytes", [("kind", kind.kind)], UInt64(kind.share)) }
    family("proofgate_store_evictions_total", "counter", "Entries removed to make room for others.")
    for kind in snapshot.store { sample("proofgate_store_evictions_total", [("kind", kind.kind)], kind.evictions) }
    family("proofgate_store_refusals_total", "counter", "Requests for which the store had no room.")
    for kind in snapshot.store { sample("proofgate_store_refusals_total", [("kind", kind.kind)], kind.refusals) }
  }

  private mutating func policy(_ snapshot: MetricsSnapshot) {
    family("proofgate_policy_info", "gauge", "The policy in force.")
    sample("proofgate_policy_info", [("version", snapshot.policyVersion)], 1)
    family("proofgate_policy_reloads_total", "counter", "Attempts to load another policy.")
    sample("proofgate_policy_reloads_total", [("result", "ok")], snapshot.policyReloads)
    sample("proofgate_policy_reloads_total", [("result", "failed")], snapshot.policyReloadFailures)
    let expiry = "proofgate_certificate_expiry_timestamp_seconds"
    family(expiry, "gauge", "Expiry of each certificate that the gateway presents, in seconds since 1970.")
    for certificate in snapshot.certificates {
      line(
        expiry,
        [("listener", certificate.place), ("name", certificate.name), ("fingerprint", certificate.fingerprint)],
        String(certificate.seconds))
    }
    family("proofgate_log_lines_dropped_total", "counter", "Decision-log lines that were dropped for lack of room.")
    sample("proofgate_log_lines_dropped_total", [], snapshot.logLinesDropped)
    family("proofgate_log_write_failures_total", "counter", "Writes to the decision log that failed.")
    sample("proofgate_log_write_failures_total", [], snapshot.logWriteFailures)
  }

  private mutating func process(_ facts: ProcessFacts, version: String, startTime: Int64) {
    family("proofgate_build_info", "gauge", "The program's version.")
    sample("proofgate_build_info", [("version", version)], 1)
    family("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.")
    line("process_start_time_seconds", [], PrometheusText.decimal(startTime, places: 3))
    if let bytes = facts.residentBytes {
      family("process_resident_memory_bytes", "gauge", "Resident memory.")
      sample("process_resident_memory_bytes", [], bytes)
    }
    if let files = facts.openFiles {
      family("process_open_fds", "gauge", "Open file descriptors.")
      line("process_open_fds", [], String(files))
    }
    if let files = facts.maximumFiles {
      family("process_max_fds", "gauge", "File descriptors that the process may open.")
      sample("process_max_fds", [], files)
    }
  }

  private mutating func family(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: UInt64) {
    line(name, labels, String(value))
  }

  private mutating func line(_ name: String, _ labels: [(String, String)], _ value: String) {
    text += name
    if !labels.isEmpty {
      let list = labels.map { "\($0)=\"\(PrometheusText.escaped($1))\"" }
      text += "{\(list.joined(separator: ","))}"
    }
    text += " \(value)\n"
  }

  private mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: HistogramSnapshot) {
    var cumulative: UInt64 = 0
    for (index, count) in histogram.buckets.enumerated() {
      cumulative += count
      let bound = index < LatencyHistogram.bounds.count ? LatencyHistogram.bounds[index] : "+Inf"
      sample("\(name)_bucket", labels + [("le", bound)], cumulative)
    }
    line("\(name)_sum", labels, PrometheusText.decimal(Int64(clamping: histogram.nanoseconds), places: 9))
    sample("\(name)_count", labels, cumulative)
  }

  /// Escapes a label value: backslash, double quote and line feed.
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
