import Markup
import Time

/// The decisions over time, the refusals and the durations.
extension StatusPage {
  private typealias Outcome = (style: String, name: StatusWord, count: KeyPath<StatusReport.Outcomes, UInt64>)

  private var outcomes: [Outcome] {
    [
      ("passed", .passed, \.passed), ("refused", .refused, \.refused), ("would", .wouldBeRefused, \.wouldRefuse),
      ("unjudged", .notObservable, \.notObservable),
    ]
  }

  var decisionsSection: HTML {
    let decisions = report.decisions
    let chart = DecisionChart(report)
    let legend: [HTML] = outcomes.map { outcome in
      """
      <li><span class="key \(outcome.style)"></span>\(say(outcome.name)) \
      <strong>\(figures.number(decisions.recent[keyPath: outcome.count]))</strong></li>

      """
    }
    let hours = decisions.recentMinutes / 60
    let counts = outcomes.map { "\(language.template($0.name)) \(decisions.recent[keyPath: $0.count])" }
    let label = language.text(
      .chartLabel, ["count": "\(decisions.recentMinutes)", "counts": counts.joined(separator: ", ")])
    let span = Seconds(decisions.recentMinutes * 60)
    let marks: [HTML] = (0...4).map { quarter in
      let back = span.count * (4 - quarter) / 4
      return "<span>\(StatusFigures.clock(UnixTime(seconds: now.seconds - Int64(back))))</span>"
    }
    let empty: HTML? =
      decisions.recent.total == 0 ? "<p class=\"soft\">\(say(.noDecisions))</p>\n" : nil
    return section(
      "decisions", say(.chartTitle, ["count": "\(hours)"]),
      """
      <ul class="legend">
      \(legend)</ul>
      <div class="plot">
      <span class="scale" aria-hidden="true">\(figures.number(chart.maximum))</span>
      <span class="scale half" aria-hidden="true">\(figures.number(chart.maximum / 2))</span>
      \(chart.svg(label: label))\
      <div class="axis" aria-hidden="true">\(marks)</div>
      </div>
      \(empty)\(tables)
      """)
  }

  /// The numbers behind the chart, and those since the start.
  private var tables: HTML {
    var parts: [(start: UnixTime, outcomes: StatusReport.Outcomes)] = []
    for minute in report.decisions.minutes {
      let start = UnixTime(seconds: minute.start.time.seconds / 600 * 600)
      if parts.last?.start == start {
        parts[parts.count - 1].outcomes += minute.outcomes
      } else {
        parts.append((start, minute.outcomes))
      }
    }
    let recent: [HTML] = parts.reversed().map {
      row(language.text(.fromTime, ["time": StatusFigures.clock($0.start) + " UTC"]), $0.outcomes)
    }
    let endpoints: [HTML] =
      report.decisions.endpoints.map { row($0.endpoint, $0.outcomes) } + [
        row(language.text(.all), report.decisions.total)
      ]
    return """
      <details data-key="figures"><summary>\(say(.figuresAsTables))</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="\(say(.decisionTables))">
      \(table(.tenMinutes, recent))\(table(.endpoint, endpoints))\
      </div>
      </details>

      """
  }

  private func table(_ title: StatusWord, _ rows: [HTML]) -> HTML {
    let names: [HTML] = outcomes.map { "<th scope=\"col\" class=\"number\">\(say($0.name))</th>" }
    return """
      <table><thead><tr><th scope="col">\(say(title))</th>\(names)</tr></thead>
      <tbody>
      \(rows)</tbody></table>

      """
  }

  private func row(_ name: String, _ counts: StatusReport.Outcomes) -> HTML {
    let cells: [HTML] = outcomes.map {
      "<td class=\"number\">\(figures.number(counts[keyPath: $0.count]))</td>"
    }
    return "<tr><th scope=\"row\">\(name)</th>\(cells)</tr>\n"
  }

  /// The number of rules that are shown at once.
  private static let shownRefusals = 8

