import HTTP
import Markup
import Rollout
import Time

/// The status page: one HTML document without other files. It needs no script; with a script, its figures are live.
struct StatusPage {
  let report: StatusReport
  let language: StatusLanguage
  /// The numbers, durations and times in the language.
  var figures: StatusFigures { StatusFigures(language: language) }

  /// The content security policy. It permits the style sheet and the script of the page by their hashes, requests to the
  /// listener, and nothing else.
  static let contentSecurityPolicy =
    "default-src 'none'; style-src \(StatusStylesheet.source.hashSource); "
    + "script-src \(StatusScript.source.hashSource); connect-src 'self'; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'"

  /// Returns the response with the page.
  static func response(_ report: StatusReport, entityTag: String, _ language: StatusLanguage) -> Response {
    var response = AdminHandler.makeResponse(
      200, "text/html; charset=utf-8",
      StatusPage(report: report, language: language).html(entityTag: entityTag).utf8)
    response.headers.set("Content-Language", language.tag)
    response.headers.append("Vary", "Accept-Language")
    response.headers.set("Content-Security-Policy", contentSecurityPolicy)
    response.headers.set("X-Frame-Options", "DENY")
    response.headers.set("Referrer-Policy", "no-referrer")
    return response
  }

  /// Returns the document.
  func html(entityTag: String) -> HTML {
    """
    <!doctype html>
    <html lang="\(language.tag)" data-tag="\(entityTag)">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>\(say(state.title)) · Proofgate</title>
    <style>\(StatusStylesheet.source)</style>
    </head>
    <body>
    <header>
    <p class="mark">\(StatusPage.logo)Proofgate</p>
    <p id="live" role="status" data-live="\(say(.live))" data-lost="\(say(.lost))">\(say(.asOf, ["time": asOf]))</p>
    </header>
    <main id="status">
    \(overview)\(notes)\(tiles)\(decisionsSection)\(clientsSection)<div class="columns">
    \(refusalsSection)\(latencySection)\(healthSection)\(policySection)\(storeSection)\(certificatesSection)</div>
    </main>
    <footer>
    <ul>
    <li><a href="status.json">JSON</a></li>
    <li><a href="status.txt">\(say(.textLink))</a></li>
    <li><a href="metrics">\(say(.metricsLink))</a></li>
    <li><a href="readyz">\(say(.readinessLink))</a></li>
    </ul>
    </footer>
    <script>\(StatusScript.source)</script>
    </body>
    </html>

    """
  }

  /// The time to which all ages on the page are relative.
  var now: UnixTime { report.time.time }

  private var asOf: HTML { "<time datetime=\"\(now.text)\">\(StatusFigures.clock(now)) UTC</time>" }

  // MARK: Overview

  /// The state of the process in one word, with the class of its color.
  private var state: (title: StatusWord, style: String) {
    switch report.program.phase {
    case "draining": (.draining, "warn")
    case "starting": (.starting, "warn")
    default: report.readiness.ready ? (.ready, "good") : (.notReady, "bad")
    }
  }

  private static let logo: HTML = """
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2 4 5v6c0 5 3.4 9.3 8 11 4.6-1.7 8-6 8-11V5z"/>\
    <path class="check" d="m8 12 3 3 5-6"/></svg>
    """

  private var overview: HTML {
    let facts = say(
      .overview,
      [
        "duration": "\(StatusFigures.duration(now - report.program.started.time))",
        "version": "\(report.program.version)", "policy": "<code>\(report.policy.version)</code>",
      ])
    return """
      <div class="lead">
      <h1>\(visible: report.policy.issuer)</h1>
      <p><span class="pill \(state.style)">\(say(state.title))</span> <span class="soft">\(facts)</span></p>
      </div>

      """
  }

