import Foundation
import Markup
import Policy
import Rollout
import Telemetry
import Testing
import Time

@testable import Admin
@testable import JSON

/// The value from which the status page, its JSON and its text are written.
@Suite("The status report")
struct StatusReportTests {
  private static func members(_ report: StatusReport) throws -> [String: JSONValue] {
    let members = JSONReader.membersOfAnySize(of: report.json.span)
    return try #require(members)
  }

  @Test("The JSON, the page and the text carry the same figures")
  func sameFigures() throws {
    let report = try StatusSample.busy().report()
    let html = StatusSample.html(report)
    let text = StatusText.render(report)
    let members = try Self.members(report)
    guard case .object(let decisions)? = members["decisions"], case .object(let recent)? = decisions["recent"],
      case .integer(let refused)? = recent["refused"], case .integer(let wouldRefuse)? = recent["would_refuse"],
      case .array(let refusals)? = members["refusals"], case .array(let clients)? = members["clients"],
      case .object(let policy)? = members["policy"]
    else {
      Issue.record("members are missing")
      return
    }
    #expect(refused == 38 && wouldRefuse > 300)
    #expect(html.contains("<dt>Refused</dt><dd class=\"figure bad\">38</dd>"))
    #expect(html.contains("Would be refused <strong>\(wouldRefuse)</strong>"))
    #expect(policy["version"]?.text == "3fa9c1d2" && html.contains("policy <code>3fa9c1d2</code>"))
    #expect(text.contains("policy       3fa9c1d2, read "))
    #expect(refusals.count == 5 && clients.count == 10)
    for case .object(let refusal) in refusals {
      let rule = try #require(refusal["rule"]?.text)
      let url = "https://id.example.com/.proofgate/rules/\(rule)"
      #expect(
        refusal["url"]?.text == url && html.contains("<a href=\"\(url)\" rel=\"noopener noreferrer\">\(rule)</a>"))
      guard case .integer(let refused)? = refusal["refused"], case .integer(let would)? = refusal["would_refuse"] else {
        Issue.record("\(rule) has no figures")
        continue
      }
      #expect(refused == 0 || html.contains("<small>\(refused) refused, last"))
      #expect(would == 0 || html.contains("<small>\(would) would be refused, last"))
      #expect(text.contains("  \(rule) ") && refused + would > 0)
    }
    for case .object(let client) in clients {
      let id = try #require(client["client"]?.text)
      #expect(html.contains("<code>\(id)</code>") && text.contains("  \(id) "))
    }
    // Figures of the other parts.
    for figure in [
      "48,210", "4.4 MiB", "9 days left", "gateway.internal.example.com", "epoch 7f3a90c2", "14 timeout",
      "OpenSSL 3.0.17", "38 of clients",
    ] {
      #expect(html.contains(figure), "\(figure)")
    }
  }

  @Test("Reports of the same minute and state are equal, and the page follows from the report alone")
  func deterministic() throws {
    let sample = try StatusSample.busy()
    let first = sample.report()
    let later = sample.report(now: StatusSample.time(minutesAgo: 0, milliseconds: 59_999))
    #expect(first.json == later.json && StatusSample.html(first) == StatusSample.html(later))
    sample.decide(.forward, client: "acme-mail", minutesAgo: 0)
    #expect(sample.report().json != first.json)
  }

  @Test("Decisions leave the chart after two hours, and stay in the totals")
  func rollOver() throws {
    let sample = try StatusSample()
    sample.decide(.reject, client: nil, rule: "state-required", minutesAgo: 119)
    sample.decide(.forward, client: nil, minutesAgo: 0)
    let report = sample.report()
    #expect(
      report.decisions.minutes.map(\.start) == [
        StatusTime(StatusSample.time(minutesAgo: 119)), StatusTime(StatusSample.now),
      ])
    #expect(report.decisions.recent == report.decisions.total && report.decisions.total.total == 2)
    let next = sample.report(now: StatusSample.time(minutesAgo: -1)).decisions
    #expect(next.recent.refused == 0 && next.recent.passed == 1 && next.total.refused == 1)
    #expect(sample.report(now: StatusSample.time(minutesAgo: -120)).decisions.minutes.isEmpty)
  }

  @Test("The chart has a bar of each outcome at its minute, and is empty without decisions")
  func chart() throws {
    let sample = try StatusSample()
    #expect(!DecisionChart(sample.report()).svg(label: "x").text.contains("d=\"M0 1000h5"))
    for _ in 0..<3 { sample.decide(.forward, client: nil, minutesAgo: 119) }
    sample.decide(.reject, client: nil, rule: "state-required", minutesAgo: 119)
    sample.decide(.wouldReject, client: nil, rule: "state-required", minutesAgo: 0)
    let chart = DecisionChart(sample.report())
    let svg = chart.svg(label: "x").text
    #expect(chart.maximum == 4)
    // Three of four decisions passed; the refused one is on top of them.
    #expect(svg.contains("<path class=\"passed\" d=\"M0 1000h5V250h-5z\"/>"))
    #expect(svg.contains("<path class=\"refused\" d=\"M0 250h5V0h-5z\"/>"))
    #expect(svg.contains("<path class=\"would\" d=\"M714 1000h5V750h-5z\"/>"))
  }

  @Test("The readiness of the clients is that of `proofgate readiness` for the log of the same decisions")
  func readiness() throws {
    let clients: [(id: String, mode: EnforcementMode)] = [
      ("mail", .observe), ("web", .observe), ("idle", .observe), ("done", .enforce), ("late", .observe),
    ]
    let sample = try StatusSample(clients)
    var observed = RequestDetails()
    observed.redirectURI = "http://127.0.0.1/cb"
    observed.pkce = "none"
    var redeemed = RequestDetails()
    redeemed.grant = "authorization_code"
    redeemed.clientAuthentication = "basic"
    let records = [
      sample.decide(
        .wouldReject, client: "mail", rule: "pkce-required",
        findings: ["would-reject:pkce-required", "would-reject:state-required", "state-missing"], minutesAgo: 7,
        observed: observed),
      sample.decide(.wouldReject, client: "mail", rule: "pkce-required", minutesAgo: 3, observed: observed),
      sample.decide(.forward, client: "web", minutesAgo: 9),
      sample.decide(.notObservable, client: "web", at: .token, minutesAgo: 8, observed: redeemed, upstreamStatus: 200),
      sample.decide(.reject, client: "done", rule: "redirect-uri-mismatch", minutesAgo: 6),
      sample.decide(.wouldReject, client: "<new>", isListed: false, rule: "client-unknown", minutesAgo: 5),
      // A client that was listed after its first requests.
      sample.decide(.wouldReject, client: "late", isListed: false, rule: "client-unknown", minutesAgo: 20),
      sample.decide(.forward, client: "late", minutesAgo: 2),
      sample.decide(.reject, client: nil, at: .token, rule: "request-malformed", minutesAgo: 2),
    ]
    var traffic = Traffic()
    for record in records { traffic.add(record.line) }
    let command = ReadinessReport(
      traffic, listed: clients.map { ReadinessReport.ListedClient(id: $0.id, isEnforced: $0.mode == .enforce) })
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let report = sample.report()
    #expect(try encoder.encode(report.clients) == encoder.encode(command.clients))
    #expect(report.clients.map(\.state) == [.notReady, .notReady, .notListed, .notSeen, .ready, .enforced])
    let html = StatusSample.html(report)
    for client in command.clients where client.requests > 0 {
      let advice = client.advice.prefix(1).uppercased() + client.advice.dropFirst()
      #expect(html.contains("<p>\(advice)"), "\(client.client)")
      for rule in client.rules { #expect(try html.contains(#require(rule.example))) }
    }
    #expect(html.contains("<code>&lt;new&gt;</code>") && !html.contains("<new>"))
  }

  @Test("An unlisted id whose requests are refused is shown as refused, and not as one that was not judged")
  func turnedAway() throws {
    let sample = try StatusSample()
    sample.decide(.reject, client: "stranger", isListed: false, rule: "client-unknown")
    let html = StatusSample.html(sample.report())
    #expect(html.contains("<strong class=\"bad\">1 refused</strong>"))
    #expect(html.contains("Their requests are refused. List those that are yours."))
    #expect(html.contains("<p>Not in the policy, so its requests are refused; list it if it is yours;"))
    #expect(!html.contains("not judged") && StatusText.render(sample.report()).contains("its requests are refused"))
    sample.decide(.wouldReject, client: "other", isListed: false, rule: "client-unknown")
    #expect(StatusSample.html(sample.report()).contains("Their requests were not judged."))
  }

  @Test("A reload that was refused is shown with its errors and its cause, until one succeeds")
  func refusedReload() throws {
    let sample = try StatusSample()
    #expect(!StatusSample.html(sample.report()).contains("The last reload was refused"))
    #expect(sample.report().policy.loaded.reason == "start")
    sample.status.recordReload(
      ReloadReport(.errors, .file, policy: "v1", clients: 0, errors: ["policy.yaml:3:1: error: <b>wrong</b>"]),
      at: StatusSample.time(minutesAgo: 2))
    let refused = sample.report()
    let html = StatusSample.html(refused)
    #expect(html.contains("The last reload was refused") && html.contains("Change of a file (--watch)"))
    #expect(html.contains("<li><code>policy.yaml:3:1: error: &lt;b&gt;wrong&lt;/b&gt;</code></li>"))
    #expect(html.contains("Policy <code>v1</code> stays in force"))
    #expect(refused.policy.loaded.reason == "start" && refused.policy.lastReload?.result == .errors)
    #expect(String(decoding: refused.json, as: UTF8.self).contains(#""result":"errors""#))
    #expect(StatusText.render(refused).contains("(file): errors\n             policy.yaml:3:1: error:"))
    sample.status.recordReload(
      ReloadReport(.unchanged, .admin, policy: "v1", clients: 0), at: StatusSample.time(minutesAgo: 1))
    let next = sample.report()
    #expect(
      next.policy.loaded.reason == "admin" && next.policy.loaded.time == StatusTime(StatusSample.time(minutesAgo: 1)))
    #expect(!StatusSample.html(next).contains("The last reload was refused"))
  }

  @Test("At most 1,000 clients and 200 rules are listed, and the rest is counted")
  func limits() throws {
    let sample = try StatusSample((0..<1_500).map { ("listed-\($0)", .observe) })
    for number in 0..<300 { sample.decide(.reject, client: nil, rule: "rule-\(number)") }
    for number in 0..<120 { sample.decide(.reject, client: "x\(number)", isListed: false, rule: "client-unknown") }
    let report = sample.report()
    #expect(report.refusals.count == 200 && report.refusals.first?.rule == "client-unknown")
    #expect(report.clients.count == 1_000 && report.omittedClients == 600 && report.omittedRequests == 20)
    let html = StatusSample.html(report)
    #expect(html.contains("600 more clients of the policy had no request"))
    #expect(html.contains("20 requests of further ids are left out"))
  }

  @Test("The page, the JSON and the text contain no secret of the policy (I-secrets)")
  func secrets() throws {
    let report = try StatusSample.troubled().report()
    let json = String(decoding: report.json, as: UTF8.self)
    for text in [StatusSample.html(report), json, StatusText.render(report)] {
      #expect(text.contains("acme-mail") && !text.contains("very-secret") && !text.contains("legacy\""))
      // Only an example of a refused request has text of a request, as the decision log has it.
      #expect(!text.contains("192.0.2.1"))
    }
  }

  @Test("An outage of the store, and the age of counted entries or the reason why there are none, are shown")
  func store() throws {
    let sample = try StatusSample()
    let metrics = sample.status.metrics
    #expect(StatusText.render(sample.report()).contains("stored entries by kind\n  unknown\n"))
    metrics.setStoreMeasurement {
      [StoreSeries(kind: "claim", entries: 3, bytes: 240, share: 1_000, evictions: 0, refusals: 2)]
    }
    metrics.setStoreActivityMeasurement {
      StoreActivitySeries(
        engine: "file", epoch: "1", outage: "the disk is full", buckets: [UInt64](repeating: 0, count: 21),
        nanoseconds: 0, failures: [])
    }
    let text = StatusText.render(sample.report())
    #expect(text.contains("store        file, does not answer: the disk is full\n"))
    #expect(text.contains("  3          claim    240 bytes, 24 % of its share, 0 evicted, 2 refused\n"))
    let html = StatusSample.html(sample.report())
    #expect(html.contains(">The store does not answer</h2>\n<p>the disk is full</p>"))
    #expect(html.contains("24 % of its share, 0 evicted, 2 refused"))
    metrics.setStoreCountMeasurement { StoreCountSeries(age: 75, problem: "no reply in time") }
    let counted = StatusSample.html(sample.report())
    #expect(counted.contains(">2 min ago</time>. The latest count failed: <span>no reply in time</span>"))
    metrics.setStoreMeasurement { [] }
    metrics.setStoreCountMeasurement { StoreCountSeries(age: nil, problem: nil) }
    #expect(StatusSample.html(sample.report()).contains("The keys of the server are being counted"))
    #expect(StatusText.render(sample.report()).contains("  unknown: the keys of the server are being counted"))
  }
}
