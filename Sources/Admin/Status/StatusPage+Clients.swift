import Markup
import Rollout
import Time

/// The readiness of the clients.
extension StatusPage {
  /// A group of clients in the same state.
  private struct Group {
    let state: ClientReadiness.State
    let title: String
    let style: String
    let explanation: String
  }

  private static let groups = [
    Group(
      state: .notReady, title: "Not ready", style: "bad",
      explanation: "Rules would refuse some of their requests. Open a client to see which, with an example."),
    Group(
      state: .notListed, title: "Not in the policy", style: "warn",
      explanation: "Their requests were not judged. List them, or refuse them."),
    Group(
      state: .ready, title: "Ready to enforce", style: "good",
      explanation: "No rule would have refused a request since the start of this process."),
    Group(
      state: .notSeen, title: "Not seen", style: "quiet",
      explanation: "No request since the start of this process. Observe them for longer, or remove them."),
    Group(
      state: .enforced, title: "Enforced", style: "good", explanation: "The rules are carried out."),
  ]

  /// The number of clients above which a group is closed. That of the clients that are not ready stays open for longer,
  /// because it is what the operator looks for.
  private static let (openGroup, openNotReady) = (12, 60)

  var clientsSection: HTML {
    guard !report.clients.isEmpty else {
      return section(
        "clients", "Readiness per client", "<p class=\"soft\">The policy has no clients, and none was seen.</p>\n")
    }
    let groups: [HTML] = StatusPage.groups.compactMap { group in
      let members = report.clients.filter { $0.state == group.state }
      guard !members.isEmpty else { return nil }
      let isOpen =
        members.count <= (group.state == .notReady ? StatusPage.openNotReady : StatusPage.openGroup)
        && group.state != .enforced
      let rows: [HTML] = members.map { row($0, group) }
      return """
        <details class="group" data-key="group \(group.state.rawValue)"\(isOpen ? " open" : nil)>
        <summary><span class="pill \(group.style)">\(group.title)</span> <span class="soft">\(members.count)</span></summary>
        <p class="soft">\(group.explanation)</p>
        <div class="clients">
        \(rows)</div>
        </details>

        """
    }
    var left: [HTML] = []
    if report.omittedClients > 0 {
      left.append("<p class=\"soft\">\(report.omittedClients) more clients of the policy had no request.</p>\n")
    }
    if report.omittedRequests > 0 {
      left.append(
        """
        <p class="soft">\(report.omittedRequests) requests of further ids are left out; \
        <code>proofgate readiness</code> reads all from the decision log.</p>

        """)
    }
    return section(
      "clients", "Readiness per client",
      """
      <p class="soft">Since the start of this process. <code>proofgate readiness</code> shows the same for a decision \
      log of any time.</p>
      \(groups)\(left)
      """)
  }

  private func row(_ client: ClientReadiness, _ group: Group) -> HTML {
    let seen: HTML? = client.last.map { "<span>last \(age($0))</span>" }
    let head: HTML = """
      <code>\(visible: client.client)</code>
      <span class="counts"><span>\(StatusFigures.requests(client.requests))</span>\(refusedPart(client))\
      \(seen)</span>
      """
    guard client.requests > 0 else { return "<div class=\"client plain\">\(head)</div>\n" }
    let rules: [HTML] = client.rules.map { rule in
      let example: HTML? = rule.example.map { "<dd>Latest: <code>\(visible: $0)</code></dd>\n" }
      return """
        <div>
        <dt><a href="\(url: "\(report.rulesURL)/\(rule.rule)")" rel="noopener noreferrer">\(rule.rule)</a></dt>
        <dd>\(StatusFigures.requests(rule.requests))\(span(rule.first, rule.last))</dd>
        \(example)</div>

        """
    }
    let list: HTML? = rules.isEmpty ? nil : "<dl class=\"rules\">\n\(rules)</dl>\n"
    let advice = client.advice
    return """
      <details class="client" data-key="client \(client.client)">
      <summary>\(head)</summary>
      <p>\(visible: advice.prefix(1).uppercased() + advice.dropFirst())\(span(client.first, client.last)).</p>
      \(list)</details>

      """
  }

  private func refusedPart(_ client: ClientReadiness) -> HTML? {
    guard client.refused > 0 else { return nil }
    return """
      <strong class="\(client.state == .enforced ? "bad" : "warn")">\(StatusFigures.number(client.refused)) \
      \(client.state == .enforced ? "refused" : "would be refused")</strong>
      """
  }

  /// Returns the first and the last time, which are texts of RFC 3339.
  private func span(_ first: String?, _ last: String?) -> HTML? {
    guard let first, let last else { return nil }
    return "; first \(minute(first)), last \(minute(last))"
  }

  private func age(_ text: String) -> HTML {
    StatusPage.time(text).map { age(StatusTime($0)) } ?? "\(text)"
  }

  private func minute(_ text: String) -> HTML {
    let words = StatusPage.time(text).map(StatusFigures.minute) ?? text
    return "<time datetime=\"\(text)\">\(words)</time>"
  }

  /// Returns the second of a time of the decision log, which has milliseconds.
  private static func time(_ text: String) -> UnixTime? { UnixTime(parsing: text.prefix(19) + "Z") }
}