  var refusalsSection: HTML {
    guard !report.refusals.isEmpty else {
      return section(
        "refusals", say(.topRefusals), "<p class=\"soft\">\(say(.noRefusals))</p>\n")
    }
    let most = report.refusals.first.map { max(1, $0.refused + $0.wouldRefuse) } ?? 1
    let rows: [HTML] = report.refusals.map { refusal in
      """
      <li>
      <a href="\(url: refusal.url)" rel="noopener noreferrer">\(refusal.rule)</a>
      <span class="number">\(figures.number(refusal.refused + refusal.wouldRefuse))</span>
      \(bar([("refused", refusal.refused), ("would", refusal.wouldRefuse)], of: most))\
      <small>\(summary(of: refusal)), \(say(.last, ["age": age(refusal.last)]))</small>
      </li>

      """
    }
    let (first, rest) = (Array(rows.prefix(StatusPage.shownRefusals)), Array(rows.dropFirst(StatusPage.shownRefusals)))
    let more: HTML? =
      rest.isEmpty
      ? nil
      : """
      <details data-key="more-refusals"><summary>\(say(.moreRules, ["count": "\(rest.count)"]))</summary>
      <ol class="bars">
      \(rest)</ol>
      </details>

      """
    return section(
      "refusals", say(.topRefusals),
      """
      <p class="soft">\(say(.refusalsText))</p>
      <ol class="bars">
      \(first)</ol>
      \(more)
      """)
  }

  private func summary(of refusal: StatusReport.Refusal) -> String {
    let parts: [(UInt64, StatusWord)] = [
      (refusal.refused, .refusedCount), (refusal.wouldRefuse, .wouldBeRefusedCount),
    ]
    return parts.filter { $0.0 > 0 }.map { language.text($0.1, ["count": figures.number($0.0)]) }
      .joined(separator: ", ")
  }

  /// Returns a horizontal bar with parts, for numbers that the text next to it names.
  func bar(_ parts: [(style: String, count: UInt64)], of whole: UInt64) -> HTML {
    var start = 0
    let rectangles: [HTML] = parts.filter { $0.count > 0 }.map { style, count in
      let width = max(8, Int(Double(count) / Double(max(1, whole)) * 1_000))
      defer { start += width }
      return "<rect class=\"\(style)\" x=\"\(start)\" width=\"\(width)\" height=\"10\"/>"
    }
    return """
      <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">\(rectangles)</svg>

      """
  }

  var latencySection: HTML {
    let measured = report.latency.filter { $0.count > 0 }
    guard !measured.isEmpty else {
      return section("latency", say(.latency), "<p class=\"soft\">\(say(.noLatency))</p>\n")
    }
    let rows: [HTML] = measured.map { latency in
      """
      <tr><th scope="row">\(title(ofLatency: latency.name))\
      <small>\(figures.requests(Int(clamping: latency.count)))</small>\(histogram(latency.buckets))</th>\
      <td class="number">\(figures.milliseconds(latency.median))</td>\
      <td class="number">\(figures.milliseconds(latency.p95))</td>\
      <td class="number">\(figures.milliseconds(latency.p99))</td></tr>

      """
    }
    return section(
      "latency", say(.latency),
      """
      <p class="soft">\(say(.latencyText))</p>
      <table><thead><tr><th scope="col">\(say(.requestsColumn))</th><th scope="col" class="number">\(say(.median))</th>\
      <th scope="col" class="number">95 %</th><th scope="col" class="number">99 %</th></tr></thead>
      <tbody>
      \(rows)</tbody></table>

      """)
  }

  private func title(ofLatency name: String) -> HTML {
    switch name {
    case "pass": say(.latencyPass)
    case "forward": say(.latencyForward)
    case "answer": say(.latencyAnswer)
    case "refuse": say(.refused)
    case "upstream": say(.latencyUpstream)
    case "store": say(.store)
    default: "\(name)"
    }
  }

  /// Returns the distribution of durations as bars, from the fastest to the slowest bucket.
  private func histogram(_ buckets: [UInt64]) -> HTML {
    let most = max(1, buckets.max() ?? 1)
    var path = ""
    for (index, count) in buckets.enumerated() where count > 0 {
      let height = max(6, Int(Double(count) / Double(most) * 100))
      path += "M\(index * 10) 100h9v-\(height)h-9z"
    }
    return """
      <svg class="histogram" viewBox="0 0 \(buckets.count * 10) 100" preserveAspectRatio="none" aria-hidden="true">\
      <path class="grid" d="M0 100H\(buckets.count * 10)"/><path class="passed" d="\(path)"/></svg>
      """
  }
}
