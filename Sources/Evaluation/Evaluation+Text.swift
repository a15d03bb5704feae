import ByteText
import Enforcement
import OAuth
import Policy

extension Evaluation {
  /// The report of `proofgate explain`: the rules in order, the decision, and the request for the upstream.
  public var text: String {
    var text = ""
    if !steps.isEmpty { text += table + "\n" }
    text += "decision: \(summary)\n"
    if case .undetermined(let reason) = outcome { text += "  \(reason)\n" }
    if let rejection { text += Evaluation.explanation(of: rejection) }
    if case .reject(let refusal) = outcome, case .redirectURI(let error)? = refusal.detail {
      text += "  detail: \(error.description)\n"
    }
    if let redirect {
      text += "\nredirect URI\n" + redirect.lines.map { "  \($0)\n" }.joined()
    }
    if let upstream {
      text += "\nupstream request\n  \(upstream.request)\n"
      if let authentication = upstream.authentication { text += "  client authentication: \(authentication)\n" }
      let width = upstream.parameters.map(\.name.count).max() ?? 0
      for parameter in upstream.parameters {
        text += "    \(Evaluation.padded(parameter.name.visible, width))  \(parameter.value.visible)\n"
      }
    } else if case .pass = outcome {
      text += "\nupstream request\n  the request as the client sent it\n"
    }
    if !notes.isEmpty { text += "\n" + notes.map { "note: \($0)\n" }.joined() }
    return text
  }

  /// The facts that identify the request in the report.
  public var title: String {
    let parts: [String?] = [
      endpoint.map { "endpoint \($0)" } ?? "no OAuth endpoint", client.map { "client \($0.visible)" },
      mode.map { "mode \($0.rawValue)" },
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  /// One line for each rule: the verdict, the rule, its source.
  private var table: String {
    let width = steps.map(\.rule.count).max() ?? 0
    return steps.map { step in
      let (word, source) = verdict(of: step)
      return "  \(Evaluation.padded(word, 13))\(Evaluation.padded(step.rule, width))  \(source)".trimmingEnd + "\n"
    }.joined()
  }

  /// Returns the word for the verdict of a rule, and the section that it comes from.
  func verdict(of step: TraceStep) -> (word: String, source: String) {
    switch step.verdict {
    case .pass: ("pass", step.source ?? "")
    case .note(let note): ("note", "\(step.source.map { "\($0); " } ?? "")\(note.rawValue)")
    case .refuse(let rejection, _):
      (mode == .observe ? "would refuse" : "refuse", "\(rejection.reference); \(rejection.ruleID)")
    }
  }

  private static func explanation(of rejection: Rejection) -> String {
    let explanation = rejection.explanation
    return """
        error:  \(rejection.errorCode.rawValue), \(rejection.errorDescription) (\(rejection.reference))
        reason: \(explanation.refused) \(explanation.why)
        remedy: \(explanation.remedy)
        manual: proofgate rules \(rejection.ruleID)

      """
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

extension String {
  /// The text without the spaces at its end.
  fileprivate var trimmingEnd: String {
    var text = self
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
