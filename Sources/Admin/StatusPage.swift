import Policy
import Telemetry
import Time

/// The status page: the state of the process and the numbers of its decisions, as plain text for a terminal. It
/// contains no secret.
enum StatusPage {
  /// Returns the text of the page.
  static func render(_ status: ProcessStatus, now: Timestamp) -> String {
    let state = status.current
    let policy = state.policy
    let metrics = status.metrics.snapshot()
    let phase =
      switch state.phase {
      case .starting: "starting"
      case .serving: "serving"
      case .draining: "draining"
      }
    var text = """
      proofgate \(status.version): \(phase), up \(formattedDuration(Seconds(now - status.startTime)))

      policy       \(policy.version), \(metrics.policyReloads) reloads, \(metrics.policyReloadFailures) refused
      issuer       \(policy.issuer)
      upstream     \(policy.upstream)
      mode         \(policy.mode.rawValue), unknown clients: \(policy.unknownClients.rawValue)
      clients      \(policy.clientCount), \(policy.observedClientCount) of them observed
      workers      \(metrics.workers), \(metrics.workersStalled) stalled
      connections  \(metrics.connections) open, \(metrics.connectionsAccepted) accepted
      requests     \(Handling.allCases.map { "\(metrics.requests[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", "))
      log          \(metrics.logLinesDropped) lines dropped
      store        \(describe(metrics.storeActivity))

      stored entries by kind

      """
    text += storeRows(metrics.store, metrics.storeCount)
    text += "\ndecisions by endpoint and rule\n"
    // `labels` also contains the client. A row adds the counts of all clients for one endpoint, decision and rule.
    var rows: [String: UInt64] = [:]
    for (labels, count) in metrics.decisions {
      let rule = labels.rule.isEmpty ? "-" : labels.rule
      rows["\(padded(labels.endpoint.rawValue, 14)) \(padded(labels.decision.rawValue, 8)) \(rule)", default: 0] +=
        count
    }
    if rows.isEmpty { text += "  none yet\n" }
    for (row, count) in rows.sorted(by: { $0.key < $1.key }) { text += "  \(padded(String(count), 10)) \(row)\n" }
    return text + "\nsee also /metrics /healthz /readyz\n"
  }

  /// Describes the engine of the store and its state.
  private static func describe(_ store: StoreActivitySeries?) -> String {
    guard let store else { return "memory" }
    guard let outage = store.outage else { return "\(store.engine), epoch \(store.epoch)" }
    return "\(store.engine), does not answer: \(outage)"
  }

  /// Returns a row for each kind of entry. For a store that counts its entries in the background, a last row has the
  /// age of the counts.
  private static func storeRows(_ kinds: [StoreSeries], _ count: StoreCountSeries?) -> String {
    let rows = kinds.map { storeRow($0) }.joined()
    guard let count else { return rows.isEmpty ? "  unknown\n" : rows }
    guard let age = count.age else {
      return "  unknown: \(count.problem ?? "the keys of the server are being counted, see this page again later")\n"
    }
    let problem = count.problem.map { "; the latest count failed: \($0)" } ?? ""
    return rows + "  counted \(formattedDuration(age)) ago\(problem)\n"
  }

  private static func storeRow(_ series: StoreSeries) -> String {
    let row = "  \(padded(String(series.entries), 10)) \(padded(series.kind, 8)) \(series.bytes) bytes"
    guard let share = series.share else { return row + "\n" }
    let fill = share > 0 ? series.bytes * 100 / share : 0
    return row + ", \(fill) % of its share, \(series.evictions) evicted, \(series.refusals) refused\n"
  }

  /// Returns the text with spaces at its end, so that it has at least `width` bytes.
  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
  }

  private static func formattedDuration(_ time: Seconds) -> String {
    let seconds = time.count
    return switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
    default: "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
    }
  }
}