  /// The problems that the operator should see first.
  private var notes: [HTML] {
    var notes: [HTML] = []
    if let reload = report.policy.lastReload, reload.result == .errors || reload.result == .conflict {
      let (shown, rest) = (reload.errors.prefix(10), reload.errors.count - 10)
      let lines: [HTML] = shown.map { "<li><code>\(visible: $0)</code></li>\n" }
      let more: HTML? = rest > 0 ? "<p>\(say(.moreErrors, ["count": "\(rest)"]))</p>\n" : nil
      let text = say(
        .reloadRefusedText,
        [
          "cause": cause(reload.reason), "time": time(reload.time),
          "policy": "<code>\(report.policy.version)</code>",
        ])
      notes.append(
        """
        <section class="note bad" aria-labelledby="reload-refused">
        <h2 id="reload-refused">\(say(.reloadRefused))</h2>
        <p>\(text)</p>
        <ul\(inEnglish)>
        \(lines)</ul>
        \(more)</section>

        """)
    }
    let problems = report.readiness.checks.filter { !$0.ok }
    if !problems.isEmpty {
      let lines: [HTML] = problems.map { "<li>\(visible: $0.detail ?? $0.name)</li>\n" }
      notes.append(
        """
        <section class="note \(report.program.phase == "serving" ? "bad" : "warn")" aria-labelledby="not-ready">
        <h2 id="not-ready">\(say(.gatewayNotReady))</h2>
        <ul\(inEnglish)>
        \(lines)</ul>
        </section>

        """)
    }
    if let outage = report.store.outage {
      notes.append(
        """
        <section class="note bad" aria-labelledby="store-outage">
        <h2 id="store-outage">\(say(.storeOutage))</h2>
        <p\(inEnglish)>\(visible: outage)</p>
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
    let hours = say(.inLastHours, ["count": "\(report.decisions.recentMinutes / 60)"])
    let refused = say(.partOfThem, ["percent": "\(figures.percent(recent.refused, of: recent.total))"])
    let clients =
      notReady == 0 ? say(.clientsTile) : say(.clientsNotReadyTile, ["count": "\(figures.number(notReady))"])
    return """
      <dl class="tiles">
      \(tile(.decisions, figures.number(recent.total), hours))\
      \(tile(.refused, figures.number(recent.refused), refused, recent.refused > 0 ? "bad" : ""))\
      \(tile(.wouldBeRefused, figures.number(recent.wouldRefuse), say(.ofObserved), recent.wouldRefuse > 0 ? "warn" : ""))\
      \(tile(.readyToEnforce, figures.number(ready), clients, "good"))\
      \(tile(.serverAnswers, figures.milliseconds(slowest?.p95), say(.mostAreFaster)))\
      </dl>

      """
  }

  private func tile(_ name: StatusWord, _ figure: String, _ detail: HTML, _ style: String = "") -> HTML {
    "<div><dt>\(say(name))</dt><dd class=\"figure \(style)\">\(figure)</dd><dd>\(detail)</dd></div>\n"
  }

  // MARK: Parts of the sections

  /// Returns a text in the language of the page, with markup in place of its placeholders.
  func say(_ word: StatusWord, _ values: [String: HTML] = [:]) -> HTML { language.html(word, values) }

  /// The attribute of an element whose text is English in every language; nothing on an English page.
  var inEnglish: HTML? { language.tag == StatusLanguage.english.tag ? nil : " lang=\"en\"" }

  /// Returns the age of a point in time, with the exact time as its title.
  func age(_ time: StatusTime) -> HTML {
    """
    <time datetime="\(time.time.text)" title="\(time.time.text)">\(figures.age(of: time.time, at: now))</time>
    """
  }

  func time(_ time: StatusTime) -> HTML {
    "<time datetime=\"\(time.time.text)\">\(StatusFigures.minute(time.time))</time>"
  }

  /// Returns the cause of a load of the policy.
  func cause(_ reason: String) -> HTML {
    switch reason {
    case "start": say(.causeStart)
    case "signal": "SIGHUP"
    case "file": say(.causeFile)
    case "admin": say(.causeAdmin)
    default: "\(reason)"
    }
  }

  /// Returns a section with a title.
  ///
  /// - Parameter id: The id of the heading.
  func section(_ id: String, _ title: HTML, style: String = "", _ content: HTML) -> HTML {
    """
    <section class="card \(style)" aria-labelledby="\(id)">
    <h2 id="\(id)">\(title)</h2>
    \(content)</section>

    """
  }
}
