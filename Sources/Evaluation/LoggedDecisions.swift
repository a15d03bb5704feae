import Enforcement
import OAuth
import Policy

/// The lines of a decision log that have one id in common, with the explanation of the refusal among them.
public struct LoggedDecisions: Sendable, Encodable {
  /// The maximum number of lines that are kept: much more than the lines of a sign-in and its refreshes of some weeks.
  public static let limit = 1_000

  /// A rule, with the text of the manual.
  struct Explanation: Sendable, Encodable {
    let id: String
    let source: String
    let refused: String
    let why: String
    let remedy: String

    init(_ rejection: Rejection) {
      id = rejection.ruleID
      source = rejection.reference
      refused = rejection.explanation.refused
      why = rejection.explanation.why
      remedy = rejection.explanation.remedy
    }
  }

  let id: String
  let lines: [LoggedDecision]
  /// The rule of the last line that has one; `nil` if no line has a rule that this version knows.
  let rule: Explanation?
  /// The redirect URI of the last line that was refused because of it, next to the registered ones; `nil` if there is
  /// none, or if the policy does not list the client.
  let redirect: LoggedRedirect?
  /// Facts about the policy that differ from those of the decision.
  let notes: [String]
  private let rejection: Rejection?

  enum CodingKeys: String, CodingKey { case id, lines, rule, redirect, notes }

  /// Explains the lines. Returns `nil` if there are none.
  public init?(_ lines: [LoggedDecision], with id: String, _ policy: Policy) {
    guard let last = lines.last else { return nil }
    self.id = id
    self.lines = lines
    let rule = lines.last { $0.rule != nil }?.rule
    rejection = Rejection.subjects.flatMap(\.rejections).first { $0.ruleID == rule }
    self.rule = rejection.map(Explanation.init)
    redirect = lines.last { $0.rule == rule }.flatMap { line in
      line.client.flatMap { policy.clients[ClientID($0)] }.flatMap { LoggedRedirect(line, $0) }
    }
    var notes: [String] = []
    if let version = last.policy, version != policy.version {
      notes.append("the policy \(version) decided; this one has the version \(policy.version)")
    }
    if let client = last.client, policy.clients[ClientID(client)] == nil {
      notes.append("this policy does not list the client")
    } else if let mode = last.mode, let client = last.client.flatMap({ policy.clients[ClientID($0)] }),
      client.mode.rawValue != mode
    {
      notes.append("the client is now in the mode \(client.mode.rawValue)")
    }
    if let rule, rejection == nil { notes.append("this version has no rule `\(rule)`") }
    self.notes = notes
  }

  /// The explanation as text.
  public var text: String {
    var text = ""
    for (index, line) in lines.enumerated() {
      if lines.count > 1 { text += "\(index + 1). " }
      text += "\(line.time) \(line.endpoint): \(line.decision)"
      if let status = line.status, status > 0 { text += " with \(status)" }
      text += "\n" + LoggedDecisions.facts(of: line) + "\n"
    }
    for note in notes { text += "note: \(note)\n" }
    if let redirect { text += "\(notes.isEmpty ? "" : "\n")\(redirect.text)" }
    if let rejection {
      text +=
        "\(notes.isEmpty && redirect == nil ? "" : "\n")\(rejection.ruleID)\n\n\(RulesManual.section(on: rejection))"
    } else {
      text += "No rule refused the request\(lines.count == 1 ? "" : "s").\n"
    }
    return text
  }

  private static func facts(of line: LoggedDecision) -> String {
    let facts: [(String, String?)] = [
      ("client", line.client), ("mode", line.mode), ("rule", line.rule), ("step", line.step), ("grant", line.grant),
      ("findings", line.findings.isEmpty ? nil : line.findings.joined(separator: ", ")),
      ("redirect URI", line.redirectURI ?? line.redirect), ("PKCE", line.pkce),
      ("client authentication", line.authentication), ("scope", line.scope), ("path", line.path),
      ("server", line.upstreamStatus.map { "status \($0)" }),
      ("peer", line.peer), ("request", line.request), ("flow", line.flow), ("trace", line.trace),
    ]
    return facts.map { name, value in
      value.map { "   \(name): \($0)\n" } ?? ""
    }.joined()
  }
}
