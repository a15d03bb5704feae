import Markup
import Time

/// The state of the parts: health, policy, store and certificates.
extension StatusPage {
  var healthSection: HTML {
    var rows: [HTML] = report.readiness.checks.map { check in
      entry(title(ofCheck: check.name), mark(check.ok, .inOrder, check.detail))
    }
    for address in report.readiness.addresses ?? [] {
      let state = address.inService ? "in service" : "avoided after failures"
      rows.append(
        entry("Address", mark(address.ok && address.inService, "\(address.address): \(address.detail ?? state)")))
    }
    if let store = report.readiness.store {
      rows.append(entry(say(.storeNamed, ["name": "\(store.name)"]), mark(store.ok, .answers, store.detail)))
    }
    let traffic = report.traffic
    rows.append(entry(say(.serverErrors), counts(traffic.upstreamErrors, empty: .noneSinceStart)))
    if !report.store.failures.isEmpty {
      rows.append(entry(say(.storeErrors), counts(report.store.failures, empty: .none)))
    }
    let connections = say(
      .connectionCounts,
      [
        "clients": "\(figures.number(traffic.connections))",
        "server": "\(figures.number(traffic.upstreamConnections))",
      ])
    rows.append(entry(say(.connections), connections))
    let gaps = traffic.droppedLogLines + traffic.failedLogWrites
    let log =
      gaps == 0
      ? say(.complete)
      : say(
        .logGaps,
        [
          "dropped": "\(figures.number(traffic.droppedLogLines))",
          "failed": "\(figures.number(traffic.failedLogWrites))",
        ])
    rows.append(entry(say(.decisionLog), mark(gaps == 0, log)))
    return section("health", say(.health), "<dl class=\"facts\">\n\(rows)</dl>\n")
  }

  private func title(ofCheck name: String) -> HTML {
    switch name {
    case "serving": say(.checkServing)
    case "workers": say(.checkWorkers)
    case "upstream": say(.server)
    case "store": say(.sharedStore)
    default: "\(name)"
    }
  }

  private func entry(_ name: HTML, _ value: HTML) -> HTML {
    "<div><dt>\(name)</dt><dd>\(value)</dd></div>\n"
  }

  /// Returns the state of a part.
  ///
  /// - Parameters:
  ///   - word: The text of a part that is in order.
  ///   - problem: The message about a part that is not.
  private func mark(_ isGood: Bool, _ word: StatusWord, _ problem: String?) -> HTML {
    if isGood { return mark(true, say(word)) }
    return mark(false, problem.map { "<span\(inEnglish)>\(visible: $0)</span>" } ?? say(.fails))
  }

  private func mark(_ isGood: Bool, _ text: HTML) -> HTML {
    """
    <span class="state"><span class="dot \(isGood ? "good" : "bad")" aria-hidden="true"></span>\
    <span class="\(isGood ? "" : "bad")">\(text)</span></span>
    """
  }

  private func counts(_ counts: [StatusReport.Count], empty: StatusWord) -> HTML {
    guard !counts.isEmpty else { return "<span class=\"soft\">\(say(empty))</span>" }
    let texts = counts.map { "\(figures.number($0.count)) \($0.name)" }
    return "<span class=\"warn\">\(visible: texts.joined(separator: ", "))</span>"
  }

  var policySection: HTML {
    let policy = report.policy
    let reloads = say(
      .reloadCounts,
      ["adopted": "\(figures.number(policy.reloads))", "refused": "\(figures.number(policy.refusedReloads))"])
    let clients = say(
      .clientCounts,
      ["count": "\(figures.number(policy.clients))", "observed": "\(figures.number(policy.observedClients))"])
    let rows = [
      entry(say(.version), "<code>\(policy.version)</code>"),
      entry(say(.policyRead), "\(time(policy.loaded.time)) <small>\(cause(policy.loaded.reason))</small>"),
      entry(say(.lastReload), policy.lastReload.map(reload) ?? "<span class=\"soft\">\(say(.noReload))</span>"),
      entry(say(.reloads), reloads),
      entry(say(.server), "<code>\(visible: policy.upstream)</code>"),
      entry(say(.mode), say(.modes, ["mode": "\(policy.mode)", "unknown": "\(policy.unknownClients)"])),
      entry(say(.clients), clients),
      entry(say(.program), "proofgate \(report.program.version)"),
    ]
    let libraries: [HTML] = report.program.libraries.map { "<li>\(visible: $0)</li>\n" }
    return section(
      "policy", say(.policyAndProgram),
      """
      <dl class="facts">
      \(rows)</dl>
      <details data-key="libraries"><summary>\(say(.libraries))</summary>
      <ul class="plain">
      \(libraries)</ul>
      </details>

      """)
  }

