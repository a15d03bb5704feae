import Rollout
import Time

/// The status as plain text for a terminal.
enum StatusText {
  /// Returns the text.
  static func render(_ report: StatusReport) -> String {
    let policy = report.policy
    let program = report.program
    let traffic = report.traffic
    var text = """
      proofgate \(program.version): \(program.phase), up \(StatusFigures.duration(report.time.time - program.started.time))

      policy       \(policy.version), read \(StatusFigures.minute(policy.loaded.time.time)) (\(policy.loaded.reason))
      reloads      \(policy.reloads), \(policy.refusedReloads) refused\(lastReload(policy.lastReload))
      issuer       \(policy.issuer)
      upstream     \(policy.upstream)
      mode         \(policy.mode), unknown clients: \(policy.unknownClients)
      clients      \(policy.clients), \(policy.observedClients) of them observed
      workers      \(program.workers), \(program.stalledWorkers) stalled
      connections  \(traffic.connections) open, \(traffic.acceptedConnections) accepted
      requests     \(traffic.requests.map { "\($0.count) \($0.name)" }.joined(separator: ", "))
      log          \(traffic.droppedLogLines) lines dropped
      store        \(describe(report.store))

      """
    for check in report.readiness.checks where !check.ok { text += "not ready    \(check.detail ?? check.name)\n" }
    for address in report.readiness.addresses ?? [] {
      let state = address.inService ? "in service" : "avoided after failures"
      text += "address      \(address.address), \(state)\(address.detail.map { ": \(printable($0))" } ?? "")\n"
    }
    text += "\nstored entries by kind\n" + storeRows(report.store, at: report.time.time)
    text += "\ndecisions by endpoint: passed, refused, would be refused, not observable\n"
    if report.decisions.endpoints.isEmpty { text += "  none yet\n" }
    for row in report.decisions.endpoints {
      let outcomes = row.outcomes
      text += "  \(padded(row.endpoint, 20)) \(padded(String(outcomes.passed), 10)) "
      text += "\(padded(String(outcomes.refused), 10)) \(padded(String(outcomes.wouldRefuse), 10)) "
      text += "\(outcomes.notObservable)\n"
    }
    text += "\nrefusals by rule: refused, would be refused, last\n"
    if report.refusals.isEmpty { text += "  none yet\n" }
    for row in report.refusals {
      text += "  \(padded(row.rule, 30)) \(padded(String(row.refused), 10)) \(padded(String(row.wouldRefuse), 10)) "
      text += "\(row.last.time.text)\n"
    }
    text += "\nclients\n" + clientRows(report)
    for certificate in report.certificates {
      text +=
        "certificate  \(printable(certificate.name)) (\(certificate.listener)) until \(certificate.expires.time.text)\n"
    }
    return text + "\nsee also /status.json /metrics /healthz /readyz\n"
  }

  private static func lastReload(_ reload: StatusReport.Policy.Reload?) -> String {
    guard let reload else { return "" }
    var text = "; the last \(StatusFigures.minute(reload.time.time)) (\(reload.reason)): \(reload.result.rawValue)"
    for error in reload.errors.prefix(20) { text += "\n             \(printable(error))" }
    return text
  }

  private static func clientRows(_ report: StatusReport) -> String {
    var text = ""
    for client in report.clients {
      text += "  \(padded(printable(client.client), 30)) \(padded("\(client.refused)/\(client.requests)", 14)) "
      text += "\(printable(client.advice))\n"
    }
    if report.omittedClients > 0 { text += "  \(report.omittedClients) more without requests\n" }
    if report.omittedRequests > 0 { text += "  \(report.omittedRequests) requests of further ids\n" }
    return text.isEmpty ? "  none\n" : text
  }

  /// Describes the engine of the store and its state.
  private static func describe(_ store: StatusReport.Store) -> String {
    if let outage = store.outage { return "\(store.engine), does not answer: \(outage)" }
    return store.epoch.map { "\(store.engine), epoch \($0)" } ?? store.engine
  }

  /// Returns a row for each kind of entry. For a store that counts its entries in the background, a last row has the
  /// age of the counts.
  private static func storeRows(_ store: StatusReport.Store, at now: UnixTime) -> String {
    let rows = store.kinds.map { storeRow($0) }.joined()
    guard store.isCountedInBackground else { return rows.isEmpty ? "  unknown\n" : rows }
    guard let counted = store.counted else {
      return
        "  unknown: \(store.countProblem ?? "the keys of the server are being counted, see this page again later")\n"
    }
    let problem = store.countProblem.map { "; the latest count failed: \($0)" } ?? ""
    return rows + "  counted \(StatusFigures.english.age(of: counted.time, at: now))\(problem)\n"
  }

  private static func storeRow(_ kind: StatusReport.Store.Kind) -> String {
    let row = "  \(padded(String(kind.entries), 10)) \(padded(kind.kind, 8)) \(kind.bytes) bytes"
    guard let share = kind.share else { return row + "\n" }
    let fill = share > 0 ? kind.bytes * 100 / share : 0
    return row + ", \(fill) % of its share, \(kind.evicted) evicted, \(kind.refused) refused\n"
  }

  /// Returns the text with spaces at its end, so that it has at least `width` bytes.
  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
  }

  /// Returns the text with `?` in place of characters that could change the terminal or hide text.
  private static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
  }
}
