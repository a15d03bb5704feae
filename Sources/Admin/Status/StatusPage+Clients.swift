import Markup
import Rollout
import Time

/// The readiness of the clients.
extension StatusPage {
  /// A group of clients in the same state.
  private struct Group {
    let state: ClientReadiness.State
    let title: StatusWord
    let style: String
    let explanation: StatusWord
  }

  private static let groups = [
    Group(
      state: .notReady, title: .notReady, style: "bad", explanation: .groupNotReady),
    Group(state: .notListed, title: .notListed, style: "warn", explanation: .groupNotListed),
    Group(state: .ready, title: .readyToEnforce, style: "good", explanation: .groupReady),
    Group(state: .notSeen, title: .notSeen, style: "quiet", explanation: .groupNotSeen),
    Group(state: .enforced, title: .enforced, style: "good", explanation: .groupEnforced),
  ]

  /// The number of clients above which a group is closed. That of the clients that are not ready stays open for longer,
  /// because it is what the operator looks for.
  private static let (openGroup, openNotReady) = (12, 60)

  var clientsSection: HTML {
    guard !report.clients.isEmpty else {
      return section(
        "clients", say(.clientReadiness), "<p class=\"soft\">\(say(.noClients))</p>\n")
    }
    let groups: [HTML] = StatusPage.groups.compactMap { group in
      let members = report.clients.filter { $0.state == group.state }
      guard !members.isEmpty else { return nil }
      let isOpen =
        members.count <= (group.state == .notReady ? StatusPage.openNotReady : StatusPage.openGroup)
        && group.state != .enforced
      let rows: [HTML] = members.map(row)
      let turnsAway = group.state == .notListed && members.allSatisfy(\.isTurnedAway)
      let explanation = say(
        turnsAway ? .groupTurnedAway : group.explanation, ["setting": "<code>unknown_clients: reject</code>"])
      return """
        <details class="group" data-key="group \(group.state.rawValue)"\(isOpen ? " open" : nil)>
        <summary><span class="pill \(group.style)">\(say(group.title))</span> <span class="soft">\(members.count)</span></summary>
        <p class="soft">\(explanation)</p>
        <div class="clients">
        \(rows)</div>
        </details>

        """
    }
    var left: [HTML] = []
    if report.omittedClients > 0 {
      let text = say(.moreClients, ["count": "\(figures.number(report.omittedClients))"])
      left.append("<p class=\"soft\">\(text)</p>\n")
    }
    if report.omittedRequests > 0 {
      let text = say(
        .furtherIDs, ["count": "\(figures.number(report.omittedRequests))", "command": StatusPage.command])
      left.append("<p class=\"soft\">\(text)</p>\n")
    }
    return section(
      "clients", say(.clientReadiness),
      """
      <p class="soft">\(say(.clientsText, ["command": StatusPage.command]))</p>
      \(groups)\(left)
      """)
  }

  private static let command: HTML = "<code>proofgate readiness</code>"

  private func row(_ client: ClientReadiness) -> HTML {
    let seen: HTML? = client.last.map { "<span>\(say(.last, ["age": age($0)]))</span>" }
    let head: HTML = """
      <code>\(visible: client.client)</code>
      <span class="counts"><span>\(figures.requests(client.requests))</span>\(refusedPart(client))\
      \(seen)</span>
      """
    guard client.requests > 0 else { return "<div class=\"client plain\">\(head)</div>\n" }
    let rules: [HTML] = client.rules.map { rule in
      let example: HTML? = rule.example.map {
        "<dd>\(say(.latest, ["example": "<code>\(visible: $0)</code>"]))</dd>\n"
      }
      return """
        <div>
        <dt><a href="\(url: "\(report.rulesURL)/\(rule.rule)")" rel="noopener noreferrer">\(rule.rule)</a></dt>
        <dd>\(figures.requests(rule.requests))\(span(rule.first, rule.last))</dd>
        \(example)</div>

        """
    }
    let list: HTML? = rules.isEmpty ? nil : "<dl class=\"rules\">\n\(rules)</dl>\n"
    return """
      <details class="client" data-key="client \(client.client)">
      <summary>\(head)</summary>
      <p>\(advice(on: client))\(span(client.first, client.last)).</p>
      \(list)</details>

      """
  }

  /// Returns the advice of `ClientReadiness` in the language of the page.
  private func advice(on client: ClientReadiness) -> HTML {
    switch client.state {
    case .ready where client.notObservable > 0:
      say(.adviceReadyGaps, ["count": "\(figures.number(client.notObservable))"])
    case .ready: say(.readyToEnforce)
    case .notReady: say(.adviceNotReady, ["rules": reasons(client)])
    case .notSeen: say(.notSeen)
    case .notListed: say(client.isTurnedAway ? .adviceTurnedAway : .adviceNotListed)
    case .enforced where client.problems.isEmpty: say(.enforced)
    case .enforced: "\(say(.enforced)); \(problems(of: client))"
    }
  }

  /// The rules and the problems for which a client is not ready.
  private func reasons(_ client: ClientReadiness) -> HTML {
    let rules = client.rules.map { "\($0.rule) (\($0.requests))" }.joined(separator: ", ")
    if client.problems.isEmpty { return "\(rules)" }
    return rules.isEmpty ? problems(of: client) : "\(rules), \(problems(of: client))"
  }

  /// The problems of a client, which are English in every language.
  private func problems(of client: ClientReadiness) -> HTML {
    let text = client.problems.joined(separator: ", ")
    return inEnglish == nil ? "\(text)" : "<span lang=\"en\">\(text)</span>"
  }

  private func refusedPart(_ client: ClientReadiness) -> HTML? {
    guard client.refused > 0 else { return nil }
    let isRefused = client.state == .enforced || client.isTurnedAway
    let text = say(
      isRefused ? .refusedCount : .wouldBeRefusedCount, ["count": "\(figures.number(client.refused))"])
    return "<strong class=\"\(isRefused ? "bad" : "warn")\">\(text)</strong>"
  }

  /// Returns the first and the last time, which are texts of RFC 3339.
  private func span(_ first: String?, _ last: String?) -> HTML? {
    guard let first, let last else { return nil }
    return "; \(say(.span, ["first": minute(first), "last": minute(last)]))"
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
