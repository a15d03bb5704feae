import HTTP
import Markup
import Rollout
import Time

/// The status page: one HTML document without other files. It needs no script; with a script, its figures are live.
struct StatusPage {
  let report: StatusReport

  /// The content security policy. It permits the style sheet and the script of the page by their hashes, requests to the
  /// listener, and nothing else.
  static let contentSecurityPolicy =
    "default-src 'none'; style-src \(StatusStylesheet.source.hashSource); "
    + "script-src \(StatusScript.source.hashSource); connect-src 'self'; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'"

  /// Returns the response with the page.
  static func response(_ report: StatusReport, entityTag: String) -> Response {
    var response = AdminHandler.makeResponse(
      200, "text/html; charset=utf-8", Array(StatusPage(report: report).html(entityTag: entityTag).text.utf8))
    response.headers.set("Content-Language", "en")
    response.headers.set("Content-Security-Policy", contentSecurityPolicy)
    response.headers.set("X-Frame-Options", "DENY")
    response.headers.set("Referrer-Policy", "no-referrer")
    return response
  }

  /// Returns the document.
  func html(entityTag: String) -> HTML {
    """
    <!doctype html>
    <html lang="en" data-tag="\(entityTag)">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>\(state.title) · Proofgate</title>
    <style>\(StatusStylesheet.source)</style>
    </head>
    <body>
    <header>
    <p class="mark">\(StatusPage.logo)Proofgate</p>
    <p id="live" role="status">As of <time datetime="\(report.time.time.text)">\(StatusFigures.clock(now)) UTC</time></p>
    </header>
    <main id="status">
    \(overview)\(notes)\(tiles)\(decisionsSection)\(clientsSection)<div class="columns">
    \(refusalsSection)\(latencySection)\(healthSection)\(policySection)\(storeSection)\(certificatesSection)</div>
    </main>
    <footer>
    <ul>
    <li><a href="status.json">JSON</a></li>
    <li><a href="status.txt">Text</a></li>
    <li><a href="metrics">Metrics</a></li>
    <li><a href="readyz">Readiness</a></li>
    </ul>
    </footer>
    <script>\(StatusScript.source)</script>
    </body>
    </html>

    """
  }

  /// The time to which all ages on the page are relative.
  var now: UnixTime { report.time.time }

  // MARK: Overview

  /// The state of the process in one word, with the class of its color.
  private var state: (title: String, style: String) {
    switch report.program.phase {
    case "draining": ("Draining", "warn")
    case "starting": ("Starting", "warn")
    default: report.readiness.ready ? ("Ready", "good") : ("Not ready", "bad")
    }
  }

  private static let logo: HTML = """
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2 4 5v6c0 5 3.4 9.3 8 11 4.6-1.7 8-6 8-11V5z"/>\
    <path class="check" d="m8 12 3 3 5-6"/></svg>
    """

  private var overview: HTML {
    let upTime = StatusFigures.duration(now - report.program.started.time)
    return """
      <div class="lead">
      <h1>\(visible: report.policy.issuer)</h1>
      <p><span class="pill \(state.style)">\(state.title)</span> \
      <span class="soft">up \(upTime) · version \(report.program.version) · policy <code>\(report.policy.version)</code></span></p>
      </div>

      """
  }

  /// The problems that the operator should see first.
  private var notes: [HTML] {
    var notes: [HTML] = []
    if let reload = report.policy.lastReload, reload.result == .errors || reload.result == .conflict {
      let (shown, rest) = (reload.errors.prefix(10), reload.errors.count - 10)
      let lines: [HTML] = shown.map { "<li><code>\(visible: $0)</code></li>\n" }
      let more: HTML? = rest > 0 ? "<p>\(rest) more are in <a href=\"status.json\">the JSON</a>.</p>\n" : nil
      notes.append(
        """
        <section class="note bad" aria-label="Refused reload">
        <h2>The last reload was refused</h2>
        <p>\(cause(reload.reason)) at \(time(reload.time)). Policy <code>\(report.policy.version)</code> stays in force.</p>
        <ul>
        \(lines)</ul>
        \(more)</section>

        """)
    }
    let problems = report.readiness.checks.filter { !$0.ok }
    if !problems.isEmpty {
      let lines: [HTML] = problems.map { "<li>\(visible: $0.detail ?? $0.name)</li>\n" }
      notes.append(
        """
        <section class="note \(report.program.phase == "serving" ? "bad" : "warn")" aria-label="Readiness">
        <h2>The gateway is not ready</h2>
        <ul>
        \(lines)</ul>
        </section>

        """)
    }
    if let outage = report.store.outage {
      notes.append(
        """
        <section class="note bad" aria-label="Outage of the store">
        <h2>The store does not answer</h2>
        <p>\(visible: outage)</p>
        </section>

        """)
    }
    return notes
  }

  /// The most important figures.
  private var tiles: HTML {
    let recent = report.decisions.recent
    let ready = report.clients.count { $0.state == .ready }
    let notReady = report.clients.count { $0.state == .notReady }
    let slowest = report.latency.first { $0.name == "upstream" }
    return """
      <dl class="tiles">
      \(tile("Decisions", StatusFigures.number(recent.total), "in the last \(report.decisions.recentMinutes / 60) hours"))\
      \(tile("Refused", StatusFigures.number(recent.refused), StatusFigures.percent(recent.refused, of: recent.total) + " of them", recent.refused > 0 ? "bad" : ""))\
      \(tile("Would be refused", StatusFigures.number(recent.wouldRefuse), "of observed clients", recent.wouldRefuse > 0 ? "warn" : ""))\
      \(tile("Ready to enforce", StatusFigures.number(ready), notReady == 0 ? "clients" : "clients; \(notReady) not ready", "good"))\
      \(tile("Server answers", StatusFigures.milliseconds(slowest?.p95), "95 % are faster"))\
      </dl>

      """
  }

  private func tile(_ name: String, _ figure: String, _ detail: String, _ style: String = "") -> HTML {
    "<div><dt>\(name)</dt><dd class=\"figure \(style)\">\(figure)</dd><dd>\(detail)</dd></div>\n"
  }

  // MARK: Parts of the sections

  /// Returns the age of a point in time, with the exact time as its title.
  func age(_ time: StatusTime) -> HTML {
    """
    <time datetime="\(time.time.text)" title="\(time.time.text)">\(StatusFigures.age(of: time.time, at: now))</time>
    """
  }

  func time(_ time: StatusTime) -> HTML {
    "<time datetime=\"\(time.time.text)\">\(StatusFigures.minute(time.time))</time>"
  }

  /// Returns the cause of a load of the policy.
  func cause(_ reason: String) -> HTML {
    switch reason {
    case "start": "Start of the process"
    case "signal": "SIGHUP"
    case "file": "Change of a file (--watch)"
    case "admin": "Request to the admin listener"
    default: "\(reason)"
    }
  }

  /// Returns a section with a title.
  ///
  /// - Parameter id: The id of the heading.
  func section(_ id: String, _ title: String, style: String = "", _ content: HTML) -> HTML {
    """
    <section class="card \(style)" aria-labelledby="\(id)">
    <h2 id="\(id)">\(title)</h2>
    \(content)</section>

    """
  }
}