  private func reload(_ reload: StatusReport.Policy.Reload) -> HTML {
    let (word, style): (StatusWord, String) =
      switch reload.result {
      case .adopted: (.adopted, "good")
      case .unchanged: (.unchanged, "good")
      case .errors: (.refusedErrors, "bad")
      case .conflict: (.refusedConflict, "bad")
      }
    let lines = reload.settings + reload.changes + reload.warnings
    let items: [HTML] = lines.map { "<li>\(visible: $0)</li>\n" }
    let counts = say(
      .changeCounts,
      [
        "settings": "\(reload.settings.count)", "decisions": "\(reload.changes.count)",
        "warnings": "\(reload.warnings.count)",
      ])
    let details: HTML? =
      lines.isEmpty
      ? nil
      : """
      <details data-key="reload"><summary>\(counts)</summary>
      <ul class="plain"\(inEnglish)>
      \(items)</ul>
      </details>

      """
    return """
      \(time(reload.time)) <small>\(cause(reload.reason))</small>
      <span class="\(style)">\(say(word))</span>
      \(details)
      """
  }

  var storeSection: HTML {
    let store = report.store
    let epoch: HTML? = store.epoch.map { ", \(say(.epoch, ["epoch": "\($0)"]))" }
    let counted: HTML? = store.counted.map { ", \(say(.counted, ["age": age($0)]))" }
    let problem: HTML? = store.countProblem.map {
      ". \(say(.countFailed, ["problem": "<span\(inEnglish)>\(visible: $0)</span>"]))"
    }
    let engine: HTML = """
      <p class="soft">\(say(.engine, ["engine": "\(store.engine)"]))\(epoch)\(counted)\(problem)</p>

      """
    let rows: [HTML] = store.kinds.map { kind in
      let share: HTML? = kind.share.map { share in
        let (bytes, share) = (UInt64(clamping: kind.bytes), UInt64(clamping: share))
        let text = say(
          .shareText,
          [
            "percent": "\(figures.percent(bytes, of: share))", "evicted": "\(figures.number(kind.evicted))",
            "refused": "\(figures.number(kind.refused))",
          ])
        return "\(bar([("passed", bytes)], of: share))<small>\(text)</small>"
      }
      return """
        <tr><th scope="row">\(kind.kind)\(share)</th><td class="number">\(figures.number(kind.entries))</td>\
        <td class="number">\(figures.bytes(kind.bytes))</td></tr>

        """
    }
    guard !rows.isEmpty else {
      let isCounting = store.isCountedInBackground && store.countProblem == nil
      return section(
        "store", say(.stored),
        "\(engine)<p class=\"soft\">\(say(isCounting ? .countingNow : .entriesUnknown))</p>\n")
    }
    return section(
      "store", say(.stored),
      """
      \(engine)<table><thead><tr><th scope="col">\(say(.kind))</th>\
      <th scope="col" class="number">\(say(.entries))</th><th scope="col" class="number">\(say(.size))</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>

      """)
  }

  var certificatesSection: HTML {
    guard !report.certificates.isEmpty else {
      return section("certificates", say(.certificates), "<p class=\"soft\">\(say(.noCertificates))</p>\n")
    }
    let rows: [HTML] = report.certificates.map { certificate in
      """
      <li><strong>\(visible: certificate.name)</strong> <small>\(visible: certificate.listener)</small>
      \(expiry(certificate.expires.time))<small>\(time(certificate.expires)), SHA-256 \
      <code>\(certificate.fingerprint)</code></small></li>

      """
    }
    return section("certificates", say(.certificates), "<ul class=\"certificates\">\n\(rows)</ul>\n")
  }

  /// Returns the remaining time. The alerts of the metrics begin at the same numbers of days.
  private func expiry(_ end: UnixTime) -> HTML {
    let days = (end - now).count / 86_400
    guard end >= now else { return "<span class=\"pill bad\">\(say(.expired))</span>" }
    let style = days < 2 ? "bad" : days < 14 ? "warn" : "good"
    return "<span class=\"pill \(style)\">\(say(.daysLeft, ["count": "\(days)"]))</span>"
  }
}
