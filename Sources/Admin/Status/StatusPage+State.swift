import Markup
import Time

/// The state of the parts: health, policy, store and certificates.
extension StatusPage {
  var healthSection: HTML {
    var rows: [HTML] = report.readiness.checks.map { check in
      entry(StatusPage.title(ofCheck: check.name), mark(check.ok, check.ok ? "in order" : check.detail ?? "fails"))
    }
    for address in report.readiness.addresses ?? [] {
      let state = address.inService ? "in service" : "avoided after failures"
      rows.append(
        entry("Address", mark(address.ok && address.inService, "\(address.address): \(address.detail ?? state)")))
    }
    if let store = report.readiness.store {
      rows.append(entry("Store \(store.name)", mark(store.ok, store.ok ? "answers" : store.detail ?? "fails")))
    }
    let traffic = report.traffic
    rows.append(
      entry(
        "Errors of the server", counts(traffic.upstreamErrors, empty: "none since the start")))
    if !report.store.failures.isEmpty {
      rows.append(entry("Errors of the store", counts(report.store.failures, empty: "none")))
    }
    rows.append(
      entry(
        "Connections",
        """
        \(StatusFigures.number(traffic.connections)) of clients, \(StatusFigures.number(traffic.upstreamConnections)) to \
        the server
        """))
    let gaps = traffic.droppedLogLines + traffic.failedLogWrites
    rows.append(
      entry(
        "Decision log",
        mark(
          gaps == 0,
          gaps == 0
            ? "complete"
            : "\(StatusFigures.number(traffic.droppedLogLines)) lines dropped, "
              + "\(StatusFigures.number(traffic.failedLogWrites)) writes failed")))
    return section("health", "Health", "<dl class=\"facts\">\n\(rows)</dl>\n")
  }

  private static func title(ofCheck name: String) -> String {
    switch name {
    case "serving": "Serving"
    case "workers": "Workers"
    case "upstream": "Server"
    case "store": "Shared store"
    default: name
    }
  }

  private func entry(_ name: String, _ value: HTML) -> HTML {
    "<div><dt>\(name)</dt><dd>\(value)</dd></div>\n"
  }

  private func mark(_ isGood: Bool, _ text: String) -> HTML {
    """
    <span class="state"><span class="dot \(isGood ? "good" : "bad")" aria-hidden="true"></span>\
    <span class="\(isGood ? "" : "bad")">\(visible: text)</span></span>
    """
  }

  private func counts(_ counts: [StatusReport.Count], empty: String) -> HTML {
    guard !counts.isEmpty else { return "<span class=\"soft\">\(empty)</span>" }
    let texts = counts.map { "\(StatusFigures.number($0.count)) \($0.name)" }
    return "<span class=\"warn\">\(visible: texts.joined(separator: ", "))</span>"
  }

  var policySection: HTML {
    let policy = report.policy
    var rows = [
      entry("Version", "<code>\(policy.version)</code>"),
      entry("Read", "\(time(policy.loaded.time)) <small>\(cause(policy.loaded.reason))</small>"),
    ]
    rows.append(entry("Last reload", policy.lastReload.map(reload) ?? "<span class=\"soft\">none</span>"))
    rows += [
      entry(
        "Reloads",
        """
        \(StatusFigures.number(policy.reloads)) adopted, \(StatusFigures.number(policy.refusedReloads)) refused
        """),
      entry("Server", "<code>\(visible: policy.upstream)</code>"),
      entry("Mode", "\(policy.mode); unknown clients: \(policy.unknownClients)"),
      entry(
        "Clients", "\(StatusFigures.number(policy.clients)), \(StatusFigures.number(policy.observedClients)) observed"),
      entry("Program", "proofgate \(report.program.version)"),
    ]
    let libraries: [HTML] = report.program.libraries.map { "<li>\(visible: $0)</li>\n" }
    return section(
      "policy", "Policy and program",
      """
      <dl class="facts">
      \(rows)</dl>
      <details data-key="libraries"><summary>Linked libraries</summary>
      <ul class="plain">
      \(libraries)</ul>
      </details>

      """)
  }

  private func reload(_ reload: StatusReport.Policy.Reload) -> HTML {
    let (text, style) =
      switch reload.result {
      case .adopted: ("adopted", "good")
      case .unchanged: ("unchanged; secrets and certificates were read again", "good")
      case .errors: ("refused: errors in the policy", "bad")
      case .conflict: ("refused: it needs a restart", "bad")
      }
    let lines = reload.changes + reload.warnings
    let items: [HTML] = lines.prefix(20).map { "<li>\(visible: $0)</li>\n" }
    let details: HTML? =
      lines.isEmpty
      ? nil
      : """
      <details data-key="reload"><summary>\(StatusFigures.counted(reload.changes.count, "changed decision")), \
      \(StatusFigures.counted(reload.warnings.count, "warning"))</summary>
      <ul class="plain">
      \(items)</ul>
      </details>

      """
    return """
      \(time(reload.time)) <small>\(cause(reload.reason))</small>
      <span class="\(style)">\(text)</span>
      \(details)
      """
  }

  var storeSection: HTML {
    let store = report.store
    let engine: HTML = """
      <p class="soft">Engine \(store.engine)\(store.epoch.map { ", epoch \($0)" } ?? "")\
      \(store.counted.map { ", counted \(age($0))" })\
      \(store.countProblem.map { ". The latest count failed: \(visible: $0)" })</p>

      """
    let rows: [HTML] = store.kinds.map { kind in
      let share: HTML? = kind.share.map { share in
        """
        \(bar([("passed", UInt64(clamping: kind.bytes))], of: UInt64(clamping: share)))\
        <small>\(StatusFigures.percent(UInt64(clamping: kind.bytes), of: UInt64(clamping: share))) of its share, \
        \(StatusFigures.number(kind.evicted)) evicted, \(StatusFigures.number(kind.refused)) refused</small>
        """
      }
      return """
        <tr><th scope="row">\(kind.kind)\(share)</th><td class="number">\(StatusFigures.number(kind.entries))</td>\
        <td class="number">\(StatusFigures.bytes(kind.bytes))</td></tr>

        """
    }
    guard !rows.isEmpty else {
      let reason =
        store.isCountedInBackground && store.countProblem == nil ? StatusText.countingNow : "The entries are not known."
      return section(
        "store", "Stored", "\(engine)<p class=\"soft\">\(reason.prefix(1).uppercased() + reason.dropFirst())</p>\n")
    }
    return section(
      "store", "Stored",
      """
      \(engine)<table><thead><tr><th scope="col">Kind</th><th scope="col" class="number">Entries</th>\
      <th scope="col" class="number">Size</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>

      """)
  }

  var certificatesSection: HTML {
    guard !report.certificates.isEmpty else {
      return section("certificates", "Certificates", "<p class=\"soft\">The gateway presents no certificate.</p>\n")
    }
    let rows: [HTML] = report.certificates.map { certificate in
      """
      <li><strong>\(visible: certificate.name)</strong> <small>\(visible: certificate.listener)</small>
      \(expiry(certificate.expires.time))<small>\(time(certificate.expires)), SHA-256 \
      <code>\(certificate.fingerprint)</code></small></li>

      """
    }
    return section("certificates", "Certificates", "<ul class=\"certificates\">\n\(rows)</ul>\n")
  }

  /// Returns the remaining time. The alerts of the metrics begin at the same numbers of days.
  private func expiry(_ end: UnixTime) -> HTML {
    let days = (end - now).count / 86_400
    return switch days {
    case _ where end < now: "<span class=\"pill bad\">expired</span>"
    case ..<2: "<span class=\"pill bad\">\(days) days left</span>"
    case ..<14: "<span class=\"pill warn\">\(days) days left</span>"
    default: "<span class=\"pill good\">\(days) days left</span>"
    }
  }
}
